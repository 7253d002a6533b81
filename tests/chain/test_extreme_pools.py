"""Live quotes on a chain with pools that anybody may create to break a router: answered, and paid to the unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from random import Random

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.families.tick_math import MAX_TICK, MIN_TICK, sqrt_ratio_at_tick
from swapcli.quoting.depth import measure_depth
from swapcli.quoting.pool_listing import list_pools, select_pools
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.live_search import Limits
from swapcli.quoting.sources.market_prices import unit_prices
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import DEPLOYER
from tests.chain.contract_fixture import DECIMALS, WETH, ContractFixture, Place
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import USER, Trader
from tests.contracts.evm import load_artifact
from tests.examples import seeds
from tests.support.chain import connected

_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
_V2 = "@uniswap/v2-core/build"
SPACING = 60
HIGHEST = MAX_TICK // SPACING * SPACING
AMOUNTS = (1, 10**6, 10**18, 10**24, 2**127)
PROVIDED = 10**33
"""Base units of each token for the liquidity of these pools."""
ORDERS = 16
"""Live quotes for each seed."""


def open_dust_v3(world: ContractFixture, pair: tuple[str, str], tick: int, position: tuple[int, int, int]) -> None:
    """Open a Uniswap V3 pool at a tick, with one position (lower, upper, liquidity)."""
    artifact, (token0, token1) = load_artifact(_V3), world._sorted(*pair)
    tokens = world._addresses(token0, token1)
    pool = world.chain.at(world._hosted(artifact, tokens, 3_000, SPACING, world.host), artifact)
    pool.send("initialize", sqrt_ratio_at_tick(tick))
    world.provider.send("mint", pool.address, *position)
    world._add(Place("uniswapV3", pool, tokens, 3_000, SPACING, position[:2]))


def open_dust_v2(world: ContractFixture, pair: tuple[str, str], reserves: tuple[int, int]) -> None:
    """Open a Uniswap V2 pair of another factory."""
    factory = world.chain.deploy(load_artifact(f"{_V2}/UniswapV2Factory.json"), DEPLOYER)
    tokens = world._addresses(*world._sorted(*pair))
    (address,) = factory.send("createPair", *tokens)
    contract = world.chain.at(address, load_artifact(f"{_V2}/UniswapV2Pair.json"))
    world.provider.send("fillPair", address, *reserves)
    world._add(Place("uniswapV2", contract, tokens, 3000))


def open_extreme_pools(world: ContractFixture) -> None:
    """Open dust at both ends of the price range, one-sided positions, and pairs far out of balance."""
    world.chain.fund(DEPLOYER, 2 * PROVIDED)
    for symbol in DECIMALS:
        world.give(symbol, world.provider.address, PROVIDED)
    for pair in ((WETH, "USDC"), ("WBTC", "DAI"), ("TKN", "USDC")):
        open_dust_v3(world, pair, HIGHEST - 10, (HIGHEST - SPACING, HIGHEST, 1))
        open_dust_v3(world, pair, -HIGHEST + 10, (-HIGHEST, -HIGHEST + SPACING, 1))
        open_dust_v3(world, pair, MAX_TICK - 1, (-SPACING, SPACING, 10**6))
        open_dust_v3(world, pair, MIN_TICK, (-SPACING, SPACING, 10**6))
        open_dust_v3(world, pair, 0, (SPACING, 2 * SPACING, 10**12))
        open_dust_v3(world, pair, 0, (-HIGHEST, HIGHEST, 1))
        for reserves in ((1, 10**7), (10**30, 2), (10**32, 10**32), (10**4, 10**4)):
            open_dust_v2(world, pair, reserves)


@pytest.fixture
def stored(trader: Trader) -> MarketState:
    """The market with its extreme pools, as it was before the blocks of the test."""
    open_extreme_pools(trader.world)
    trader.world.network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.market = read_market(trader.world)
    return trader.market


@pytest.fixture
def node(trader: Trader, stored: MarketState) -> Iterator[RpcNode]:
    assert stored.pools
    with connected(trader.chain) as node:
        yield node


def live(market: MarketState, node: RpcNode, limits: Limits | None = None) -> LiveSource:
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, limits=limits)


@pytest.mark.parametrize("seed", seeds(0, full=20))
def test_live_quotes_among_extreme_pools_pay_exactly(
    trader: Trader, stored: MarketState, node: RpcNode, seed: int
) -> None:
    rng, paid = Random(f"extreme pools {seed}"), 0
    for number in range(ORDERS):
        sold, bought = rng.sample(sorted(DECIMALS), 2)
        token_in, token_out = trader.world.tokens[sold], trader.world.tokens[bought]
        order = Order(token_in, token_out, rng.choice(AMOUNTS), reverse=rng.random() < 0.3)
        limits = Limits(first_pools=4, pools=8) if rng.random() < 0.5 else None
        try:
            request = QuoteRequest(order, ApiVersion.V2, certify=rng.random() < 0.2)
            answer, payload = quote_and_build(live(stored, node, limits), request, SwapTerms(0, USER))
        except (NoRoute, PoolError):
            continue
        assert answer.quote.broken_pools == ()
        if number % 2 or answer.result.input_amount > trader.world.balance(token_in.address, USER):
            continue
        trade = trader.build_trade(answer.result, payload, answer.pools, "live")
        assert trader.execute(trade).received == answer.result.output_amount
        paid += 1
    assert paid


@pytest.mark.slow
def test_lists_prices_and_depths_are_live_among_extreme_pools(stored: MarketState, node: RpcNode) -> None:
    source = live(stored, node)
    listed = list_pools(select_pools(source, (), None), ())
    assert {pool.key for pool in listed} == stored.pools.keys()
    assert not any("computations" in pool.left_out for pool in listed)
    tokens = list(stored.tokens.values())
    addresses = [token.address for token in tokens]
    prices = unit_prices(source.read(source.known().for_prices(addresses), (), addresses))
    assert prices.keys() == stored.tokens.keys()
    for token_in, token_out in list(permutations(tokens, 2))[:6]:
        request = QuoteRequest(Order(token_in, token_out, 10**token_in.decimals), ApiVersion.V2)
        assert measure_depth(source, request, SwapTerms(0, USER), (1, 10**token_in.decimals)).points
