"""Which gas, fees and nonces of a node are refused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.model.signing_figures import NodeFigures
from swapcli.payload.signing.signing_limits import FeeLimits, LimitedGas, find_excesses

GWEI = 10**9
HONEST = NodeFigures(latest_nonce=7, pending_nonce=9, usual_price_wei=GWEI)
NOTHING = NodeFigures()
SWAP = LimitedGas("swap", 240_000, 200_000)
LIMITS = FeeLimits(50.0, 2_000 / 10**18)


def excesses(
    node: NodeFigures = HONEST,
    second: NodeFigures = NOTHING,
    gas: Sequence[LimitedGas] = (SWAP,),
    max_fee_wei: int | None = 3 * GWEI,
    limits: FeeLimits = LIMITS,
) -> list[str]:
    return list(find_excesses(node, second, gas, max_fee_wei, limits))


def test_usual_figures_have_no_excess() -> None:
    assert excesses() == excesses(second=HONEST) == excesses(NOTHING, NOTHING, (), None) == []


@pytest.mark.parametrize(("nonce", "is_refused"), [(7, False), (23, False), (24, True), (6, True), (2**60, True)])
def test_a_nonce_is_at_most_16_above_the_mined_ones(nonce: int, is_refused: bool) -> None:
    assert bool(excesses(HONEST._replace(pending_nonce=nonce))) == is_refused


@pytest.mark.parametrize("nonce", [8, 10, 0])
def test_a_second_node_may_deny_a_nonce(nonce: int) -> None:
    found = excesses(second=HONEST._replace(pending_nonce=nonce))
    assert found == [f"the nonce is 9, but a second node reports {nonce}"]


@pytest.mark.parametrize(("max_fee_wei", "count"), [(10 * GWEI, 0), (10 * GWEI + 1, 1), (1_000 * GWEI, 2)])
def test_a_price_is_at_most_ten_times_the_usual_one(max_fee_wei: int, count: int) -> None:
    assert len(excesses(max_fee_wei=max_fee_wei)) == count


def test_a_second_node_may_deny_a_price() -> None:
    lying = HONEST._replace(usual_price_wei=100 * GWEI)
    found = excesses(lying, HONEST, max_fee_wei=11 * GWEI)
    assert found == ["the maximum fee is 11 gwei per unit of gas, but a second node paid about 1 gwei"]


@pytest.mark.parametrize(("limit", "is_refused"), [(600_000, False), (600_001, True), (66_667, False), (66_666, True)])
def test_gas_is_near_our_own_estimate(limit: int, is_refused: bool) -> None:
    assert bool(excesses(gas=(LimitedGas("swap", limit, 200_000),))) == is_refused


def test_transactions_cost_at_most_the_setting_together() -> None:
    approval, swap = LimitedGas("approve", 2_499_999, None), LimitedGas("swap", 2_499_999, None)
    assert excesses(gas=(approval, swap), max_fee_wei=5 * GWEI) == []
    found = excesses(gas=(approval, swap, approval), max_fee_wei=5 * GWEI)
    assert found == ["the gas may cost $75.00, above $50.00 (setting max_fee_usd)"]


def test_the_price_of_the_catalogue_counts_where_a_wei_has_none() -> None:
    lying, limits = HONEST._replace(usual_price_wei=10**6 * GWEI), FeeLimits(50.0, None, GWEI)
    assert excesses(lying, max_fee_wei=100 * GWEI, limits=limits) == []
    found = excesses(lying, max_fee_wei=101 * GWEI, limits=limits)
    assert found == ["the maximum fee is 101 gwei per unit of gas, but the network's usual price is 1 gwei"]
