"""The polynomials that stand for a curve are close to it, concave, and the same in any order of searches."""

from __future__ import annotations

from itertools import pairwise
from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.pool import Pool
from swapcli.families.hull_curve import HullCurve
from swapcli.families.trade_pieces import CurvePoint, evaluate_piece, fit_piece
from tests.families.random_pools import crypto_pools, stableswap_pools

pools = st.one_of(stableswap_pools(), crypto_pools())
drops = st.lists(st.floats(-6.0, 0.3).map(lambda exponent: 10.0**exponent), min_size=1, max_size=8)


def hyperbola(rate: float) -> CurvePoint:
    """Return the trade of a pool with both reserves 1 and no fee."""
    root = sqrt(rate)
    return CurvePoint(rate, 1.0 / root - 1.0, 1.0 - root, 0.5 / root)


@given(st.floats(0.01, 1.0), st.floats(0.001, 0.06), st.floats(0.3, 0.7), st.floats(0.0, 1.0))
def test_a_piece_gives_the_trades_between_its_ends(top: float, width: float, middle: float, place: float) -> None:
    ends = [hyperbola(top * (1.0 - width * part)) for part in (0.0, middle, 1.0)]
    piece = fit_piece(*ends)
    assert piece is not None
    expected = hyperbola(top * (1.0 - width * place))
    sold, bought, slope = evaluate_piece(piece, expected.rate)
    assert sold == pytest.approx(expected.sold, rel=1e-9, abs=1e-15)
    assert bought == pytest.approx(expected.bought, rel=1e-9, abs=1e-15)
    assert slope == pytest.approx(expected.slope, rel=1e-7)


@given(st.floats(0.001, 0.06), st.lists(st.floats(0.0, 1.0), min_size=3, max_size=9))
def test_a_piece_is_concave_and_pays_its_own_rate(width: float, places: list[float]) -> None:
    piece = fit_piece(*(hyperbola(1.0 - width * part) for part in (0.0, 0.5, 1.0)))
    assert piece is not None
    rates = sorted((1.0 - width * place for place in places), reverse=True)
    trades = [(*evaluate_piece(piece, rate)[:2], rate) for rate in rates]
    for (sold, bought, rate), (more, gain, lower) in pairwise(trades):
        assert lower * (more - sold) - 1e-15 <= gain - bought <= rate * (more - sold) + 1e-15


@given(st.floats(1e-3, 0.1), st.sampled_from([0, 1, 2]))
def test_no_piece_stands_for_a_curve_with_a_kink(width: float, kinked: int) -> None:
    ends = [hyperbola(1.0 - width * part) for part in (0.0, 0.5, 1.0)]
    ends[kinked] = ends[kinked]._replace(slope=ends[kinked].slope * 1.01)
    assert fit_piece(*ends) is None


def test_no_piece_spans_a_rate_that_rises() -> None:
    first, middle, last = (hyperbola(rate) for rate in (1.0, 0.99, 0.98))
    assert fit_piece(first, middle, middle) is None
    assert fit_piece(middle, first, last) is None
    assert fit_piece(first, middle, last._replace(slope=0.0)) is None


@given(pools, drops)
def test_a_trade_does_not_depend_on_earlier_ones(pool: Pool, falls: list[float]) -> None:
    curve, other = (pool.curve(*pool.tokens[:2]) for _ in range(2))
    assert isinstance(curve, HullCurve)
    rates = [curve.start_rate * exp(-drop) for drop in falls]
    backwards = [other.trade_to_marginal_rate(rate) for rate in reversed(rates)]
    assert [curve.trade_to_marginal_rate(rate) for rate in rates] == backwards[::-1]
