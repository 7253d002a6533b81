"""Share tokens lose one or two units in a transfer: the router accepts that loss and no larger one."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.model.market import MarketState
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.swap_type import SwapType
from swapcli.testing.evm import RevertedError
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.odd_tokens import STETH_POT, WHOLE, add_token, forget_tokens, open_curve, open_pair, open_solidly
from tests.chain.random_routes import random_route
from tests.examples import examples
from tests.payload.evm.router.driving import ALICE, BOB, CAROL, NATIVE, Built, build, error, single

MAX_ROUNDING = 2
POTS = (STETH_POT, 10**30, 7 * 10**29 + 1)
"""The value of 10^30 shares in units: more than 10^30, exactly 10^30, less."""
FAMILIES = ("uniswapV2", "solidlyVolatile", "solidlyStable", "curveFi")


@pytest.fixture(params=POTS, ids=["above one", "one", "below one"])
def odd(fixture: ContractFixture, request: pytest.FixtureRequest) -> Iterator[ContractFixture]:
    """The contracts with a share token, ODD, in a pool with DAI of every family that accepts one."""
    try:
        add_token(fixture, "ShareCoin", request.param)
        open_pair(fixture, "ODD")
        open_solidly(fixture, "ODD", "DAI", stable=False)
        open_solidly(fixture, "ODD", "DAI", stable=True)
        open_curve(fixture, "ODD", "DAI")
        yield fixture
    finally:
        forget_tokens(fixture, "ODD")


def provide(fixture: ContractFixture, symbol: str, amount: int) -> int:
    """Give Alice about `amount` and approve it; return her balance, at most `amount`."""
    fixture.give(symbol, ALICE, amount + MAX_ROUNDING)
    fixture.contracts[symbol].send("approve", fixture.router.address, 2**256 - 1, sender=ALICE)
    return min(amount, fixture.balance(fixture.address(symbol), ALICE))


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


def check_swap(fixture: ContractFixture, market: MarketState, built: Built, amount: int) -> int:
    """Check that the recipient gets the quoted amount up to rounding and that no other balance changes."""
    route = built.call.route
    router = fixture.router.address
    left = {token: fixture.balance(token, router) for token in (*market.tokens, NATIVE)}
    before, had = fixture.balance(route.token_out, BOB), fixture.balance(route.token_in, ALICE)
    fixture.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
    received = fixture.balance(route.token_out, BOB) - before
    # At prices near one, two units of a hop's input buy at most two units of its output.
    slack = MAX_ROUNDING * (2 + 2 * len(built.call.swaps))
    assert built.replay.amount_out - slack <= received <= built.replay.amount_out + slack
    assert abs(had - fixture.balance(route.token_in, ALICE) - amount) <= MAX_ROUNDING
    for token, found in left.items():
        is_odd = token == fixture.address("ODD")
        assert abs(fixture.balance(token, router) - found) <= (MAX_ROUNDING if is_odd else 0)
    return received


@settings(max_examples=examples(6, full=60))
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


def test_leftovers_of_earlier_swaps_do_not_stop_later_ones(odd: ContractFixture) -> None:
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
    too_high = build(market, single(pool.key, token, dai), amount, min_received=received + 1)
    with pytest.raises(RevertedError) as caught:
        odd.chain.send(too_high.payload.to, bytes.fromhex(too_high.payload.calldata[2:]), sender=ALICE)
    assert caught.value.data == error("ReceivedTooLittle(uint256,uint256)", received, received + 1)


def test_a_fee_of_three_units_is_refused_at_the_input(fixture: ContractFixture) -> None:
    """Two units are rounding, more is a fee; the minimum covers later losses."""
    try:
        fee = add_token(fixture, "FeeCoin", 0, 0, 3)
        pool = open_pair(fixture, "ODD")
        read = read_market(fixture)
        amount = provide(fixture, "ODD", 10**6)
        built = build(read, single(pool.key, fee.address, fixture.address("DAI")), amount, min_received=0)
        with pytest.raises(RevertedError) as caught:
            fixture.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
        assert caught.value.data == error("InputFallsShort(uint256,uint256)", amount - 3, amount)
    finally:
        forget_tokens(fixture, "ODD")


def test_a_pair_pays_for_the_amount_left_after_a_sell_tax(fixture: ContractFixture) -> None:
    """The program never quotes such a token; a call built by hand still executes and pays less."""
    try:
        fee = add_token(fixture, "FeeCoin", 0, 20_000, 0)
        place = open_pair(fixture, "ODD")
        fee.send("setPool", place.contract.address)
        market = read_market(fixture)
        amount = provide(fixture, "ODD", WHOLE // 1000)
        built = build(market, single(place.key, fee.address, fixture.address("DAI")), amount, min_received=0)
        fixture.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
        expected, _ = market.pools[place.key].swap(
            fee.address, fixture.address("DAI"), amount - amount * 20_000 // 10**6
        )
        assert fixture.balance(fixture.address("DAI"), BOB) == expected
        assert built.call.route.swap_type is SwapType.TOKEN_TO_TOKEN
    finally:
        forget_tokens(fixture, "ODD")
