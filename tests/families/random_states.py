"""States of every family for its `swap`: recorded ones, and those that a random change makes of them.

They come from `valid_pool` of the family's tests and from all recorded swaps, so that a new family needs no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Final

from swapcli.core.model.pool import Pool
from swapcli.testing.changed_pools import changed_pools
from tests.families.test_contradictory_states import state_of, valid_pool
from tests.families.vector_replay import REPLAYS, replay_vectors

STATES_PER_FAMILY: Final = 60
"""Recorded pools of a family that are kept, spread over all of them."""


@cache
def _recorded_pools() -> Mapping[str, list[Pool]]:
    pools: dict[str, dict[int, Pool]] = {}
    for name in REPLAYS:
        for answer in replay_vectors(name):
            pools.setdefault(answer.family, {})[id(answer.pool)] = answer.pool
    return {name: [*found.values()] for name, found in pools.items()}


def recorded_pools(name: str) -> list[Pool]:
    """Return the valid pool of a family's tests, and some of those that contracts were recorded in."""
    recorded = _recorded_pools().get(name, [])
    count = min(len(recorded), STATES_PER_FAMILY)
    return [valid_pool(name), *(recorded[number * len(recorded) // count] for number in range(count))]


def random_pools(name: str, rng: Random, count: int) -> Iterator[Pool]:
    """Yield up to `count` pools of a family in states that it accepts, most of them changed at random."""
    return changed_pools(recorded_pools(name), rng, count, state_of)
