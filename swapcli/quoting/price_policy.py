"""Decide how prices that are not real may be used. The same rule applies to the command line, the library, the service
and agents.

Modelled and synthetic prices are not real. They may always be shown, with a label. A program receives a number based on
them only if the user requested such prices, and a transaction only if the user excluded every node.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import ModelledState

if TYPE_CHECKING:
    from swapcli.core.model.state_source import StateSource


class PriceUse(StrEnum):
    """A way to use a price.

    `SHOWN` is for a table, a picture or a whole document, with a label. `NUMBER` is for a program that sees no label: a
    single field, a watch, an alert, a batch, an agent's tool, a health check. `PAYLOAD` is a transaction.
    """

    SHOWN = "shown"
    NUMBER = "number"
    PAYLOAD = "payload"


class PriceRequest(StrEnum):
    """The way in which the user requested prices that are not real, if at all.

    `NONE`: not requested, so such prices are used only if no node returns live prices. `MARKET`: by naming the market
    file or store that contains them. `OFFLINE`: by excluding every node, with `--offline` or the setting `live: never`,
    or in the library by opening the embedded market.
    """

    NONE = "none"
    MARKET = "market"
    OFFLINE = "offline"


ALLOWED_USES: Final[Mapping[PriceRequest, frozenset[PriceUse]]] = {
    PriceRequest.NONE: frozenset({PriceUse.SHOWN}),
    PriceRequest.MARKET: frozenset({PriceUse.SHOWN, PriceUse.NUMBER}),
    PriceRequest.OFFLINE: frozenset(PriceUse),
}
"""The uses of prices that are not real. Real prices, and the prices of a service that does not report its state, may be
used for everything."""


def may_use(state: StateSource, use: PriceUse, request: PriceRequest) -> bool:
    """Return whether prices from `state` may be used in the way `use`."""
    if state.provenance is None or state.is_live:
        return True
    if state.service_url and request is PriceRequest.MARKET:  # a different market's
        request = PriceRequest.NONE
    return use in ALLOWED_USES[request]


def check_use(state: StateSource, use: PriceUse, request: PriceRequest, *, node_hint: str = "") -> None:
    """Raise `ModelledState` unless prices from `state` may be used in the way `use`.

    `node_hint` is the part of the error's hint that says how to set a node.
    """
    if may_use(state, use, request):
        return
    consequence = ", so no transaction is built" if use is PriceUse.PAYLOAD else ""
    details = {"state": state.kind, "use": use.value}
    if state.service_url:
        reason = f"{state.service_url} quotes on them"
        hint = "use a service with live prices; for a trial, put SWAPCLI_LIVE=never before the command"
    else:
        reason = state.live_failure or "no node was read"
        if state.live_failure:
            details["liveFailure"] = state.live_failure
        hint = "to use these prices anyway, add --offline"
        if node_hint and request is PriceRequest.NONE:
            hint = f"{node_hint}; {hint}"
    raise ModelledState(
        f"only {state.kind} prices are available{consequence}: {reason}",
        hint=hint,
        details=details,
    )
