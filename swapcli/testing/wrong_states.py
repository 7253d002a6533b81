"""Contradictory pool states: each must be rejected, naming its field, or swap like a possible pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from math import isfinite, isnan
from random import Random
from typing import Any, Final

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.testing.strategies import TOKENS

ABSENT: Final = object()
"""A marker in place of a value: the member is omitted."""
Place = tuple[str | int, ...]
"""The keys and indices that lead to a member of a state."""

_WRONG: Final[tuple[object, ...]] = (
    *(ABSENT, None, "x", "0x", 1.5, True, False, [], {}, [[]], ["1", None], -1, 0, 1, 2, 255, 10**9),
    *(2**63, 2**112 - 1, 2**112, 2**127, 2**128 - 1, 2**160, 2**255, 2**256 - 1, 2**256, 10**100),
)
"""Replacements for a value: other types, and the bounds of the contracts' integers."""
_FIRST_WRONG_NUMBER: Final = 11
_FACTORS: Final = (10**-12, 0.5, 2, 10**12)
_PAIRS: Final = 60
"""Combinations of two wrong values."""
_AMOUNTS: Final = (1, 10**6, 10**18, 10**30, 2**127, 2**256 - 1)


def check_wrong_states(
    pool: Pool, reserve_of: Callable[[Pool, int], float], state: Mapping[str, object] | None = None
) -> None:
    """Require that each wrong state is rejected with the name of a field, or belongs to a pool with possible amounts
    and rates.

    `pool` is a liquid pool; one or two members of its state and identity are made wrong. `reserve_of` returns how many
    base units of the k-th token a pool can pay. `state` is the state in a market file if it differs from
    `pool.state()`.
    """
    check_amounts_and_rates(pool, reserve_of)
    identity, valid = pool.identity, pool.state() if state is None else state
    cases = [(identity, wrong) for wrong in wrong_states(valid)]
    cases += [(wrong, valid) for wrong in wrong_identities(identity)]
    refused = named = 0
    for each in cases:
        try:
            accepted = type(pool).from_state(*each)
        except InvalidPoolState as error:
            named += bool(error.field)
            refused += 1
        else:
            check_amounts_and_rates(accepted, reserve_of)
    assert refused
    assert named == refused, "an error names no field"


def check_amounts_and_rates(pool: Pool, reserve_of: Callable[[Pool, int], float]) -> None:
    """Require that swaps of any size pay no more than the pool has, and that curves return only finite numbers."""
    some = dict.fromkeys((*pool.tokens[:2], pool.tokens[-1]))
    for sold, bought in permutations(some, 2):
        _check_curve(pool, sold, bought)
        for amount_in in _AMOUNTS:
            try:
                amount_out, after = pool.swap(sold, bought, amount_in)
            except PoolError:
                continue
            assert amount_out > 0
            assert amount_out <= reserve_of(pool, pool.tokens.index(bought))
            pool.gas_units(after)


def _check_curve(pool: Pool, sold: str, bought: str) -> None:
    curve = pool.curve(sold, bought)
    start, capacity = curve.start_rate, curve.capacity
    assert isfinite(start)
    assert start >= 0.0
    assert capacity >= 0.0
    for rate in (start * 0.999, start * 0.5, 1e-9):
        if rate > 0.0:
            amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
            assert isfinite(amount_in)
            assert isfinite(amount_out)
            assert min(amount_in, amount_out, slope) >= 0.0
            assert not isnan(slope)
    for amount in (1.0, 1e18, 1e30):
        assert isfinite(curve.amount_out(amount))
        assert isfinite(curve.rate(amount))
        assert min(curve.amount_out(amount), curve.rate(amount)) >= 0.0


def wrong_states(state: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the state with each member wrong in each way, and some states with two wrong members."""
    paths = list(places(state, ends_only=True))
    for path in paths:
        for value in wrong_values(member(state, path)):
            yield changed(state, path, value)
    rng = Random(7)
    numbers = [path for path in paths if not isinstance(member(state, path), list | Mapping)]
    for _ in range(_PAIRS if len(numbers) > 1 else 0):
        first, second = rng.sample(numbers, 2)
        once = changed(state, first, rng.choice([*wrong_values(member(state, first))][_FIRST_WRONG_NUMBER:]))
        if second[: len(first) - 1] != first[: len(first) - 1] or len(first) == len(second) == 1:
            yield changed(once, second, rng.choice([*wrong_values(member(state, second))][_FIRST_WRONG_NUMBER:]))


def wrong_identities(identity: PoolIdentity) -> Iterator[PoolIdentity]:
    """Yield the identity with other fees, decimals and tokens."""
    yield from (identity._replace(fee_ppm=fee_ppm) for fee_ppm in (0, 1, 100, 3_000, 500_000, 999_999))
    count = len(identity.tokens)
    for some in ((0,) * count, (18,) * count, (77,) * count, (255,) * count, (*identity.decimals[:-1], 19)):
        yield identity._replace(decimals=some)
    for length in (2, 3, 8):
        yield identity._replace(tokens=TOKENS[:length], decimals=(18,) * length)


def wrong_values(value: object) -> Iterator[object]:
    """Yield wrong replacements for the value of a member."""
    yield from _WRONG
    if isinstance(value, list):
        yield from (value[:-1], [*value, *value[-1:]], value[::-1])
    if is_number(value):
        number = int(str(value))
        yield from (number + 1, -number, *(int(number * factor) for factor in _FACTORS))


def places(value: object, path: Place = (), *, ends_only: bool = False) -> Iterator[Place]:
    """Yield the path of every member of a state; with `ends_only`, only the first and the last entry of each list."""
    if path:
        yield path
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from places(each, (*path, key), ends_only=ends_only)
    elif isinstance(value, list) and value:
        for index in {0, len(value) - 1} if ends_only else range(len(value)):
            yield from places(value[index], (*path, index), ends_only=ends_only)


def member(state: Any, path: Place) -> Any:
    """Return the member of a state at `path`."""
    for key in path:
        state = state[key]
    return state


def changed(state: Any, path: Place, value: object) -> Any:
    """Return a copy of a state with `value` at `path`."""
    key, *rest = path
    copy: Any = dict(state) if isinstance(state, Mapping) else list(state)
    if rest:
        copy[key] = changed(state[key], tuple(rest), value)
    elif value is ABSENT:
        del copy[key]
    else:
        copy[key] = value
    return copy


def is_number(value: object) -> bool:
    """Return whether a member of a state is an integer, or the text of an integer."""
    return not isinstance(value, bool) and str(value).lstrip("-").isdigit()
