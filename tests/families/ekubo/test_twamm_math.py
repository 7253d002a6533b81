"""The exponential and the price of two sales are the contract's: figures of its own tests, and what must hold of any.

Figures are from `exp_test.cairo` and `twamm_test.cairo` of EkuboProtocol/starknet-contracts, commit a5b2c7fc.
"""

from __future__ import annotations

from math import exp as float_exp

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import SwapReverts
from swapcli.families.ekubo.ekubo_tick_math import Q128, STARKNET_TICKS
from swapcli.families.ekubo.twamm_math import exp, next_sqrt_ratio

POWERS = {
    0: Q128,
    0x1: 340282366920938463481821351505477763073,
    0x10: 340282366920938463758522512611121037439,
    0x10000000: 340282366925890223620552157328383847083,
    0x100000000000000: 341614194448858001518548349210986147431,
    0x8000000000000000: 561030776386736916030812855022080227761,
    0xE000000000000000: 816294962979286131831249594449188333552,
    0x10000000000000000: 924983374546220337150911035843336795078,
}
PRODUCTION = (286363514177267035440548892163466107483369185, 130385243018985227)
"""A price and a liquidity of mainnet, of which the contract's tests say "production issue"."""


@pytest.mark.parametrize(("exponent", "expected"), POWERS.items())
def test_powers_are_those_of_the_contract(exponent: int, expected: int) -> None:
    assert exp(exponent) == expected


@given(st.integers(0, 88 << 64))
def test_powers_are_exponentials_and_never_fall(exponent: int) -> None:
    assert exp(exponent) / Q128 == pytest.approx(float_exp(exponent / 2**64), rel=1e-12)
    assert Q128 <= exp(exponent) <= exp(exponent + 1)


def test_an_exponent_beyond_the_contracts_words_reverts() -> None:
    with pytest.raises(SwapReverts):
        exp(90 << 64)


@pytest.mark.parametrize(
    ("sqrt_ratio", "liquidity", "rates", "seconds", "fee_x128", "expected"),
    [
        (
            *PRODUCTION,
            (1917585044284, 893194653345642013054241177),
            360,
            0xCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC,
            286548851173862825560992588551104808498771331,
        ),
        (Q128, 1 << 64, (1 << 32, 1 << 32), 1, 0, Q128),
        (Q128, 10**22, (5_000 << 32, 500 << 32), 1, 0, 340282366920938463305873545376503282647),
        (Q128, 10, (5_000 << 32, 500 << 32), 1, 0, 107606732706330320687810575726449262521),
    ],
)
def test_prices_are_those_of_the_contracts_tests(
    sqrt_ratio: int, liquidity: int, rates: tuple[int, int], seconds: int, fee_x128: int, expected: int
) -> None:
    assert next_sqrt_ratio(sqrt_ratio, liquidity, rates, seconds, fee_x128) == expected


rate = st.integers(1, 1 << 80)


@given(
    st.integers(STARKNET_TICKS.min_ratio, STARKNET_TICKS.max_ratio - 1),
    st.integers(0, 1 << 100),
    st.tuples(rate, rate),
    st.integers(0, 1 << 20),
    st.integers(0, Q128 - 1),
)
def test_the_price_moves_towards_the_ratio_of_the_rates(
    sqrt_ratio: int, liquidity: int, rates: tuple[int, int], seconds: int, fee_x128: int
) -> None:
    """But for the contract's rounding, which leads back.

    Factor and product are rounded by a unit each. On the way down, so is the divisor of the factor, which is at least
    target / ratio.
    """
    try:
        target = next_sqrt_ratio(sqrt_ratio, 0, rates, 0, fee_x128)
    except SwapReverts:
        assume(False)
    down = sqrt_ratio > target
    back = 2 + 2 * target // Q128 + (4 * sqrt_ratio**2 // (target * Q128) if down else 0)
    try:
        after = next_sqrt_ratio(sqrt_ratio, liquidity, rates, seconds, fee_x128)
    except SwapReverts:
        assert min(sqrt_ratio - STARKNET_TICKS.min_ratio, STARKNET_TICKS.max_ratio - sqrt_ratio) <= back
        return
    if down:
        assert target <= after <= sqrt_ratio + back
    else:
        assert sqrt_ratio - back <= after <= max(target, sqrt_ratio)


@pytest.mark.parametrize("rates", [(1, (1 << 128) - 1), ((1 << 128) - 1, 1)])
def test_a_price_out_of_range_reverts(rates: tuple[int, int]) -> None:
    with pytest.raises(SwapReverts, match="range"):
        next_sqrt_ratio(Q128, 0, rates, 1, 0)
