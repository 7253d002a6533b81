"""Mined swaps: their events imply one of the deployment's fees, and the pool with it gives them back."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.recorded.mined import FEE_TOLERANCE_PPM, Fields, MinedSwap, catalogue_fees, mined_swaps, recorded_events

SWAPS = list(mined_swaps())
parametrize_swaps = pytest.mark.parametrize(("recorded", "swap"), SWAPS, ids=[each[1].pool[:10] for each in SWAPS])


def test_swaps_without_reserves_are_not_explained() -> None:
    # A V2 event has amounts only: any reserves and fee fit them.
    assert [each["pool"] for each in recorded_events() if each["kind"] == "v2"] == [
        "0x293dab9854ac5a7db180da988eb393df491352f0",
        "0x88a43bbdf9d098eec7bceda4e2494615dfd9bb9c",
    ]
    assert len(SWAPS) == len(recorded_events()) - 2 == 14


def whole_fee_ppm(swap: MinedSwap) -> int:
    return round(swap.implied_fee_ppm())


@parametrize_swaps
def test_the_implied_fee_is_one_of_the_deployment(recorded: Fields, swap: MinedSwap) -> None:
    fee_ppm = whole_fee_ppm(swap)
    assert abs(swap.implied_fee_ppm() - fee_ppm) <= FEE_TOLERANCE_PPM
    if fee_ppm not in catalogue_fees(recorded):
        assert recorded["dynamic_fee"]
    if recorded["kind"] == "v4":
        assert fee_ppm == recorded["event"][5]


@parametrize_swaps
def test_the_pool_with_that_fee_gives_the_swap_back(recorded: Fields, swap: MinedSwap) -> None:
    amount_out, after = swap.swap_before(whole_fee_ppm(swap))
    per_output, per_price = swap.rounding()
    assert abs(amount_out - swap.amount_out) <= per_output
    assert abs(after.sqrt_price_x96 - swap.sqrt_price_after_x96) <= per_price
    assert after.tick == recorded["event"][4]
    assert after.liquidity == swap.liquidity


@parametrize_swaps
def test_another_fee_does_not_give_the_swap_back(recorded: Fields, swap: MinedSwap) -> None:
    # So the comparison above can fail: one ppm more or less moves the price after by more than rounding does.
    del recorded
    for fee_ppm in (whole_fee_ppm(swap) - 1, whole_fee_ppm(swap) + 1):
        after = swap.swap_before(fee_ppm)[1]
        moved = Fraction(abs(after.sqrt_price_x96 - swap.sqrt_price_after_x96))
        assert moved > swap.rounding()[1]
