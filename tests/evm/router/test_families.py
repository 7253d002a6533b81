"""The router pays out what the replay says, to the unit, through real pools of every family."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import pytest

from swapcli.engine.wrap import wrapper_pool
from swapcli.errors import PoolError
from swapcli.model.market import Market
from swapcli.model.pool import Pool
from swapcli.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.model.transaction import SwapType
from tests.chain.contract_fixture import PROTOCOLS, WETH, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.random_routes import random_route
from tests.evm.router.driving import ALICE, BOB, NATIVE, build, carry_out, single, weth

ROUTES_A_SEED = 40
SEEDS = range(6)


def test_every_pool_pays_and_ends_as_replayed_in_each_direction(world: ContractFixture, market: Market) -> None:
    rng = Random("every pool")
    tried = 0
    for pool in market.pools.values():
        for token_in, token_out in permutations(pool.tokens, 2):
            with world.chain.revert_after():
                check_one_swap(world, market, pool, token_in, token_out, rng)
            tried += 1
    assert tried == 54
    assert {pool.protocol for pool in market.pools.values()} == {p.amm_name for p in PROTOCOLS if p.id and p.family}


def check_one_swap(
    world: ContractFixture, market: Market, pool: Pool, token_in: str, token_out: str, rng: Random
) -> None:
    amount_in = random_amount(rng, world, token_in)
    built = build(market, single(pool.key, token_in, token_out), amount_in)
    assert carry_out(world, built.payload) == built.replay.amount_out
    assert read_market(world).pools == {**market.pools, **built.replay.pools_after}


def random_amount(rng: Random, world: ContractFixture, token: str, most_dollars: float = 100_000) -> int:
    """A dollar to a hundred thousand."""
    dollar = {WETH: 4e14, "WBTC": 1_667, "TKN": 4e18, "DAI": 1e18}.get(world.symbol(token), 1e6)
    return int(dollar * most_dollars ** rng.uniform(0, 1))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_routes_pay_what_the_replay_says(world: ContractFixture, market: Market, seed: int) -> None:
    """Pools change under the routes, so that each is quoted on what those before have left."""
    rng = Random(f"routes {seed}")
    done = 0
    while done < ROUTES_A_SEED:
        token_in, token_out = rng.sample(sorted(token.address for token in world.tokens.values()), 2)
        swap_type = random_type(rng, world, token_in, token_out)
        route = random_route(rng, market.pools, token_in, token_out)
        try:
            built = build(market, route, random_amount(rng, world, token_in), swap_type)
        except PoolError:
            continue
        assert carry_out(world, built.payload) == built.replay.amount_out
        market = read_market(world)
        assert {key: market.pools[key] for key in built.replay.pools_after} == built.replay.pools_after
        done += 1


def random_type(rng: Random, world: ContractFixture, token_in: str, token_out: str) -> SwapType:
    if token_in == weth(world) and rng.random() < 0.7:
        return SwapType.NATIVE_TO_TOKEN
    if token_out == weth(world) and rng.random() < 0.7:
        return SwapType.TOKEN_TO_NATIVE
    return SwapType.TOKEN_TO_TOKEN


@pytest.mark.parametrize("swap_type", SwapType)
def test_wrapping_and_unwrapping_are_one_to_one(world: ContractFixture, market: Market, swap_type: SwapType) -> None:
    pool = wrapper_pool(world.tokens[WETH])
    alone = replace(market, pools={pool.key: pool})
    built = build(alone, single(pool.key, *pool.tokens), 12_345, swap_type)
    assert carry_out(world, built.payload) == 12_345


def test_native_input_and_output_are_wrapped_on_the_route(world: ContractFixture, market: Market) -> None:
    usdc = world.address("USDC")
    first = single(pool_of(market, "uniswapV3", weth(world), usdc), weth(world), usdc)
    there = build(market, first, 10**18, SwapType.NATIVE_TO_TOKEN)
    assert there.payload.value == 10**18
    before = world.balance(weth(world), ALICE)
    assert carry_out(world, there.payload) == there.replay.amount_out
    assert world.balance(weth(world), ALICE) == before
    then = single(pool_of(market, "uniswapV2", weth(world), usdc), usdc, weth(world))
    back = build(read_market(world), then, 5 * 10**9, SwapType.TOKEN_TO_NATIVE)
    assert carry_out(world, back.payload) == back.replay.amount_out
    assert world.balance(NATIVE, BOB) == back.replay.amount_out


def test_a_pool_of_native_currency_trades_from_token_to_token(world: ContractFixture, market: Market) -> None:
    """The native currency in its middle is seen by nobody."""
    usdc, tkn = world.address("USDC"), world.address("TKN")
    first, then = (pool_of(market, "uniswapV4", weth(world), each) for each in (usdc, tkn))
    hops = ((Swap(first, usdc, weth(world), SHARES_PER_HOP),), (Swap(then, weth(world), tkn, SHARES_PER_HOP),))
    built = build(market, Route((Segment(SHARES_PER_ROUTE, hops),)), 7_000_000_000)
    assert carry_out(world, built.payload) == built.replay.amount_out


def test_a_reused_pool_trades_on_the_state_after_its_first_use(world: ContractFixture, market: Market) -> None:
    usdc, usdt, dai = (world.address(each) for each in ("USDC", "USDT", "DAI"))
    curve = pool_of(market, "curveFi", usdc, dai)
    direct = ((Swap(curve, usdc, dai, SHARES_PER_HOP),),)
    around = ((Swap(curve, usdc, usdt, SHARES_PER_HOP),), (Swap(curve, usdt, dai, SHARES_PER_HOP),))
    route = Route((Segment(6_000, direct), Segment(4_000, around)))
    built = build(market, route, 500_000_000_000)
    assert len(built.call.swaps) == 3
    assert carry_out(world, built.payload) == built.replay.amount_out


def pool_of(market: Market, protocol: str, *tokens: str) -> str:
    return next(p.key for p in market.pools.values() if p.protocol == protocol and set(tokens) <= set(p.tokens))
