"""Markets that make no sense, where arbitrage would move a million times the order: quotes take bounded work all the
same, and no number runs away."""

from __future__ import annotations

import random
from functools import cache

import pytest

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.routing.graph.market_graph import Arc, MarketGraph
from swapcli.core.routing.replay import replay
from swapcli.core.routing.search.route_search import RouteSearch
from swapcli.core.routing.search.single_path import best_single_path, single_route
from tests.core.routing.build import graph_of, problem_of, problem_on, solved
from tests.examples import seeds
from tests.support.pools import build_random_market

AMOUNT = 10**19
WILDEST = (15, 22, 23, 36, 50)
"""Seeds for which the work was most, of sixty."""
MOST_TRADES = 250_000
"""Best trades of a pool that are worked out for one quote: a second or so."""


@cache
def flooded(seed: int) -> MarketState:
    """A market in which absurd amounts were sold to a fifth of the pools."""
    market = build_random_market(seed, tokens=100, pools=400, every_family=True)
    rng, pools = random.Random(seed), dict(market.pools)
    for key in rng.sample(sorted(pools), 80):
        sold, bought = rng.sample(pools[key].tokens, 2)
        for digits in (27, 24, 21):
            try:
                pools[key] = pools[key].swap(sold, bought, 10**digits)[1]
                break
            except PoolError:
                continue
    return market._replace(pools=pools)


class Counting:
    """Counts the best trades that are worked out on a graph."""

    def __init__(self, graph: MarketGraph) -> None:
        self.trades = 0
        for arc in graph.arcs():
            self._count(arc)

    def _count(self, arc: Arc) -> None:
        trade_to_marginal_rate = arc.trade_to_marginal_rate

        def counted(rate: float) -> tuple[float, float, float]:
            self.trades += 1
            return trade_to_marginal_rate(rate)

        arc.trade_to_marginal_rate = counted


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[] if seed in WILDEST[::4] else pytest.mark.slow) for seed in WILDEST]
)
def test_a_quote_is_bounded_work_and_no_worse_than_a_single_path(seed: int) -> None:
    market = flooded(seed)
    graph = graph_of(market)
    counting, problem = Counting(graph), problem_on(graph, AMOUNT)
    outcome = RouteSearch(problem, market.pools).run()
    assert outcome is not None
    assert 0 < counting.trades < MOST_TRADES
    path = best_single_path(problem, graph.arcs())
    assert outcome.best.replay.amount_out >= replay(market.pools, single_route(graph, path), AMOUNT).amount_out > 0


@pytest.mark.parametrize("seed", seeds(1, full=8))
def test_the_dual_is_never_less_than_what_the_input_is_value(seed: int) -> None:
    """Every pool adds to it; at absurd prices floats may say otherwise."""
    found = solved(problem_of(flooded(seed), AMOUNT))
    if found:
        assert found.solution.value >= AMOUNT * found.solution.prices[0] > 0
