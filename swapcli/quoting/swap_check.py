"""The result of checking a swap: its verdict, warnings and figures, without the payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from swapcli.core.errors import VerdictBlocks
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import without_empty_fields

if TYPE_CHECKING:
    from swapcli.core.model.finding import Finding
    from swapcli.interface.document_types import SwapCheckJson
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.swap_quote import PreparedSwap

_ORDER_FIELDS = ("inputToken", "inputAmount", "outputToken", "outputAmount")
_FIGURES = ("minReceived", "priceImpact", "slippage", "gasUnits")


class SwapCheck(NamedTuple):
    """The results of checking a swap before signing, with a verdict if a node responded.

    Unlike in a `PreparedSwap`, the verdict may block the swap.
    """

    prepared: PreparedSwap

    @property
    def verdict(self) -> Verdict | None:
        """The verdict from a simulation; None if no node has simulated the swap."""
        return self.prepared.verdict

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The warnings to read before signing: the verdict's findings if it blocks the swap, otherwise the swap's own
        warnings."""
        return self.verdict.findings if self.verdict and self.is_blocked else self.prepared.warnings

    @property
    def is_blocked(self) -> bool:
        """Whether the verdict blocks the swap."""
        return self.verdict is not None and self.verdict.status == "block"

    def document(self) -> SwapCheckJson:
        """Return the JSON that the tool `check` returns."""
        if self.verdict is None or not self.is_blocked:
            return cast("SwapCheckJson", without_payload(cast("Mapping[str, Any]", self.prepared.document())))
        return cast("SwapCheckJson", _blocked({**self.verdict.document()}, self.prepared.network.name))


def without_payload(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a prepared swap without the payload, as the document of a check."""
    # With a router outside the interface, the route has a different name.
    route = document["route"] if "route" in document else document["quote"]
    quote = {name: route[name] for name in _ORDER_FIELDS} | {name: document[name] for name in _FIGURES}
    return without_empty_fields(
        {
            "network": document["network"],
            "verdict": document.get("verdict"),
            "warnings": document["warnings"],
            "quote": quote,
            "state": document["state"],
        }
    )


def blocked_check(error: Mapping[str, Any], network: str) -> dict[str, Any] | None:
    """Return the result of a check from the error of a swap that its verdict blocks; None for other errors."""
    if error["code"] != VerdictBlocks.code or "verdict" not in error.get("details", {}):
        return None
    return _blocked(error["details"]["verdict"], network)


def _blocked(verdict: dict[str, Any], network: str) -> dict[str, Any]:
    warnings = [{"code": each["code"], "message": each["message"]} for each in verdict["reasons"]]
    return without_empty_fields({"network": network, "verdict": verdict, "warnings": warnings})
