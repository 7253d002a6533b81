"""States of every family for its `swap`: recorded ones, and those that a random change makes of them.

They come from `valid_pool` of the family's tests and from all recorded swaps, so that a new family needs no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from random import Random
from typing import Any, Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.families import family
from tests.families.test_contradictory_states import FIXED, changed, member, valid_pool, wrong_values
from tests.families.vector_replay import REPLAYS, replay_vectors

STATES_PER_FAMILY: Final = 60
"""Recorded pools of a family that are kept, spread over all of them."""
BITS: Final = (16, 24, 32, 40, 63, 64, 80, 96, 104, 112, 120, 127, 128, 160, 192, 255, 256)
"""Widths of the contracts' integers."""
CHANGES: Final = (0, 1, 1, 2, 3, 6)
"""Members of a state that change at once."""
MAX_TRIES: Final = 40
"""Changed states for one that the family accepts; most families refuse one in two."""


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
    bases = recorded_pools(name)
    found = 0
    for _ in range(count * MAX_TRIES):
        base = rng.choice(bases)
        # The quotes of a sampled pool are in market files, but not in what its `state` returns.
        state = FIXED[name][1] if base.is_sampled else base.state()
        identity, state = random_change(rng, base.identity, state)
        try:
            pool = family(name).from_state(identity, state)
        except InvalidPoolState:
            continue
        yield pool
        found += 1
        if found == count:
            return


def random_change(
    rng: Random, identity: PoolIdentity, state: Mapping[str, object]
) -> tuple[PoolIdentity, Mapping[str, object]]:
    """Return identity and state with up to six changed members, most of them numbers."""
    for _ in range(rng.choice(CHANGES)):
        paths = [*_all_places(state)]
        numbers = [path for path in paths if _is_number(member(state, path))]
        kind = rng.random()
        if not numbers or kind < 0.1:
            identity = _changed_identity(rng, identity)
        elif kind < 0.9:
            path = rng.choice(numbers)
            value = member(state, path)
            number = _changed_number(rng, int(value))
            state = changed(state, path, str(number) if isinstance(value, str) else number)
        else:
            path = rng.choice(paths)
            state = changed(state, path, rng.choice([*wrong_values(member(state, path))]))
    return identity, state


def random_amount(rng: Random, pool: Pool, token_in: str, token_out: str) -> int:
    """Return an input: of any sign and size, of a few units, or a part of what the pool takes."""
    kind = rng.random()
    if kind < 0.1:
        return int(rng.choice((-1, 1)) * 2 ** rng.uniform(128, 310))
    if kind < 0.25:
        return rng.choice((1, 2, 3, 10))
    if kind < 0.8:
        capacity = min(pool.curve(token_in, token_out).capacity, 1e60)
        return max(1, int(capacity * 10 ** -rng.uniform(0, 8)))
    return int(2 ** rng.uniform(0, 128))


def _changed_number(rng: Random, value: int) -> int:
    kind = rng.random()
    if kind < 0.4:
        return int(value * 2 ** rng.gauss(0, 3))
    if kind < 0.6:
        return int(value * 2 ** rng.gauss(0, 40))
    if kind < 0.7:
        return value + rng.choice((-1, 1))
    if kind < 0.75:
        return -value
    if kind < 0.85:
        return rng.choice((0, 1, 2, 255, 10**9, 10**18))
    return int(2 ** rng.choice(BITS)) - rng.choice((0, 1, 2, 10**6))


def _changed_identity(rng: Random, identity: PoolIdentity) -> PoolIdentity:
    if rng.random() < 0.5:
        return identity._replace(fee_ppm=rng.choice((0, 1, 100, 3_000, 10_000, 500_000, 999_999)))
    return identity._replace(decimals=tuple(rng.choice((0, 2, 6, 8, 18)) for _ in identity.decimals))


def _all_places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every member of a state."""
    if path:
        yield path
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _all_places(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _all_places(each, (*path, index))


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and str(value).lstrip("-").isdigit()
