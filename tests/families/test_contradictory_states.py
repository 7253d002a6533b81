"""A state that contradicts itself is refused by field, or swaps as a pool that pays no more than it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import permutations
from math import inf, isfinite, isnan
from random import Random
from typing import Any, Final

import pytest

from swapcli.core.errors import InvalidPoolState, PoolError
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.faces.cli.help_topics import topic_text
from swapcli.families import FAMILIES, family
from swapcli.families.balancer.balancer_v3_boosted import BalancerV3Boosted
from swapcli.families.bins.infinity_bin import InfinityBin
from swapcli.families.bins.liquidity_book import LiquidityBook
from swapcli.families.curve.curve_meta import CurveMeta
from swapcli.families.fixed_rate.bridge import StablecoinBridge
from swapcli.families.fixed_rate.vault import ShareVault
from swapcli.families.fluid.fluid_t1 import FluidT1
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.uniswap.hook_fees import DirectionFees, HookFees
from tests.families.balancer.test_balancer_v2_stable import build_composable, recorded_steps
from tests.families.bins.test_infinity_bin import POOL as INFINITY_BIN
from tests.families.bins.test_liquidity_book import POOL as LIQUIDITY_BOOK
from tests.families.curve.test_cryptoswap import as_recorded as recorded_cryptoswap
from tests.families.curve.test_curve_meta import liquid_pool
from tests.families.ekubo.random_ekubo import FEE_30_BPS, pool_of
from tests.families.ekubo.test_ekubo import model_of_four_ticks
from tests.families.family_tests import reserve_of, valid_pool_of
from tests.families.fluid.test_fluid_t1 import as_recorded as recorded_fluid
from tests.families.random_pools import ADDRESS, TOKENS
from tests.families.recorded import read_vectors
from tests.families.uniswap.hooked_pools import hooked_pool
from tests.support.pools import (
    BALANCER_VARIANTS,
    build_balancer,
    build_concentrated,
    build_constant_product,
    build_pair_in_vault,
    build_solidly_stable,
    build_stableswap,
    build_token,
    build_weighted,
)

UNIT: Final = 10**18
ABSENT: Final = object()
WRONG: Final[tuple[object, ...]] = (
    *(ABSENT, None, "x", "0x", 1.5, True, False, [], {}, [[]], ["1", None], -1, 0, 1, 2, 255, 10**9),
    *(2**63, 2**112 - 1, 2**112, 2**127, 2**128 - 1, 2**160, 2**255, 2**256 - 1, 2**256, 10**100),
)
"""What takes the place of a value: other types, and the bounds of the contracts' integers."""
AMOUNTS: Final = (1, 10**6, 10**18, 10**30, 2**127, 2**256 - 1)
FACTORS: Final = (10**-12, 0.5, 2, 10**12)
PAIRS: Final = 60
"""Combinations of two wrong values, a family."""


def first_recorded(name: str, as_recorded: Callable[[dict[str, Any], dict[str, Any]], Pool]) -> Pool:
    recorded = read_vectors(name)["pools"][0]
    return as_recorded(recorded, recorded["steps"][0])


def plain_stableswap() -> Pool:
    pool = build_stableswap(1, PAIR, [1.0, 1.0], 1e6, 100, 100)
    return family("stableswap").from_state(pool.identity, {**pool.state(), "variant": "plain"})


PAIR: Final = build_token(0), build_token(1)
VALID: Final[Mapping[str, Callable[[], Pool]]] = {
    "constant_product": lambda: build_constant_product(1, *PAIR, 10**24, 10**24),
    "concentrated": lambda: build_concentrated(1, *PAIR, 10**24, 1.0, 600),
    "uniswap_v4_hooked": lambda: hooked_pool(HookFees(DirectionFees(3_000, 10**16), DirectionFees(3_000, 0, 10**16))),
    "solidly_stable": lambda: build_solidly_stable(1, *PAIR, 1e6, 0.99, 100),
    "stableswap": plain_stableswap,
    "weighted": lambda: build_weighted(1, PAIR, [1.0, 1.0], 1e6, [20, 80], 100),
    "cryptoswap": lambda: first_recorded("tricrypto", recorded_cryptoswap),
    "curve_meta": liquid_pool,
    "balancer_v2_composable": lambda: build_composable(next(recorded_steps("balancer_v2_composable"))[0]),
    "ekubo": lambda: pool_of(model_of_four_ticks(), FEE_30_BPS),
    "infinity_bin": lambda: INFINITY_BIN,
    "liquidity_book": lambda: LIQUIDITY_BOOK,
    "fluid_t1": lambda: first_recorded("fluid_dex_t1", recorded_fluid),
}


def valid_pool(name: str) -> Pool:
    """Return a liquid pool of a family."""
    if name in FIXED:
        return family(name).from_state(*FIXED[name])
    if name in VALID:
        return VALID[name]()
    own = valid_pool_of(name)
    if own:
        return own
    if name in BALANCER_VARIANTS["solidly_stable"]:
        return build_pair_in_vault(name, 1, PAIR, [1.0, 1.0], 1e6, 0.1, 100)
    return build_balancer(name, 1, PAIR, [1.0, 1.0], 1e6, 100, 100)


FIXED: Final[Mapping[str, tuple[PoolIdentity, Mapping[str, object]]]] = {
    "psm": (
        PoolIdentity(ADDRESS, "test", TOKENS[:3], (6, 18, 18), 0),
        {"reserves": [10**12, 10**24, 10**24], "rate": 11 * 10**26},
    ),
    "vault": (
        PoolIdentity(ADDRESS, "test", (TOKENS[0], ADDRESS), (6, 18), 0),
        {"share_price": [10**12, 10**24], "max_deposit": 10**18, "max_redeemed": 10**12},
    ),
    "bridge": (
        PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 6), 0),
        {"reserve": 10**12, "minted": 10**24, "limit": 10**25},
    ),
    "wrapper": (PoolIdentity(ADDRESS, "test", (ZERO_ADDRESS, ADDRESS), (18, 18), 0), {}),
    "sampled": (
        PoolIdentity(ADDRESS, "test", TOKENS[:2], (18, 18), 0),
        {
            "samples": [[[10**6, 10**6], [10**12, 9 * 10**11]], [[10**6, 10**6]]],
            "balances": [10**13, 10**13],
            "constants": {"fee": "3000"},
        },
    ),
}


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every member of a state, of its lists the first and the last."""
    if path:
        yield path
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from places(member, (*path, key))
    elif isinstance(value, list) and value:
        for index in {0, len(value) - 1}:
            yield from places(value[index], (*path, index))


def member(state: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        state = state[key]
    return state


def changed(state: Any, path: tuple[str | int, ...], value: object) -> Any:
    """Return a copy with another value at `path`."""
    key, *rest = path
    copy: Any = dict(state) if isinstance(state, Mapping) else list(state)
    if rest:
        copy[key] = changed(state[key], tuple(rest), value)
    elif value is ABSENT:
        del copy[key]
    else:
        copy[key] = value
    return copy


def wrong_values(value: object) -> Iterator[object]:
    """Yield what a member may be replaced by."""
    yield from WRONG
    if isinstance(value, list):
        yield from (value[:-1], [*value, *value[-1:]], value[::-1])
    text = str(value)
    if not isinstance(value, bool) and text.lstrip("-").isdigit():
        yield from (int(text) + 1, -int(text), *(int(int(text) * factor) for factor in FACTORS))


def wrong_states(state: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Yield the state with each member wrong in each way, and some with two wrong members."""
    paths = list(places(state))
    for path in paths:
        for value in wrong_values(member(state, path)):
            yield changed(state, path, value)
    rng = Random(7)
    numbers = [path for path in paths if not isinstance(member(state, path), list | Mapping)]
    for _ in range(PAIRS if len(numbers) > 1 else 0):
        first, second = rng.sample(numbers, 2)
        once = changed(state, first, rng.choice([*wrong_values(member(state, first))][11:]))
        if second[: len(first) - 1] != first[: len(first) - 1] or len(first) == len(second) == 1:
            yield changed(once, second, rng.choice([*wrong_values(member(state, second))][11:]))


def wrong_identities(identity: PoolIdentity) -> Iterator[PoolIdentity]:
    """Yield the identity with other fees, decimals and tokens."""
    yield from (identity._replace(fee_ppm=fee_ppm) for fee_ppm in (0, 1, 100, 3_000, 500_000, 999_999))
    count = len(identity.tokens)
    for some in ((0,) * count, (18,) * count, (77,) * count, (255,) * count, (*identity.decimals[:-1], 19)):
        yield identity._replace(decimals=some)
    for length in (2, 3, 8):
        yield identity._replace(tokens=TOKENS[:length], decimals=(18,) * length)


def reserve(pool: Pool, k: int) -> float:
    """Return how much of the k-th token the pool has; infinity where only the maths knows."""
    match pool:
        case BalancerV3Boosted(share_prices=prices):
            price, shares = prices[k], pool.share_pool.reserves[k]
            return shares if price is None else shares * price.assets // price.shares
        case CurveMeta(own=own, base=base):
            return own.reserves[k] if k < 2 else base.pool.reserves[k - 2]
        case FluidT1():
            adjusted: int = sum(side.real[k] for side in (pool.collateral, pool.debt) if side is not None)
            return adjusted * int(10 ** pool.decimals[k]) // 10**12
        case InfinityBin() | LiquidityBook():
            return sum(pool.bins.amounts_y if k else pool.bins.amounts_x)
        case ShareVault():
            return inf if k else pool.max_redeemed
        case StablecoinBridge():
            return inf if k == 0 else pool.reserve
        case Sampled(balances=balances):
            return inf if balances is None else balances[k]
    return reserve_of(pool, k)


def check_pool(pool: Pool) -> None:
    """Assert that the pool's amounts and rates can be."""
    some = dict.fromkeys((*pool.tokens[:2], pool.tokens[-1]))
    for sold, bought in permutations(some, 2):
        check_curve(pool, sold, bought)
        for amount_in in AMOUNTS:
            try:
                amount_out, after = pool.swap(sold, bought, amount_in)
            except PoolError:
                continue
            assert amount_out > 0
            assert amount_out <= reserve(pool, pool.tokens.index(bought))
            pool.gas_units(after)


def check_curve(pool: Pool, sold: str, bought: str) -> None:
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


@pytest.mark.parametrize("name", FAMILIES)
def test_the_topic_on_pools_names_what_a_state_needs(name: str) -> None:
    valid = valid_pool(name)
    identity, state = valid.identity, FIXED[name][1] if name in FIXED else valid.state()
    _, _, table = topic_text("pools").partition("THE STATE OF A POOL")
    (row,) = re.findall(rf"^  {name} {{2,}}(.*(?:\n {{28}}.*)*)$", table, re.MULTILINE)
    named = set(re.findall(r"\w+", row)) if "nothing" not in row else set()
    assert named <= state.keys()
    for key in state.keys() - named:
        family(name).from_state(identity, changed(state, (key,), ABSENT))


@pytest.mark.parametrize("name", FAMILIES)
def test_a_contradictory_state_is_never_quoted_wrongly(name: str) -> None:
    valid = valid_pool(name)
    check_pool(valid)
    identity, state = valid.identity, FIXED[name][1] if name in FIXED else valid.state()
    cases = [(identity, wrong) for wrong in wrong_states(state)]
    cases += [(wrong, state) for wrong in wrong_identities(identity)]
    refused = unnamed = 0
    for each in cases:
        try:
            pool = family(name).from_state(*each)
        except InvalidPoolState as error:
            unnamed += not error.field
            refused += 1
        else:
            check_pool(pool)
    assert refused
    assert not unnamed
