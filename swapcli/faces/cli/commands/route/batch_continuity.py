"""Check that an interrupted batch continues with the same settings and market."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from swapcli import InvalidInput, NoRoute
from swapcli.faces.cli.commands.route.batch_results import EarlierResult
from swapcli.faces.cli.order_entries import Entry

MAX_REPEATED_ORDERS: Final = 8
"""Number of earlier orders to quote again. Most changes of settings affect the quotes of some of them."""
TOLERANCE: Final = 1e-5
"""Allowed relative difference between two quotes on one state: 0.1 bps, more than a search may gain from earlier
orders."""

_AMOUNTS: Final = ("outputAmount", "minReceived")


def check_continuity(
    name: str, earlier: Sequence[EarlierResult], quote: Callable[[Entry], Mapping[str, Any]], *, is_fixed: bool
) -> str | None:
    """Quote the last few earlier orders again, and compare the results. Return a note if the chain has moved on.

    `quote` returns the result of an order. `is_fixed` means that the market does not follow a chain. Raises the errors
    of `quote`, and `InvalidInput` if the settings, the market or the order have changed.
    """
    for number, order, before in earlier[-MAX_REPEATED_ORDERS:]:
        try:
            now = quote(order)
        except (InvalidInput, NoRoute):
            now = None
        if now is not None:
            if _is_equal(before, now):
                continue
            if not is_fixed and _is_of_another_block(before, now):
                return f"the results in {name} are from earlier blocks than the new results"
        raise InvalidInput(
            f"result {number} of {name} differs from a fresh quote: the settings, the market or the order have changed",
            hint="restore the earlier ones, or write to a new file",
            details={"result": number},
        )
    return None


def _is_equal(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two results belong to the same order, settings and market. A CSV result has no nested fields."""
    is_whole = isinstance(before.get("state"), Mapping)
    return (
        before.get("inputAmount") == now["inputAmount"]
        and all(_is_near(before.get(field), now[field]) for field in _AMOUNTS)
        and (not is_whole or (before.keys() == now.keys() and before["slippage"] == now["slippage"]))
    )


def _is_near(before: object, now: str) -> bool:
    if not (isinstance(before, str) and before.isascii() and before.isdecimal()):
        return False
    return abs(int(before) - int(now)) <= TOLERANCE * int(now) + 1


def _is_of_another_block(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether two results of one order with the same settings may differ because of the block of their state."""
    earlier, state = before.get("state"), now["state"]
    if not isinstance(earlier, Mapping):
        return bool(before.get("inputAmount") == now["inputAmount"])
    return (
        earlier.get("kind") == state["kind"]
        and (earlier.get("block") != state["block"] or state["block"] is None)
        and all(before.get(field) == now[field] for field in ("inputAmount", "slippage"))
    )
