"""Generate pools with randomly changed states, and random amounts to sell in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Final

from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.testing.wrong_states import changed, is_number, member, places, wrong_values

_BITS: Final = (16, 24, 32, 40, 63, 64, 80, 96, 104, 112, 120, 127, 128, 160, 192, 255, 256)
"""The widths of the contracts' integers, in bits."""
_CHANGES: Final = (0, 1, 1, 2, 3, 6)
"""The number of state members that change at once."""
_MAX_TRIES: Final = 40
"""The maximum number of attempts to find a changed state that the family accepts; most families reject one in two."""


def changed_pools(
    bases: Sequence[Pool],
    rng: Random,
    count: int,
    state_of: Callable[[Pool], Mapping[str, object]] = lambda pool: pool.state(),
) -> Iterator[Pool]:
    """Yield up to `count` pools in states that their family accepts, usually random changes of the states of `bases`.

    `state_of` returns the state of a pool in the form of a market file.
    """
    found = 0
    for _ in range(count * _MAX_TRIES):
        base = rng.choice(bases)
        identity, state = random_change(rng, base.identity, state_of(base))
        try:
            pool = type(base).from_state(identity, state)
        except InvalidPoolState:
            continue
        yield pool
        found += 1
        if found == count:
            return


def random_change(
    rng: Random, identity: PoolIdentity, state: Mapping[str, object]
) -> tuple[PoolIdentity, Mapping[str, object]]:
    """Return the identity and the state with up to six changed members, most of them numbers."""
    for _ in range(rng.choice(_CHANGES)):
        paths = [*places(state)]
        numbers = [path for path in paths if is_number(member(state, path))]
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
    """Return a random input: an integer of any sign and size, a few units, or a fraction of the pool's capacity."""
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
    return int(2 ** rng.choice(_BITS)) - rng.choice((0, 1, 2, 10**6))


def _changed_identity(rng: Random, identity: PoolIdentity) -> PoolIdentity:
    if rng.random() < 0.5:
        return identity._replace(fee_ppm=rng.choice((0, 1, 100, 3_000, 10_000, 500_000, 999_999)))
    return identity._replace(decimals=tuple(rng.choice((0, 2, 6, 8, 18)) for _ in identity.decimals))
