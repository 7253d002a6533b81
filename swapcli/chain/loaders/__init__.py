"""One reader per kind of pool contract, each from a place to the pool as it is.

A kind lands with one line here; its reader is imported when the first pool of it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import cast

from swapcli.chain.batch_read import Reading, Skipped, read_together
from swapcli.chain.multicall import View
from swapcli.chain.pool_ref import Kind, Place
from swapcli.model.pool import Pool

Load = Callable[[Place], Reading[Pool]]

_HOMES: dict[Kind, str] = {
    Kind.UNISWAP_V2: "uniswap_v2",
    Kind.SOLIDLY: "solidly",
    Kind.UNISWAP_V3: "uniswap_v3",
    Kind.ALGEBRA: "algebra",
    Kind.UNISWAP_V4: "uniswap_v4",
    Kind.STABLESWAP: "stableswap",
    Kind.WEIGHTED: "weighted",
}
_PORTION = 250


def loader(kind: Kind) -> Load:
    """The reader of a kind, from `swapcli/chain/loaders/<module>.py`."""
    return cast(Load, import_module(f"{__name__}.{_HOMES[kind]}").load)


def load_pools(view: View, places: Sequence[Place]) -> Iterator[Pool | Skipped]:
    """Every place's pool at the view's block, in order, or why it was left out. Raises `UpstreamError`.

    They are read in portions as they are taken, so that memory stays bounded and progress shows.
    """
    waiting = iter(places)
    while portion := list(islice(waiting, _PORTION)):
        yield from read_together([(place.key, loader(place.kind)(place)) for place in portion], view.ask)
