"""Probe the transfer behaviour of a store's tokens when they are added, and again after a day."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from swapcli.core.model.network import DEFAULT_BLOCK_TIME_S
from swapcli.core.model.transfer_behaviour import UNKNOWN
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.store import BlockWriter, Store
from swapcli.state.transfers.transfer_trials import MAX_HOLDERS, plan_trials, run_transfer_trials

_TOKENS_PER_STEP: Final = 1_000
"""Tokens per step: a node takes about a second to probe this number."""
_REPROBE_S: Final = 86_400
"""Time before a new probe: fees change rarely, but the owner of a token may change its fee at any time."""
_RETRY_S: Final = 3_600
"""Time before a retry: a node that could not probe may only have been busy, or the user may set another one."""
_METADATA_KEY: Final = "transfers"


def check_transfers(store: Store, writer: BlockWriter, reader: MulticallReader, added: Iterable[str]) -> None:
    """Probe the transfers of tokens that are due, and record the results. `added` are the keys of the newest pools.

    A node that cannot simulate state overrides is not used again for an hour. Raises `UpstreamError`.
    """
    block_time_s = store.network.block_time_s or DEFAULT_BLOCK_TIME_S
    failure: Any = store.read_metadata(_METADATA_KEY)
    if failure and failure["block"] > reader.block - round(_RETRY_S / block_time_s):
        return
    due = store.inventory.tokens_to_probe(reader.block - round(_REPROBE_S / block_time_s), _TOKENS_PER_STEP)
    if not due:
        return
    pools = store.read_pools(store.inventory.deepest_pools(due, MAX_HOLDERS, added)).pools
    report = run_transfer_trials(reader.node, reader.at, plan_trials(due, pools.values(), store.network))
    if report.failure:
        writer.put_metadata(_METADATA_KEY, {"refusal": report.failure, "block": reader.block})
    else:
        # Tokens without a large holder cannot be probed; they are not due again for a day either.
        writer.put_transfers(dict.fromkeys(due, UNKNOWN) | dict(report.behaviours))
        if failure:
            writer.put_metadata(_METADATA_KEY, None)


def transfer_check_error(store: Store) -> str | None:
    """Return why the node could not probe transfers the last time; None if it could."""
    failure: Any = store.read_metadata(_METADATA_KEY)
    return failure["refusal"] if failure else None
