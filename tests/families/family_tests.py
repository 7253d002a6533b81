"""What the tests of one family give the tests of all families, so that these need no row for it.

`tests/families/FOLDER/test_NAME.py` may have

* `valid_pool()`, which returns a liquid pool: from its state come the contradictory and the extreme ones;
* `reserve_of(pool, k)`, which returns how much of the k-th token a pool can pay, where that is not `pool.reserves[k]`.

Swaps of the contract that are in `vectors/NAME.json.xz` in the form of `recorded_swaps.py` are replayed and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import inf
from types import ModuleType

from swapcli.core.model.pool import Pool
from swapcli.families import family


def valid_pool_of(name: str) -> Pool | None:
    """Return the liquid pool that the tests of a family give; None if they give none."""
    build: Callable[[], Pool] | None = getattr(_tests_of(name), "valid_pool", None)
    return build() if build else None


def reserve_of(pool: Pool, k: int) -> float:
    """Return how much of the k-th token the pool can pay; infinity where only the maths knows."""
    known: Callable[[Pool, int], float] | None = getattr(_tests_of(pool.family), "reserve_of", None)
    if known:
        return known(pool, k)
    reserves: tuple[int, ...] | None = getattr(pool, "reserves", None)
    return inf if reserves is None else reserves[k]


def _tests_of(name: str) -> ModuleType | None:
    *_, folder, module = family(name).__module__.split(".")
    path = f"tests.families.{folder}.test_{module}"
    return import_module(path) if find_spec(path) else None
