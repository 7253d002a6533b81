"""`swapBefore`: as `swap` and `swapIntegrator`, until its deadline."""

from __future__ import annotations

import pytest

from swapcli.core.model.market import MarketState
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.evm import build_transaction
from swapcli.testing.evm import Chain, RevertedError
from tests.chain.contract_fixture import ContractFixture
from tests.payload.evm.router.driving import ALICE, CAROL, Built, build, carry_out, error, refusal, single, weth
from tests.payload.evm.router.test_families import pool_of
from tests.payload.evm.router.test_permit import NOW_S

SHARES = Integrator(CAROL, 100, 0)


@pytest.fixture(params=[None, SHARES], ids=["alone", "with an integrator"])
def built(request: pytest.FixtureRequest, fixture: ContractFixture, market: MarketState) -> Built:
    usdc = fixture.address("USDC")
    route = single(pool_of(market, "uniswapV3", weth(fixture), usdc), usdc, weth(fixture))
    return build(market, route, 2_000_000_000, integrator=request.param, min_received=0)


def until(built: Built, market: MarketState, deadline_s: int) -> UnsignedTransaction:
    return build_transaction(built.call._replace(deadline_s=deadline_s), market.network, built.payload.to)


def test_a_swap_before_its_deadline_pays_as_without(
    fixture: ContractFixture, market: MarketState, built: Built
) -> None:
    with fixture.chain.revert_after():
        paid = carry_out(fixture, built.payload)
        earned = fixture.balance(weth(fixture), CAROL)
    assert paid > 0
    assert bool(earned) == bool(built.call.integrator_data)
    assert carry_out(fixture, until(built, market, NOW_S)) == paid
    assert fixture.balance(weth(fixture), CAROL) == earned


def test_a_swap_after_its_deadline_reverts(fixture: ContractFixture, market: MarketState, built: Built) -> None:
    late = until(built, market, NOW_S - 1)
    assert refusal(fixture, late) == error("DeadlineExpired()")
    assert isinstance(fixture.chain, Chain)
    fixture.chain.set_time(NOW_S - 1)
    try:
        assert carry_out(fixture, late) > 0
    finally:
        fixture.chain.set_time(NOW_S)


@pytest.mark.parametrize("deadline_s", [0, 1, NOW_S - 1])
def test_a_deadline_of_zero_has_passed_as_any_other(fixture: ContractFixture, built: Built, deadline_s: int) -> None:
    route, swaps = tuple(built.call.route), [tuple(swap)[:7] for swap in built.call.swaps]
    with pytest.raises(RevertedError) as caught:
        fixture.router.send("swapBefore", deadline_s, route, swaps, built.call.integrator_data, sender=ALICE)
    assert caught.value.data == error("DeadlineExpired()")


def test_the_integrator_of_a_timed_swap_keeps_to_the_limits(
    fixture: ContractFixture, market: MarketState, built: Built
) -> None:
    word = 10**4
    data = bytes.fromhex(ALICE[2:].rjust(64, "0")) + word.to_bytes(32) + bytes(32)
    greedy = built.call._replace(integrator_data=data, deadline_s=NOW_S)
    payload = build_transaction(greedy, market.network, built.payload.to)
    assert refusal(fixture, payload) == error("FeePercentageExceedsMaximum()")
