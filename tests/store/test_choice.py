"""The sketch by which pools are chosen: bounded, and never without what an order must have."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from swapcli.selection.pool_choice import Link, Offer, choose

A, B, C, D = range(4)
EVERYTHING = 1_000


def cost_lists(low: float = 0.0, high: float = 0.1) -> st.SearchStrategy[list[tuple[float, float]]]:
    return st.lists(st.tuples(st.floats(low, high), st.floats(1e2, 1e8)), min_size=1, max_size=12)


def as_offers(found: list[tuple[float, float]], first: int = 0) -> list[Offer]:
    return sorted((cost, depth, first + k) for k, (cost, depth) in enumerate(found))


def optimum(offers: list[Offer], flow: float) -> float:
    """The cost of the last unit when `flow` goes through one pair, by bisection."""
    low, high = min(cost for cost, _, _ in offers), 1e9
    for _ in range(200):
        middle = (low + high) / 2
        carried = sum(depth * max(middle - cost, 0.0) for cost, depth, _ in offers)
        low, high = (middle, high) if carried < flow else (low, middle)
    return high


@given(cost_lists(), st.floats(1.0, 1e9))
def test_of_one_pair_all_pools_are_taken_that_the_order_uses(found: list[tuple[float, float]], flow: float) -> None:
    offers = as_offers(found)
    last = optimum(offers, flow)
    used = {pool for cost, _, pool in offers if cost < last - 1e-9}
    assert used <= choose({(A, B): offers}, (A, B), flow, 6, EVERYTHING)


@given(cost_lists(0.0, 0.02), cost_lists(0.0, 0.02), cost_lists(0.0, 0.02), st.floats(1.0, 1e7))
def test_pools_beside_a_detour_are_taken_if_either_way_alone_would_use_them(
    direct: list[tuple[float, float]], first: list[tuple[float, float]], second: list[tuple[float, float]], flow: float
) -> None:
    offers = {(A, B): as_offers(direct), (A, C): as_offers(first, 100), (C, B): as_offers(second, 200)}
    chosen = choose(offers, (A, B), flow, 6, EVERYTHING)
    straight = offers[A, B][0][0]
    around = offers[A, C][0][0] + offers[C, B][0][0]
    best = [offers[A, B][0][2]] if straight < around else [offers[A, C][0][2], offers[C, B][0][2]]
    assert chosen.issuperset(best)


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), cost_lists(), max_size=8), st.integers(1, 30))
def test_no_more_pools_than_the_limit_and_only_such_as_were_offered(
    found: dict[Link, list[tuple[float, float]]], limit: int
) -> None:
    links = [link for link in found if link[0] != link[1]]
    offers = {link: as_offers(found[link], 100 * k) for k, link in enumerate(links)}
    chosen = choose(offers, (A, B), 1e5, 6, limit)
    assert len(chosen) <= limit
    assert chosen <= {pool for of_link in offers.values() for _, _, pool in of_link}


def test_pools_that_cost_more_than_the_whole_order_by_another_way_are_left_out() -> None:
    cheap, dear = [(0.001, 1e9, 1)], [(0.05, 1e9, 2)]
    offers = {(A, B): cheap, (A, C): dear, (C, B): [(0.0, 1e9, 3)]}
    assert choose(offers, (A, B), 1e4, 6, EVERYTHING) == {1}
    assert choose(offers, (A, B), 1e8, 6, EVERYTHING) == {1, 2, 3}


def test_a_path_longer_than_allowed_is_no_reason_to_leave_a_pool_out() -> None:
    offers = {(A, C): [(0.0, 1e6, 1)], (C, D): [(0.0, 1e6, 2)], (D, B): [(0.0, 1e6, 3)], (A, B): [(0.5, 1e6, 4)]}
    assert choose(offers, (A, B), 1e3, 3, EVERYTHING) == {1, 2, 3}
    assert 4 in choose(offers, (A, B), 1e3, 2, EVERYTHING)


def test_a_way_over_few_units_is_no_reason_to_leave_out_one_over_many() -> None:
    coarse, fine = {(A, C): [(0.0, 1e6, 1)], (C, B): [(0.0, 1e6, 2)]}, {(A, B): [(0.01, 1e6, 3)]}
    offers = coarse | fine
    assert choose(offers, (A, B), 1.0, 6, EVERYTHING) == {1, 2}
    assert choose(offers, (A, B), 1.0, 6, EVERYTHING, {C: 0.05}) == {1, 2, 3}
    assert choose(offers, (A, B), 100.0, 6, EVERYTHING, {C: 0.05}) == {1, 2}


def test_the_thin_end_of_a_route_is_not_given_up_for_deep_pools_in_its_middle() -> None:
    thin = [(0.003 + 0.001 * k, 50.0, k) for k in range(20)]
    deep = [(0.0005 + 1e-6 * k, 1e8, 100 + k) for k in range(200)]
    chosen = choose({(A, C): thin, (C, B): deep}, (A, B), 100.0, 6, 30)
    assert {pool for _, _, pool in thin} <= chosen
    assert 100 in chosen


def test_where_nothing_joins_the_ends_nothing_is_chosen() -> None:
    assert choose({}, (A, B), 1.0, 6, 10) == set()
    assert choose({(C, D): [(0.0, 1.0, 1)]}, (A, B), 1.0, 6, 10) == set()
    assert choose({(A, C): [(0.0, 1.0, 1)]}, (A, B), inf, 6, 10) == set()
