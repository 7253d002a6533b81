"""One reader per kind of pool contract, each from a `PoolRef` to the pool.

A new kind takes one line here. Its reader is imported when the first pool of that kind is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import cast

from swapcli.chain.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.pool_ref import ContractKind, PoolRef
from swapcli.model.pool import Pool

Load = Callable[[PoolRef], BatchRead[Pool]]

_MODULES: dict[ContractKind, str] = {
    ContractKind.UNISWAP_V2: "uniswap_v2",
    ContractKind.SOLIDLY: "solidly",
    ContractKind.UNISWAP_V3: "uniswap_v3",
    ContractKind.ALGEBRA: "algebra",
    ContractKind.UNISWAP_V4: "uniswap_v4",
    ContractKind.STABLESWAP: "stableswap",
    ContractKind.WEIGHTED: "weighted",
}
_BATCH_SIZE = 250


def import_loader(kind: ContractKind) -> Load:
    """Return the reader of a kind, from `swapcli/chain/loaders/<module>.py`."""
    return cast(Load, import_module(f"{__name__}.{_MODULES[kind]}").load)


def load_pools(reader: BlockReader, refs: Sequence[PoolRef]) -> Iterator[Pool | SkippedItem]:
    """Yield the pool of each reference at the reader's block, in order, or why it was skipped. Raises `UpstreamError`.

    Reads one batch at a time, so that memory stays bounded and progress can be shown.
    """
    remaining = iter(refs)
    while batch := list(islice(remaining, _BATCH_SIZE * reader.width)):
        yield from run_batched([(ref.key, import_loader(ref.kind)(ref)) for ref in batch], reader.call)
