"""The router swaps in Uniswap V4 pools whose hooks take fees, and pays what the pools say that they pay."""

from __future__ import annotations

import json
from random import Random

import pytest

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_type import SwapType
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.reading.lockstep_reads import run_batched
from swapcli.families.reading.pool_ref import PoolRef
from swapcli.families.uniswap.rows import V4Constants
from swapcli.families.uniswap.uniswap_v4_hooked import UniswapV4Hooked
from swapcli.families.uniswap.uniswap_v4_reader import load
from tests.chain.contract_fixture import WETH, ContractFixture, Place
from tests.chain.node.evm_node import view_of
from tests.contracts.evm import load_artifact
from tests.families.uniswap.hooked_pools import FEE_HOOK, LAUNCH_HOOK, QUOTER, contracts
from tests.families.uniswap.test_fee_in_token import DELI_HOOK, fee_in_token_hook
from tests.families.uniswap.test_hook_reader import RULE
from tests.families.uniswap.test_internal_swap import FLAUNCH_HOOK, internal_swap_hook
from tests.payload.evm.router.driving import build, carry_out, single
from tests.payload.evm.router.test_families import random_amount

ROUTES = 25
"""Of each kind of hook."""


def read(fixture: ContractFixture, place: Place, rule: dict[str, object]) -> UniswapV4Hooked:
    """Read a pool by a rule that the quoter of its manager confirms."""
    quoter = fixture.chain.deploy(load_artifact(QUOTER), fixture.manager.address)
    text = json.dumps({**rule, "hooks": [place.hooks]})
    constants = V4Constants(
        place.pool_id, place.tick_spacing, place.hooks, place.native, place.has_dynamic_fee, hook_rule=text,
        quoter=quoter.address,
    )  # fmt: skip
    decimals = tuple(fixture.tokens[fixture.symbol(token)].decimals for token in place.tokens)
    kind, family = ContractKind.UNISWAP_V4, UniswapV4Hooked.family
    ref = PoolRef(fixture.manager.address, place.protocol, family, kind, place.tokens, decimals, 0, constants)
    (pool,) = run_batched([(ref.key, load(ref))], view_of(fixture.chain).call)
    assert isinstance(pool, UniswapV4Hooked), pool
    return pool


def check_one_route(rng: Random, fixture: ContractFixture, market: MarketState, pool: UniswapV4Hooked) -> None:
    token_in, token_out = rng.sample(pool.tokens, 2)
    swap_type = SwapType.TOKEN_TO_TOKEN
    if rng.random() < 0.5 and fixture.address(WETH) in pool.tokens:
        is_sold = token_in == fixture.address(WETH)
        swap_type = SwapType.NATIVE_TO_TOKEN if is_sold else SwapType.TOKEN_TO_NATIVE
    market = market._replace(pools={pool.key: pool})
    built = build(market, single(pool.key, token_in, token_out), random_amount(rng, fixture, token_in), swap_type)
    assert carry_out(fixture, built.payload) == built.replay.amount_out


@pytest.mark.parametrize("first", ["", "DAI"], ids=["native", "token"])
def test_routes_through_pools_with_a_hook_that_takes_fees(
    fixture: ContractFixture, market: MarketState, first: str
) -> None:
    rng = Random(f"fee hook {first}")
    world = fixture.copy()
    place = world.open_uniswap_v4(first, "USDC", 3_000, 60, FEE_HOOK, is_dynamic=True)
    hook = world.chain.place(place.hooks, contracts()["FeeHook"])
    for _ in range(ROUTES):
        fees = ((True, rng.randrange(50_000), rng.randrange(50_000), rng.randrange(50_000)) for _ in range(2))
        hook.send("setFees", bytes.fromhex(place.pool_id[2:]), *fees)
        check_one_route(rng, world, market, read(world, place, dict(RULE)))


@pytest.mark.parametrize("token_is_first", [True, False])
def test_routes_through_pools_of_launched_tokens(
    fixture: ContractFixture, market: MarketState, token_is_first: bool
) -> None:
    rng = Random(f"launched {token_is_first}")
    world = fixture.copy()
    place = world.open_uniswap_v4("TKN", WETH, 10_000, 200, LAUNCH_HOOK, is_dynamic=True)
    hook = world.chain.place(place.hooks, contracts()["LaunchHook"])
    for _ in range(ROUTES):
        known = (rng.randrange(300_001), rng.randrange(300_001), token_is_first, False, 0, ZERO_ADDRESS)
        hook.send("setPool", bytes.fromhex(place.pool_id[2:]), known, True)
        check_one_route(rng, world, market, read(world, place, {"rule": "clanker_static"}))


def test_routes_through_pools_whose_hook_sells_first(fixture: ContractFixture, market: MarketState) -> None:
    rng = Random("internal swap")
    world = fixture.copy()
    place = world.open_uniswap_v4("TKN", WETH, 0, 60, FLAUNCH_HOOK)
    hook = world.chain.place(place.hooks, internal_swap_hook())
    hook.send("setUp", world.address(WETH), 100, 0)
    for _ in range(ROUTES // 2):
        hook.send("setTokens", bytes.fromhex(place.pool_id[2:]), int(10 ** rng.uniform(10, 22)))
        check_one_route(rng, world, market, read(world, place, {"rule": "flaunch"}))


def test_routes_through_pools_with_a_fee_in_one_token(fixture: ContractFixture, market: MarketState) -> None:
    rng = Random("fee in a token")
    world = fixture.copy()
    place = world.open_uniswap_v4("TKN", "USDC", 3_000, 60, DELI_HOOK, is_dynamic=True)
    hook = world.chain.place(place.hooks, fee_in_token_hook())
    key = (*place.tokens, DYNAMIC_FEE, place.tick_spacing, place.hooks)
    for _ in range(ROUTES // 2):
        hook.send("set", world.manager.address, key, rng.choice(place.tokens), rng.randrange(50_000))
        check_one_route(rng, world, market, read(world, place, {"rule": "deli"}))
