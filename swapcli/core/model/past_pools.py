"""Earlier states of a few pools, as kept in a store."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple


class PastPools(NamedTuple):
    """The state of pools, by key, at the blocks of these Unix times: none of them changed between."""

    times_s: tuple[int, ...]
    pools: Mapping[str, Pool]
