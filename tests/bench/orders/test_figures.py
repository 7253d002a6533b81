"""Gains are net of gas, in basis points and dollars, and times are ratios."""

from __future__ import annotations

import pytest

from bench.orders.figures import Times, compare, input_leads
from bench.orders.in_turn import Quotes, Row
from tests.bench.orders.figures import WORLD, quotes, routed


def test_times_are_percentiles_by_the_nearest_rank() -> None:
    rows = [routed(100, ms=float(ms)) for ms in range(1, 101)]
    assert Times.of(rows) == (50.5, 50.0, 95.0, 100.0)
    assert Times.of(rows[:1]) == (1.0, 1.0, 1.0, 1.0)
    assert Times(3.0, 2.0, 8.0, 9.0).ratios_to(Times(1.0, 4.0, 2.0, 3.0)) == (3.0, 0.5, 4.0, 3.0)


def test_gas_counts_at_the_prices_of_our_quote() -> None:
    """A unit of gas costs 1e-9 ether of 2,000 dollars at 1 gwei: 2e-6 dollars, or two units of a millionth dollar."""
    ours, theirs = routed(1_000_000, gas_units=100_000), routed(1_000_000, gas_units=150_000)
    found = compare(quotes([ours], [theirs], gas_gwei=1.0), 1)
    assert found.leads[0].usd == pytest.approx(0.1)
    assert found.leads[0].bps == pytest.approx(1_000.0)
    assert compare(quotes([ours], [theirs], gas_gwei=0.0), 1).usd == 0.0


def test_less_than_a_cent_or_a_twentieth_of_a_basis_point_does_not_count() -> None:
    small, large = 10_000, 10**12  # a cent, and a million dollars
    pairs = [(small, small // 2), (large, large - 10**6), (large, large - 10**8), (large - 10**8, large)]
    found = compare(quotes(*([routed(pair[k]) for pair in pairs] for k in (0, 1)), gas_gwei=0.0), 1)
    assert [lead.number for lead in found.leads if lead.is_ahead] == [2]
    assert [lead.number for lead in found.behind] == [3]
    assert found.worst_bps == pytest.approx(-1.0)


def test_lost_and_found_orders_have_no_lead() -> None:
    none = Row(1.0, 0, 0, 0, 0.0, 0.0)
    found = compare(quotes([none, routed(5), none], [routed(5), none, none], gas_gwei=0.0), 1)
    assert (found.lost, found.found, found.leads, found.mean_bps, found.worst_bps) == (1, 1, [], 0.0, 0.0)


def test_exact_output_is_ahead_with_less_input() -> None:
    reverse = tuple(order._replace(reverse=True) for order in WORLD.orders[:1])
    ours, theirs = routed(1_000_000, amount_in=999_000), routed(1_000_000, amount_in=1_000_000)
    found = compare(Quotes(WORLD, 0.0, reverse, [[ours], [theirs]]), 1)
    assert found.leads[0][1:] == pytest.approx((10.0, 0.001))


def test_inputs_of_exact_output_are_compared_with_those_of_the_forward_search() -> None:
    none = Row(1.0, 0, 0, 0, 0.0, 0.0)
    forward = quotes([none, routed(5, amount_in=10**7), routed(5, amount_in=10**7)], gas_gwei=0.0)
    exact = quotes([routed(5, amount_in=10**7 + 10**5), routed(5, amount_in=10**7 - 1)], gas_gwei=0.0)
    leads = input_leads(forward, exact)
    assert [(lead.number, lead.is_behind) for lead in leads] == [(1, True), (2, False)]
    assert leads[0].bps == pytest.approx(-100.0)
