"""Finds out how the tokens of a store transfer: each when it comes in, and again after a day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from swapcli.chain.multicall import BlockReader
from swapcli.chain.transfer_trials import MAX_HOLDERS, plan_trials, run_transfer_trials
from swapcli.model.transfer_behaviour import UNKNOWN
from swapcli.store import BlockWriter, Store

_TOKENS_A_STEP: Final = 1_000
"""Trials of so many take a node about a second."""
_DAY_S: Final = 86_400
"""Fees change, rarely: whoever owns a token may change its fee at any time."""
_HOUR_S: Final = 3_600
"""A node that could not try anything may only have been busy, or another one may be set."""
_BLOCK_TIME_S: Final = 2.0
_NOTE: Final = "transfers"


def check_transfers(store: Store, writer: BlockWriter, view: BlockReader, added: Iterable[str]) -> None:
    """Try the transfers of tokens that are due, and remember what they do; `added` are the keys of the newest pools.

    A node that cannot suppose another state is not asked again for an hour. Raises `UpstreamError`.
    """
    block_time_s = store.network.block_time_s or _BLOCK_TIME_S
    note: Any = store.note(_NOTE)
    if note and note["block"] > view.block - round(_HOUR_S / block_time_s):
        return
    due = store.register.tokens_to_try(view.block - round(_DAY_S / block_time_s), _TOKENS_A_STEP)
    if not due:
        return
    pools = store.market_of(store.register.deepest_pools(due, MAX_HOLDERS, added)).pools
    report = run_transfer_trials(view.node, view.at, plan_trials(due, pools.values(), store.network))
    if report.failure:
        writer.put_note(_NOTE, {"refusal": report.failure, "block": view.block})
    else:
        # A token that nobody holds enough of is not asked for again at once either.
        writer.put_transfers(dict.fromkeys(due, UNKNOWN) | dict(report.behaviours))
        if note:
            writer.put_note(_NOTE, None)


def refusal_of(store: Store) -> str | None:
    """Return why the node could not try transfers when it was last asked to; None where it could."""
    note: Any = store.note(_NOTE)
    return note["refusal"] if note else None
