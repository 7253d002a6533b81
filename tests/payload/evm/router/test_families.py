"""The router pays exactly the replayed output through real pools of every family."""

from __future__ import annotations

from itertools import permutations
from random import Random

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.model.swap_type import SwapType
from swapcli.families.wrap import wrapper_pool
from tests.chain.contract_fixture import PROTOCOLS, WETH, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.random_routes import random_route
from tests.examples import seeds
from tests.payload.evm.router.driving import ALICE, BOB, NATIVE, build, carry_out, single, weth

ROUTES_A_SEED = 40
SEEDS = seeds(2, full=6)


def test_every_pool_pays_and_ends_as_replayed_in_each_direction(fixture: ContractFixture, market: MarketState) -> None:
    rng = Random("every pool")
    tried = 0
    for pool in market.pools.values():
        for token_in, token_out in permutations(pool.tokens, 2):
            with fixture.chain.revert_after():
                check_one_swap(fixture, market, pool, token_in, token_out, rng)
            tried += 1
    assert tried == 54
    assert {pool.protocol for pool in market.pools.values()} == {p.amm_name for p in PROTOCOLS if p.id and p.family}


def check_one_swap(
    fixture: ContractFixture, market: MarketState, pool: Pool, token_in: str, token_out: str, rng: Random
) -> None:
    amount_in = random_amount(rng, fixture, token_in)
    built = build(market, single(pool.key, token_in, token_out), amount_in)
    assert carry_out(fixture, built.payload) == built.replay.amount_out
    assert read_market(fixture).pools == {**market.pools, **built.replay.pools_after}


def random_amount(rng: Random, fixture: ContractFixture, token: str, max_dollars: float = 100_000) -> int:
    """Return an amount worth between one dollar and `max_dollars`."""
    dollar = {WETH: 4e14, "WBTC": 1_667, "TKN": 4e18, "DAI": 1e18}.get(fixture.symbol(token), 1e6)
    return int(dollar * max_dollars ** rng.uniform(0, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_routes_pay_the_replayed_output(fixture: ContractFixture, market: MarketState, seed: int) -> None:
    """Each route is quoted on the state after the routes before it."""
    rng = Random(f"routes {seed}")
    executed = 0
    while executed < ROUTES_A_SEED:
        token_in, token_out = rng.sample(sorted(token.address for token in fixture.tokens.values()), 2)
        swap_type = random_type(rng, fixture, token_in, token_out)
        route = random_route(rng, market.pools, token_in, token_out)
        try:
            built = build(market, route, random_amount(rng, fixture, token_in), swap_type)
        except PoolError:
            continue
        assert carry_out(fixture, built.payload) == built.replay.amount_out
        market = read_market(fixture)
        assert {key: market.pools[key] for key in built.replay.pools_after} == built.replay.pools_after
        executed += 1


def random_type(rng: Random, fixture: ContractFixture, token_in: str, token_out: str) -> SwapType:
    if token_in == weth(fixture) and rng.random() < 0.7:
        return SwapType.NATIVE_TO_TOKEN
    if token_out == weth(fixture) and rng.random() < 0.7:
        return SwapType.TOKEN_TO_NATIVE
    return SwapType.TOKEN_TO_TOKEN


@pytest.mark.parametrize("swap_type", SwapType)
def test_wrapping_and_unwrapping_are_one_to_one(
    fixture: ContractFixture, market: MarketState, swap_type: SwapType
) -> None:
    pool = wrapper_pool(fixture.tokens[WETH])
    alone = market._replace(pools={pool.key: pool})
    built = build(alone, single(pool.key, *pool.tokens), 12_345, swap_type)
    assert carry_out(fixture, built.payload) == 12_345


def test_native_input_and_output_are_wrapped_on_the_route(fixture: ContractFixture, market: MarketState) -> None:
    usdc = fixture.address("USDC")
    first = single(pool_of(market, "uniswapV3", weth(fixture), usdc), weth(fixture), usdc)
    there = build(market, first, 10**18, SwapType.NATIVE_TO_TOKEN)
    assert there.payload.value == 10**18
    before = fixture.balance(weth(fixture), ALICE)
    assert carry_out(fixture, there.payload) == there.replay.amount_out
    assert fixture.balance(weth(fixture), ALICE) == before
    then = single(pool_of(market, "uniswapV2", weth(fixture), usdc), usdc, weth(fixture))
    back = build(read_market(fixture), then, 5 * 10**9, SwapType.TOKEN_TO_NATIVE)
    assert carry_out(fixture, back.payload) == back.replay.amount_out
    assert fixture.balance(NATIVE, BOB) == back.replay.amount_out


def test_a_pool_of_native_currency_trades_from_token_to_token(fixture: ContractFixture, market: MarketState) -> None:
    """The native currency between the two hops never leaves the router."""
    usdc, tkn = fixture.address("USDC"), fixture.address("TKN")
    first, then = (pool_of(market, "uniswapV4", weth(fixture), each) for each in (usdc, tkn))
    hops = ((Swap(first, usdc, weth(fixture), SHARES_PER_HOP),), (Swap(then, weth(fixture), tkn, SHARES_PER_HOP),))
    built = build(market, Route((Segment(SHARES_PER_ROUTE, hops),)), 7_000_000_000)
    assert carry_out(fixture, built.payload) == built.replay.amount_out


def test_a_reused_pool_trades_on_the_state_after_its_first_use(fixture: ContractFixture, market: MarketState) -> None:
    usdc, usdt, dai = (fixture.address(each) for each in ("USDC", "USDT", "DAI"))
    curve = pool_of(market, "curveFi", usdc, dai)
    direct = ((Swap(curve, usdc, dai, SHARES_PER_HOP),),)
    around = ((Swap(curve, usdc, usdt, SHARES_PER_HOP),), (Swap(curve, usdt, dai, SHARES_PER_HOP),))
    route = Route((Segment(6_000, direct), Segment(4_000, around)))
    built = build(market, route, 500_000_000_000)
    assert len(built.call.swaps) == 3
    assert carry_out(fixture, built.payload) == built.replay.amount_out


def pool_of(market: MarketState, protocol: str, *tokens: str) -> str:
    return next(p.key for p in market.pools.values() if p.protocol == protocol and set(tokens) <= set(p.tokens))
