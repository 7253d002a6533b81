"""Finds out how the tokens of a store transfer: each when it comes in, and again after a day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from swapcli.chain.multicall import View
from swapcli.chain.transfers import MAX_HOLDERS, holders_of, try_transfers
from swapcli.model.transfers import UNKNOWN
from swapcli.store import BlockWriter, Store

_TOKENS_A_STEP: Final = 1_000
"""Trials of so many take a node about a second."""
_DAY_S: Final = 86_400
"""Fees change, rarely: whoever owns a token may change its fee at any time."""
_BLOCK_TIME_S: Final = 2.0
_NOTE: Final = "transfers"


def check_transfers(store: Store, writer: BlockWriter, view: View, added: Iterable[str]) -> None:
    """Try the transfers of tokens that are due, and remember what they do; `added` are the keys of the newest pools.

    A node that cannot suppose another state is not asked again for a day. Raises `UpstreamError`.
    """
    day = round(_DAY_S / (store.network.block_time_s or _BLOCK_TIME_S))
    refused_at = _refused_at(store)
    if refused_at is not None and refused_at > view.block - day:
        return
    due = store.register.tokens_to_try(view.block - day, _TOKENS_A_STEP)
    if not due:
        return
    pools = store.market_of(store.register.deepest_pools(due, MAX_HOLDERS, added)).pools
    report = try_transfers(view.node, view.at, holders_of(due, pools.values(), store.network))
    if report.refusal:
        writer.put_note(_NOTE, {"refusal": report.refusal, "block": view.block})
    else:
        # A token that nobody holds enough of is not asked for again at once either.
        writer.put_transfers(dict.fromkeys(due, UNKNOWN) | dict(report.behaviours))


def _refused_at(store: Store) -> int | None:
    """Return the block at which a node last could not try transfers."""
    note: Any = store.note(_NOTE)
    return note["block"] if note else None
