"""Earlier states of a few pools, as kept in a store."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple


class PastPools(NamedTuple):
    """The states of pools, by key, at the blocks with these Unix times; no pool changed between two of them."""

    times_s: tuple[int, ...]
    pools: Mapping[str, Pool]
