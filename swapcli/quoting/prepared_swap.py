"""A quote with the transactions that execute it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.core.model.warning import QuoteWarning
    from swapcli.payload.checks.presign_checks import PayloadCheck
    from swapcli.payload.checks.simulated_readings import Simulation
    from swapcli.payload.payloads_by_reading import RoutePayloads
    from swapcli.payload.verdict.verdict import Verdict
    from swapcli.quoting.swap_quote import SwapQuote


class CheckedSwap(NamedTuple):
    """A quote with its payload after the checks of a `PayloadChecker`, if there was one.

    Both are in the reading of the router that the checks have found; `readings` builds the payload for others.
    """

    quote: SwapQuote
    payload: UnsignedTransaction
    checked: PayloadCheck | None
    readings: RoutePayloads | None


class PreparedSwap(NamedTuple):
    """What to send to execute a quote, and what to know before signing it.

    `transactions` are in the order to send them, the swap last. `quote` has the amounts that they pay: those of the
    quote, or of its replay as the router was seen to read it. `warnings` are those of the quote, the router and the
    checks. `simulation` is None unless it was requested,
    `verdict` unless a node has rehearsed the swap.
    """

    quote: SwapQuote
    transactions: list[dict[str, Any]]
    warnings: tuple[QuoteWarning, ...]
    simulation: Simulation | None
    payload: UnsignedTransaction
    verdict: Verdict | None = None
