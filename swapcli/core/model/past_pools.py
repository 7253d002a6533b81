"""Earlier states of a few pools, as kept in a store."""

from __future__ import annotations

from collections.abc import Mapping

from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple


class PastPools(NamedTuple):
    """Pool states, by key, that did not change over several blocks. `times_s` are the Unix times of these blocks."""

    times_s: tuple[int, ...]
    pools: Mapping[str, Pool]
