"""Flows: their order, their cycles, their paths, and what they carry."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.routing.graph.digraph import (
    TokenPair,
    edge_distances,
    feedback_arcs,
    longest_path,
    topological_order,
    unreachable_within,
)
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph, Prices
from swapcli.core.routing.graph.order_market import SpotPrices
from swapcli.core.routing.search.order_flow import (
    Flow,
    arcs_reusing_a_pool,
    continuous_flow,
    flow_values,
    trades_by_pair,
)
from swapcli.core.routing.solver.newton import Solution, Trade
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import build_random_market, seeds

nodes = st.integers(0, 6)
some_links = st.tuples(nodes, nodes).filter(lambda link: link[0] != link[1])
values = st.integers(1, 6).map(lambda n: n / 4)  # few values, so that some are equal
networks = st.dictionaries(some_links, values, max_size=18)
dags = st.dictionaries(some_links.map(lambda link: (min(link), max(link))), values, max_size=14)
"""Links that lead from smaller to larger numbers."""


def acyclic(links: Iterable[TokenPair]) -> bool:
    onward: dict[int, set[int]] = defaultdict(set)
    for i, j in links:
        onward[j].add(i)
    try:
        tuple(TopologicalSorter(onward).static_order())
    except CycleError:
        return False
    return True


def paths(links: Iterable[TokenPair], source: int, target: int, max_hops: int) -> Iterable[list[int]]:
    known = list(links)
    return simple_paths(lambda t: [j for i, j in known if i == t], source, target, max_hops)


# --- links


@given(networks)
def test_hops_have_an_order_exactly_when_they_form_no_cycle(links: Mapping[TokenPair, float]) -> None:
    order = topological_order(links)
    assert (order is not None) == acyclic(links)
    if order is not None:
        place = {t: k for k, t in enumerate(order)}
        assert place.keys() == {t for link in links for t in link}
        assert len(place) == len(order)
        assert all(place[i] < place[j] for i, j in links)


@given(networks)
def test_without_its_breakers_a_flow_is_acyclic(links: Mapping[TokenPair, float]) -> None:
    breakers = feedback_arcs(links)
    assert breakers <= links.keys()
    assert acyclic(links.keys() - breakers)


@given(networks)
def test_feedback_arcs_lie_on_cycles_and_acyclic_flows_have_none(links: Mapping[TokenPair, float]) -> None:
    breakers = feedback_arcs(links)
    assert breakers or acyclic(links)
    for i, j in breakers:
        assert any(paths(links, j, i, 7))


@given(networks)
def test_of_two_opposite_hops_the_weaker_is_a_breaker(links: Mapping[TokenPair, float]) -> None:
    breakers = feedback_arcs(links)
    for link, value in links.items():
        if value < links.get(link[::-1], 0.0):
            assert link in breakers


def test_of_two_opposite_hops_that_carry_the_same_one_is_kept() -> None:
    assert len(feedback_arcs({(0, 1): 1.0, (1, 0): 1.0})) == 1


def test_the_weakest_hop_of_a_ring_is_its_breaker() -> None:
    assert feedback_arcs({(0, 1): 5.0, (1, 2): 2.0, (2, 0): 3.0, (0, 3): 1.0}) == {(1, 2)}


@given(networks, st.integers(1, 5))
def test_a_hop_on_a_path_within_the_limit_is_never_beyond_reach(
    links: Mapping[TokenPair, float], max_hops: int
) -> None:
    beyond = unreachable_within(links, (0, 6), max_hops)
    assert beyond <= links.keys()
    for path in paths(links, 0, 6, max_hops):
        assert not beyond & set(pairwise(path))


@given(dags, st.integers(1, 5))
def test_hops_off_every_short_path_are_unreachable(links: Mapping[TokenPair, float], max_hops: int) -> None:
    on_paths = {link for path in paths(links, 0, 6, max_hops) for link in pairwise(path)}
    assert unreachable_within(links, (0, 6), max_hops) == links.keys() - on_paths


@given(dags)
def test_the_longest_path_is_a_path_and_none_is_longer(links: Mapping[TokenPair, float]) -> None:
    path = longest_path(links)
    assert set(path) <= links.keys()
    assert all(one[1] == other[0] for one, other in pairwise(path))
    lengths = [len(p) - 1 for i in range(7) for j in range(7) if i < j for p in paths(links, i, j, 7)]
    assert len(path) == max(lengths, default=0)


@given(networks, nodes)
def test_distances_are_the_fewest_hops(links: Mapping[TokenPair, float], start: int) -> None:
    found = edge_distances(links, start)
    for t in range(7):
        fewest = min((len(path) - 1 for path in paths(links, start, t, 7)), default=None)
        assert found.get(t) == fewest


# --- trades


@st.composite
def trades(draw: st.DrawFn) -> tuple[list[Trade], Prices]:
    """Trades of some arcs of a market whose pools hold up to four tokens, each way at random."""
    graph = graph_of(build_random_market(draw(seeds), tokens=4, pools=6, every_family=True))
    rng = random.Random(draw(seeds))
    arcs = [arc for arc in graph.arcs() if rng.random() < 0.6]
    return [Trade(arc, float(rng.randint(1, 5)), float(rng.randint(1, 5)), 0.0) for arc in arcs], {
        t: rng.uniform(0.5, 2) for t in range(4)
    }


@given(trades())
def test_without_second_uses_every_pool_trades_once_and_most(drawn: tuple[list[Trade], Prices]) -> None:
    made, prices = drawn

    def value(trade: Trade) -> float:
        return trade.amount_in * prices[trade.arc.token_in]

    weaker = arcs_reusing_a_pool(made, prices)
    remaining = [t for t in made if id(t.arc) not in weaker]
    assert len({t.arc.pool.key for t in remaining}) == len(remaining)
    assert {t.arc.pool.key for t in remaining} == {t.arc.pool.key for t in made}
    strongest = {t.arc.pool.key: value(t) for t in remaining}
    assert all(value(t) <= strongest[t.arc.pool.key] for t in made)


@given(trades())
def test_trades_of_one_token_pair_are_grouped_and_summed(drawn: tuple[list[Trade], Prices]) -> None:
    made, prices = drawn
    together = trades_by_pair(made)
    assert sorted(map(id, (t for group in together.values() for t in group))) == sorted(map(id, made))
    flowing = flow_values(Solution(prices, made, 0.0, 0.0, 0))
    assert flowing.keys() == together.keys()
    for link, group in together.items():
        assert {(t.arc.token_in, t.arc.token_out) for t in group} == {link}
        assert flowing[link] == pytest.approx(sum(prices[link[0]] * t.amount_in for t in group))


# --- the flow of an order


@st.composite
def carried(draw: st.DrawFn) -> tuple[Flow, dict[TokenPair, float], MarketGraph, float, float]:
    """A flow over random hops of a market, with values from next to nothing to all; some lead nowhere."""
    graph = graph_of(build_random_market(draw(seeds), tokens=6, pools=14, every_family=True))
    rng = random.Random(draw(seeds))
    place = [0, *rng.sample(range(2, 6), 4), 1]
    prices = SpotPrices(graph, 1, 6).values
    links = [(i, j) for i in place for j in graph.arcs_by_pair[i] if place.index(i) < place.index(j)]
    requested = {link: 10 ** rng.uniform(-5, 0) for link in links if rng.random() < 0.8}
    least = draw(st.sampled_from([0.0, 1e-4, 1e-2]))
    assume(any(paths(requested, 0, 1, 6)) and all(t in prices for t in range(6)))
    amount = 10 ** draw(st.floats(14, 20))
    flow = continuous_flow(
        requested, {link: graph.arcs_by_pair[link[0]][link[1]] for link in requested}, (0, 1), amount, prices, least
    )
    return flow, requested, graph, amount, least


def through(flow: Flow) -> dict[TokenPair, float]:
    return {(hop.token_in, hop.token_out): share for hop, share in zip(flow.hops, flow.shares, strict=True)}


@given(carried())
def test_flow_shares_are_one_at_the_ends_and_conserved_between(
    drawn: tuple[Flow, dict[TokenPair, float], MarketGraph, float, float],
) -> None:
    flow = drawn[0]
    assume(flow.hops)
    balance: dict[int, float] = defaultdict(float)
    for (i, j), share in through(flow).items():
        assert share > 0.0
        balance[i] -= share
        balance[j] += share
    assert balance.pop(0) == pytest.approx(-1.0)
    assert balance.pop(1) == pytest.approx(1.0)
    assert list(balance.values()) == pytest.approx([0.0] * len(balance), abs=1e-12)


@given(carried())
def test_a_flow_splits_by_value_and_drops_dead_ends(
    drawn: tuple[Flow, dict[TokenPair, float], MarketGraph, float, float],
) -> None:
    flow, requested, _, _, least = drawn
    shares = through(flow)
    order = topological_order(shares) or []
    assert [order.index(hop.token_in) for hop in flow.hops] == sorted(order.index(hop.token_in) for hop in flow.hops)
    leaving = sum(value for (i, _), value in requested.items() if i == 0)
    for link, value in requested.items():
        on_path = any(
            link in set(pairwise(p)) for p in paths([k for k, v in requested.items() if v >= least * leaving], 0, 1, 6)
        )
        assert (link in shares) == (on_path and value >= least * leaving)
    for one, share in shares.items():
        for other, share_beside in shares.items():
            if one[0] == other[0]:
                assert share / share_beside == pytest.approx(requested[one] / requested[other])


@given(carried())
def test_the_unit_of_a_token_is_what_the_hops_before_deliver(
    drawn: tuple[Flow, dict[TokenPair, float], MarketGraph, float, float],
) -> None:
    flow, _, _, amount, _ = drawn
    assume(flow.hops)
    assert flow.amount_per_share[0] == amount
    arriving: dict[int, float] = defaultdict(float)
    arrived: dict[int, float] = defaultdict(float)
    for hop, share in zip(flow.hops, flow.shares, strict=True):
        sold = min(flow.amount_per_share[hop.token_in] * share, hop.capacity)
        arriving[hop.token_out] += hop.amount_out(sold)
        arrived[hop.token_out] += share
    for t, total in arriving.items():
        assert flow.amount_per_share[t] == pytest.approx(total / arrived[t], rel=1e-6)


def test_a_flow_without_a_path_has_no_hops() -> None:
    graph = graph_of(build_random_market(0))
    assert continuous_flow({}, {}, (0, 1), 1e18, {0: 1.0, 1: 1.0}, 0.0).hops == []
    (link, arcs), *_ = [((0, j), arcs) for j, arcs in graph.arcs_by_pair[0].items() if j != 1]
    assert continuous_flow({link: 1.0}, {link: list[Arc](arcs)}, (0, 1), 1e18, {0: 1.0, link[1]: 1.0}, 0.0).hops == []
