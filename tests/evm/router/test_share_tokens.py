"""Tokens that keep shares lose a unit or two a transfer: the router lets them, and gives away no more than that."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.model.market import Market
from swapcli.model.swap_terms import Integrator
from swapcli.model.transaction import SwapType
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.odd_tokens import STETH_POT, WHOLE, add_token, forget_tokens, open_curve, open_pair, open_solidly
from tests.chain.random_routes import random_route
from tests.contracts.evm import RevertedError
from tests.evm.router.driving import ALICE, BOB, CAROL, NATIVE, Built, build, error, single

MAX_ROUNDING = 2
POTS = (STETH_POT, 10**30, 7 * 10**29 + 1)
"""What 10^30 shares are worth: more than as many units, as many, less."""
FAMILIES = ("uniswapV2", "solidlyVolatile", "solidlyStable", "curveFi")


@pytest.fixture(params=POTS, ids=["above one", "one", "below one"])
def odd(world: ContractFixture, request: pytest.FixtureRequest) -> Iterator[ContractFixture]:
    """The world with such a token, ODD, in a pool of every family that can hold one, with DAI."""
    try:
        add_token(world, "ShareCoin", request.param)
        open_pair(world, "ODD")
        open_solidly(world, "ODD", "DAI", stable=False)
        open_solidly(world, "ODD", "DAI", stable=True)
        open_curve(world, "ODD", "DAI")
        yield world
    finally:
        forget_tokens(world, "ODD")


def provide(world: ContractFixture, symbol: str, amount: int) -> int:
    """Alice holds about that much and approves all; what she really holds of it, no more than `amount`."""
    world.give(symbol, ALICE, amount + MAX_ROUNDING)
    world.contracts[symbol].send("approve", world.router.address, 2**256 - 1, sender=ALICE)
    return min(amount, world.balance(world.address(symbol), ALICE))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("is_sold", [True, False])
def test_every_family_that_accepts_share_tokens_swaps_them(odd: ContractFixture, family: str, is_sold: bool) -> None:
    market = read_market(odd)
    sold, bought = ("ODD", "DAI") if is_sold else ("DAI", "ODD")
    pool = next(each for each in market.pools.values() if each.protocol == family and odd.address("ODD") in each.tokens)
    rng = Random(f"{family} {is_sold}")
    for _ in range(8):
        amount = int(10 ** rng.uniform(6, 23))
        with odd.chain.revert_after():
            amount = provide(odd, sold, amount)
            route = single(pool.key, odd.address(sold), odd.address(bought))
            check_swap(odd, market, build(market, route, amount, min_received=0), amount)


def check_swap(world: ContractFixture, market: Market, built: Built, amount: int) -> int:
    """What arrives is what was quoted but for the rounding, and nothing else has moved."""
    route = built.call.route
    router = world.router.address
    left = {token: world.balance(token, router) for token in (*market.tokens, NATIVE)}
    before, had = world.balance(route.token_out, BOB), world.balance(route.token_in, ALICE)
    world.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
    received = world.balance(route.token_out, BOB) - before
    # Two units of each hop's input are worth at most as many of its output, at prices near one.
    slack = MAX_ROUNDING * (2 + 2 * len(built.call.swaps))
    assert built.replay.amount_out - slack <= received <= built.replay.amount_out + slack
    assert abs(had - world.balance(route.token_in, ALICE) - amount) <= MAX_ROUNDING
    for token, found in left.items():
        is_odd = token == world.address("ODD")
        assert abs(world.balance(token, router) - found) <= (MAX_ROUNDING if is_odd else 0)
    return received


@settings(max_examples=60)
@given(seed=st.integers(0, 2**64), pot=st.integers(10**29, 2 * 10**30))
def test_random_share_token_routes_settle_at_any_share_value(shared: ContractFixture, seed: int, pot: int) -> None:
    rng = Random(seed)
    with shared.chain.revert_after():
        try:
            add_token(shared, "ShareCoin", pot)
            open_pair(shared, "ODD", "DAI")
            open_pair(shared, "ODD", "TKN")
            open_curve(shared, "ODD", "DAI")
            market = read_market(shared)
            odd, dai, tkn = map(shared.address, ("ODD", "DAI", "TKN"))
            ends = rng.choice([(odd, dai), (dai, odd), (tkn, dai), (odd, tkn), (tkn, odd)])
            pools = {key: pool for key, pool in market.pools.items() if odd in pool.tokens}
            amount = provide(shared, shared.symbol(ends[0]), rng.randint(10**9, 10**22))
            route = random_route(rng, pools, *ends)
            check_swap(shared, market, build(market, route, amount, min_received=0), amount)
        finally:
            forget_tokens(shared, "ODD")


def test_what_earlier_swaps_left_behind_does_not_stop_later_ones(odd: ContractFixture) -> None:
    for turn in range(20):
        sold, bought = ("ODD", "DAI") if turn % 2 else ("DAI", "ODD")
        market = read_market(odd)
        pool = next(each for each in market.pools.values() if odd.address("ODD") in each.tokens)
        amount = provide(odd, sold, 10**20 + 7_919 * turn)
        route = single(pool.key, odd.address(sold), odd.address(bought))
        check_swap(odd, market, build(market, route, amount, min_received=0), amount)


def test_an_integrator_earns_on_share_tokens_too(odd: ContractFixture) -> None:
    market = read_market(odd)
    dai, token = odd.address("DAI"), odd.address("ODD")
    pool = next(each for each in market.pools.values() if token in each.tokens)
    amount = provide(odd, "DAI", 10**21 + 1)
    integrator = Integrator(CAROL, fee_bps=30)
    built = build(market, single(pool.key, dai, token), amount, min_received=0, integrator=integrator)
    odd.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
    fee = built.replay.amount_out * 30 // 10_000
    assert abs(odd.balance(token, CAROL) - fee) <= 4
    assert abs(odd.balance(token, BOB) - (built.replay.amount_out - fee)) <= 4
    assert odd.balance(token, odd.router.address) <= MAX_ROUNDING


def test_the_minimum_holds_for_share_tokens_to_the_unit(odd: ContractFixture) -> None:
    market = read_market(odd)
    dai, token = odd.address("DAI"), odd.address("ODD")
    pool = next(each for each in market.pools.values() if token in each.tokens)
    amount = provide(odd, "ODD", 10**21 + 1)
    with odd.chain.revert_after():
        received = check_swap(odd, market, build(market, single(pool.key, token, dai), amount, min_received=0), amount)
    least = build(market, single(pool.key, token, dai), amount, min_received=received + 1)
    with pytest.raises(RevertedError) as caught:
        odd.chain.send(least.payload.to, bytes.fromhex(least.payload.calldata[2:]), sender=ALICE)
    assert caught.value.data == error("ReceivedTooLittle(uint256,uint256)", received, received + 1)


def test_a_fee_of_three_units_is_refused_at_the_input(world: ContractFixture) -> None:
    """Two are rounding, more is a fee; the minimum judges what is lost later."""
    try:
        fee = add_token(world, "FeeCoin", 0, 0, 3)
        pool = open_pair(world, "ODD")
        read = read_market(world)
        amount = provide(world, "ODD", 10**6)
        built = build(read, single(pool.key, fee.address, world.address("DAI")), amount, min_received=0)
        with pytest.raises(RevertedError) as caught:
            world.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
        assert caught.value.data == error("InputFallsShort(uint256,uint256)", amount - 3, amount)
    finally:
        forget_tokens(world, "ODD")


def test_a_pair_pays_for_what_reached_it_when_a_sale_is_taxed(world: ContractFixture) -> None:
    """Such a token is never quoted; a call that somebody makes by himself is still carried out, for less."""
    try:
        fee = add_token(world, "FeeCoin", 0, 20_000, 0)
        place = open_pair(world, "ODD")
        fee.send("setPool", place.contract.address)
        market = read_market(world)
        amount = provide(world, "ODD", WHOLE // 1000)
        built = build(market, single(place.key, fee.address, world.address("DAI")), amount, min_received=0)
        world.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
        arrived, _ = market.pools[place.key].swap(fee.address, world.address("DAI"), amount - amount * 20_000 // 10**6)
        assert world.balance(world.address("DAI"), BOB) == arrived
        assert built.call.route.swap_type is SwapType.TOKEN_TO_TOKEN
    finally:
        forget_tokens(world, "ODD")
