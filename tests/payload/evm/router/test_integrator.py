"""Integrators get their exact share, users the rest, and the minimum applies after the share."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.market import MarketState
from swapcli.core.model.swap_terms import Integrator, after_fee
from swapcli.core.model.swap_type import SwapType
from swapcli.payload.evm import build_transaction
from swapcli.testing.evm import Chain, selector
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.random_routes import random_route
from tests.payload.evm.router.driving import (
    ALICE,
    BOB,
    CAROL,
    NATIVE,
    Built,
    build,
    carry_out,
    error,
    provide,
    refusal,
    single,
    weth,
)
from tests.payload.evm.router.test_families import pool_of

EVENT = "IntegratorFeeDistribution(address,uint256,uint256)"


def earning(
    fixture: ContractFixture,
    market: MarketState,
    integrator: Integrator,
    swap_type: SwapType,
    min_received: int | None = None,
    more: int = 0,
) -> Built:
    """Return a call that sells 2,000 dollars for WETH with an integrator; `more` is the output above the quote."""
    usdc = fixture.address("USDC")
    route = single(pool_of(market, "uniswapV3", weth(fixture), usdc), usdc, weth(fixture))
    built = build(market, route, 2_000_000_000, swap_type, integrator=integrator, min_received=min_received or 0)
    if not more:
        return built
    call = built.call._replace(route=built.call.route._replace(amount_out=built.replay.amount_out - more))
    return built._replace(payload=build_transaction(call, market.network, built.payload.to))


@pytest.mark.parametrize("swap_type", [SwapType.TOKEN_TO_TOKEN, SwapType.TOKEN_TO_NATIVE])
@given(fee_bps=st.integers(1, 500))
def test_a_fee_is_what_the_quote_says(
    fixture: ContractFixture, market: MarketState, swap_type: SwapType, fee_bps: int
) -> None:
    out_token = NATIVE if swap_type is SwapType.TOKEN_TO_NATIVE else weth(fixture)
    with fixture.chain.revert_after():
        quoted = earning(fixture, market, Integrator(CAROL, fee_bps=fee_bps), swap_type)
        left = after_fee(quoted.replay.amount_out, fee_bps)
        exact = earning(fixture, market, Integrator(CAROL, fee_bps=fee_bps), swap_type, left)
        before = fixture.balance(out_token, CAROL)
        assert carry_out(fixture, exact.payload) == left
        assert fixture.balance(out_token, CAROL) - before == quoted.replay.amount_out - left


@given(surplus_bps=st.integers(1, 5_000), more=st.integers(0, 10**17))
def test_a_surplus_share_applies_only_above_the_quote(
    fixture: ContractFixture, market: MarketState, surplus_bps: int, more: int
) -> None:
    with fixture.chain.revert_after():
        built = earning(fixture, market, Integrator(CAROL, surplus_bps=surplus_bps), SwapType.TOKEN_TO_TOKEN, more=more)
        earned = more * surplus_bps // 10_000
        assert carry_out(fixture, built.payload) == built.replay.amount_out - earned
        assert fixture.balance(weth(fixture), CAROL) == earned


def test_a_route_that_falls_short_of_its_quote_earns_no_surplus(fixture: ContractFixture, market: MarketState) -> None:
    promised = earning(fixture, market, Integrator(CAROL, surplus_bps=5_000), SwapType.TOKEN_TO_TOKEN)
    with fixture.chain.revert_after():
        carry_out(fixture, earning(fixture, market, Integrator(CAROL), SwapType.TOKEN_TO_TOKEN).payload)
        assert 0 < carry_out(fixture, promised.payload) < promised.replay.amount_out
        assert fixture.balance(weth(fixture), CAROL) == 0


def test_the_minimum_applies_after_the_fee(fixture: ContractFixture, market: MarketState) -> None:
    fee = Integrator(CAROL, fee_bps=500)
    out = earning(fixture, market, fee, SwapType.TOKEN_TO_TOKEN).replay.amount_out
    left = after_fee(out, 500)
    greedy = earning(fixture, market, fee, SwapType.TOKEN_TO_TOKEN, left + 1)
    assert refusal(fixture, greedy.payload) == error("ReceivedTooLittle(uint256,uint256)", left, left + 1)


def test_the_event_reports_both_recipients_and_amounts(fixture: ContractFixture, market: MarketState) -> None:
    assert isinstance(fixture.chain, Chain)
    built = earning(fixture, market, Integrator(CAROL, fee_bps=30), SwapType.TOKEN_TO_TOKEN)
    provide(fixture, built.payload)
    fixture.chain.send(built.payload.to, bytes.fromhex(built.payload.calldata[2:]), sender=ALICE)
    logs = [log for log in fixture.chain.logs if log[0] == fixture.router.address]
    received = fixture.balance(weth(fixture), BOB)
    ((_, topics, words),) = logs
    assert topics[0][:10] == "0x" + selector(EVENT).hex()
    assert int(topics[1], 16) == int(CAROL, 16)
    assert words == (built.replay.amount_out - received).to_bytes(32) + received.to_bytes(32)


def test_a_fee_on_a_split_route_is_taken_once(fixture: ContractFixture, market: MarketState) -> None:
    usdc, tkn = fixture.address("USDC"), fixture.address("TKN")
    route = random_route(Random(4), market.pools, usdc, tkn)
    built = build(market, route, 50_000_000_000, integrator=Integrator(CAROL, fee_bps=100), min_received=1)
    assert len(built.call.swaps) > 3
    assert carry_out(fixture, built.payload) == after_fee(built.replay.amount_out, 100)
    assert read_market(fixture).pools == {**market.pools, **built.replay.pools_after}
