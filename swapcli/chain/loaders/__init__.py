"""One reader per kind of pool contract, each from a place to the pool as it is.

A kind lands with one line here; its reader is imported when the first pool of it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import cast

from swapcli.chain.batch_read import BatchRead, SkippedItem, run_batched
from swapcli.chain.multicall import BlockReader
from swapcli.chain.pool_ref import ContractKind, PoolRef
from swapcli.model.pool import Pool

Load = Callable[[PoolRef], BatchRead[Pool]]

_HOMES: dict[ContractKind, str] = {
    ContractKind.UNISWAP_V2: "uniswap_v2",
    ContractKind.SOLIDLY: "solidly",
    ContractKind.UNISWAP_V3: "uniswap_v3",
    ContractKind.ALGEBRA: "algebra",
    ContractKind.UNISWAP_V4: "uniswap_v4",
    ContractKind.STABLESWAP: "stableswap",
    ContractKind.WEIGHTED: "weighted",
}
_PORTION = 250


def import_loader(kind: ContractKind) -> Load:
    """The reader of a kind, from `swapcli/chain/loaders/<module>.py`."""
    return cast(Load, import_module(f"{__name__}.{_HOMES[kind]}").load)


def load_pools(view: BlockReader, places: Sequence[PoolRef]) -> Iterator[Pool | SkippedItem]:
    """Every place's pool at the view's block, in order, or why it was left out. Raises `UpstreamError`.

    They are read in portions as they are taken, so that memory stays bounded and progress shows.
    """
    waiting = iter(places)
    while portion := list(islice(waiting, _PORTION)):
        yield from run_batched([(place.key, import_loader(place.kind)(place)) for place in portion], view.call)
