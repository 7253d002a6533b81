"""The estimate of flow selects every pool that the order uses, and no more than the limit."""

from __future__ import annotations

import random
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.selection.ranking_reader import TokenPair
from swapcli.core.selection.select_by_flow import Offer, select_by_flow

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
def test_all_pools_that_an_order_over_one_pair_uses_are_selected(found: list[tuple[float, float]], flow: float) -> None:
    offers = as_offers(found)
    last = optimum(offers, flow)
    used = {pool for cost, _, pool in offers if cost < last - 1e-9}
    assert used <= select_by_flow({(A, B): offers}, (A, B), flow, 6, EVERYTHING)


@given(st.integers(0, 2**32), st.integers(400, 1_500), st.floats(1e2, 1e7))
def test_dropped_pools_gain_next_to_nothing_together(seed: int, count: int, flow: float) -> None:
    rng = random.Random(seed)
    found = [(rng.random() ** 2 * 0.02, 10 ** rng.uniform(2, 7)) for _ in range(count)]
    offers = as_offers(found)
    selected = select_by_flow({(A, B): offers}, (A, B), flow, 6, count)
    last = optimum(offers, flow)
    dropped = [depth * max(last - cost, 0.0) ** 2 / 2.0 for cost, depth, pool in offers if pool not in selected]
    assert sum(dropped) <= 1.1e-5 * flow
    assert len(selected) < count or last > 0.005


def test_an_order_beyond_all_pools_selects_those_of_both_ends() -> None:
    first, last = ([(0.001 * k, 10.0, 100 * end + k) for k in range(5)] for end in (1, 2))
    deep = [(1e-6 * k, 1e7, 1_000 + k) for k in range(1_000)]
    selected = select_by_flow({(A, C): first, (C, D): deep, (D, B): last}, (A, B), 1e5, 6, 300)
    assert {pool for _, _, pool in [*first, *last]} <= selected


@given(cost_lists(0.0, 0.02), cost_lists(0.0, 0.02), cost_lists(0.0, 0.02), st.floats(1.0, 1e7))
def test_the_cheapest_of_a_pair_and_a_detour_is_selected(
    direct: list[tuple[float, float]], first: list[tuple[float, float]], second: list[tuple[float, float]], flow: float
) -> None:
    offers = {(A, B): as_offers(direct), (A, C): as_offers(first, 100), (C, B): as_offers(second, 200)}
    selected = select_by_flow(offers, (A, B), flow, 6, EVERYTHING)
    straight = offers[A, B][0][0]
    around = offers[A, C][0][0] + offers[C, B][0][0]
    best = [offers[A, B][0][2]] if straight < around else [offers[A, C][0][2], offers[C, B][0][2]]
    assert selected.issuperset(best)


@given(st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), cost_lists(), max_size=8), st.integers(1, 30))
def test_at_most_the_limit_of_the_offered_pools_is_selected(
    found: dict[TokenPair, list[tuple[float, float]]], limit: int
) -> None:
    pairs = [pair for pair in found if pair[0] != pair[1]]
    offers = {pair: as_offers(found[pair], 100 * k) for k, pair in enumerate(pairs)}
    selected = select_by_flow(offers, (A, B), 1e5, 6, limit)
    assert len(selected) <= limit
    assert selected <= {pool for pair_offers in offers.values() for _, _, pool in pair_offers}


def test_pools_beyond_the_cost_of_the_order_are_dropped() -> None:
    cheap, dear = [(0.001, 1e9, 1)], [(0.05, 1e9, 2)]
    offers = {(A, B): cheap, (A, C): dear, (C, B): [(0.0, 1e9, 3)]}
    assert select_by_flow(offers, (A, B), 1e4, 6, EVERYTHING) == {1}
    assert select_by_flow(offers, (A, B), 1e8, 6, EVERYTHING) == {1, 2, 3}


def test_a_path_with_too_many_hops_drops_no_pool() -> None:
    offers = {(A, C): [(0.0, 1e6, 1)], (C, D): [(0.0, 1e6, 2)], (D, B): [(0.0, 1e6, 3)], (A, B): [(0.5, 1e6, 4)]}
    assert select_by_flow(offers, (A, B), 1e3, 3, EVERYTHING) == {1, 2, 3}
    assert 4 in select_by_flow(offers, (A, B), 1e3, 2, EVERYTHING)


def test_a_path_over_few_units_drops_no_path_over_many() -> None:
    coarse, fine = {(A, C): [(0.0, 1e6, 1)], (C, B): [(0.0, 1e6, 2)]}, {(A, B): [(0.01, 1e6, 3)]}
    offers = coarse | fine
    assert select_by_flow(offers, (A, B), 1.0, 6, EVERYTHING) == {1, 2}
    assert select_by_flow(offers, (A, B), 1.0, 6, EVERYTHING, {C: 0.05}) == {1, 2, 3}
    assert select_by_flow(offers, (A, B), 100.0, 6, EVERYTHING, {C: 0.05}) == {1, 2}


def test_shallow_pools_at_the_end_of_a_path_are_selected() -> None:
    thin = [(0.003 + 0.001 * k, 50.0, k) for k in range(20)]
    deep = [(0.0005 + 1e-6 * k, 1e8, 100 + k) for k in range(200)]
    selected = select_by_flow({(A, C): thin, (C, B): deep}, (A, B), 100.0, 6, 30)
    assert {pool for _, _, pool in thin} <= selected
    assert 100 in selected


def test_nothing_is_selected_without_a_path() -> None:
    assert select_by_flow({}, (A, B), 1.0, 6, 10) == set()
    assert select_by_flow({(C, D): [(0.0, 1.0, 1)]}, (A, B), 1.0, 6, 10) == set()
    assert select_by_flow({(A, C): [(0.0, 1.0, 1)]}, (A, B), inf, 6, 10) == set()
