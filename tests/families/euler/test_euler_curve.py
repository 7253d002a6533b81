"""The curve of EulerSwap: both directions agree, and both versions are as the whitepaper's equation to the unit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.euler.euler_curve import NO_RESERVE, RESERVE_BITS, Half, reserve_above, reserve_below

RESERVES = st.integers(10**3, 10**27)
HALVES = st.builds(
    Half, RESERVES, RESERVES, st.integers(1, 10**24), st.integers(1, 10**24),
    st.one_of(st.just(0), st.just(WAD), st.integers(0, WAD)),
)  # fmt: skip
VERSIONS = (1, 2)


def exact(half: Half, x: int) -> Fraction:
    """Return y0 + (px / py) (x0 - x) (c + (1 - c) x0 / x)."""
    c = Fraction(half.concentration, WAD)
    return half.y0 + Fraction(half.price_x, half.price_y) * (half.x0 - x) * (c + (1 - c) * Fraction(half.x0, x))


@given(half=HALVES, part=st.floats(1e-6, 1.0))
def test_the_reserve_above_is_the_equation_rounded_up(half: Half, part: float) -> None:
    """The first version rounds twice, the second one once."""
    x = max(1, int(half.x0 * part))
    expected = exact(half, x)
    first = reserve_above(half, x, version=1)
    assert expected <= first < expected + 1 + Fraction(1, half.price_y)
    second = reserve_above(half, x, version=2)
    if second != NO_RESERVE:
        assert expected <= second < expected + 1


@pytest.mark.parametrize("version", VERSIONS)
@given(half=HALVES, part=st.floats(1e-6, 1.0))
def test_the_reserve_below_is_the_inverse_a_few_units_above(version: int, half: Half, part: float) -> None:
    """It never is less than the least reserve that stays on the curve; of large ones a few digits are lost."""
    y = reserve_above(half, max(1, int(half.x0 * part)), version=version)
    assume(y < 1 << RESERVE_BITS)
    try:
        x = reserve_below(half, y, version=version)
    except SwapReverts:
        assume(False)
    assert 0 <= x <= half.x0
    if x:
        assert reserve_above(half, x, version=version) <= y


def test_by_hand() -> None:
    """At half of an equilibrium of 10^6 and equal prices: 10^6 more as a product, half of that as a sum."""
    for concentration, more in ((0, 10**6), (WAD, 500_000), (WAD // 2, 750_000)):
        half = Half(10**6, 2 * 10**6, 10**18, 10**18, concentration)
        for version in VERSIONS:
            assert reserve_above(half, 500_000, version=version) == 2 * 10**6 + more
            assert reserve_below(half, 2 * 10**6 + more, version=version) - 500_000 in {0, 1, 2}


def test_what_no_reserve_reaches() -> None:
    half = Half(10**6, 10**6, 10**18, 10**18, 0)
    assert reserve_above(half, 0, version=2) == NO_RESERVE
    assert reserve_above(half._replace(concentration=WAD), 0, version=2) == 2 * 10**6
    assert reserve_above(half._replace(price_x=10**24, price_y=1), 1, version=2) == NO_RESERVE
    with pytest.raises(SwapReverts, match="no point at a reserve of zero"):
        reserve_above(half, 0, version=1)
    with pytest.raises(SwapReverts, match="overflows"):
        reserve_above(half._replace(x0=1 << 111, price_x=10**24), 1, version=1)
    with pytest.raises(SwapReverts, match="overflows"):
        reserve_below(half._replace(price_x=1, price_y=10**25), 1 << 113, version=1)
    with pytest.raises(SwapReverts, match="concentration of zero"):
        reserve_below(half._replace(x0=0), half.y0, version=1)
    assert reserve_below(half._replace(x0=0), half.y0, version=2) == 0
