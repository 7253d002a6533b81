"""Orders that drain their market: the surplus gets a path beside the best route of the rest."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import HUNDREDTHS
from swapcli.core.model.router_execution import RATES
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.replay import replay
from swapcli.core.routing.search.drained_market import _route, search_drained_market
from swapcli.core.routing.search.route_search import RouteSearch
from tests.core.routing.build import graph_of, problem_of
from tests.core.routing.random_routes import random_route
from tests.support.pools import (
    UNIT,
    amounts,
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)


def market_with_a_full_pool() -> MarketState:
    """Token 2 lies between the two: its pool to the target takes 30 units of it. Another pool takes anything."""
    source, target, between = tokens = [build_token(k) for k in range(3)]
    pools = [
        build_constant_product(0, source, between, 1_000 * UNIT, 1_000 * UNIT),
        build_concentrated(1, between, target, 10**21, 1.0, 600),
        build_constant_product(2, source, target, UNIT, UNIT),
    ]
    return build_market(pools, tokens)


@given(seeds, amounts)
def test_a_route_has_the_amounts_of_its_steps(seed: int, amount: int) -> None:
    market = build_random_market(seed, pools=10, every_family=True)
    route = random_route(random.Random(seed), market)
    if route is None:
        return
    try:
        done = replay(market.pools, route, amount)
    except PoolError:
        return
    again = _route(problem_of(market, amount, 10), [(step, 1.0) for step in done.steps])
    assert again is not None
    try:
        repeated = replay(market.pools, again, amount)
    except PoolError:
        return  # a share less or more is too much for a full pool
    assert repeated.amount_out == pytest.approx(done.amount_out, rel=0.02, abs=100)


@pytest.mark.parametrize("amount", [10**2 * UNIT, 10**3 * UNIT, 10**4 * UNIT])
def test_what_a_full_pool_leaves_goes_to_another(amount: int) -> None:
    """All that the pool to the target has is bought, and next to nothing for the surplus."""
    market = market_with_a_full_pool()
    problem = problem_of(market, amount)
    problem = problem._replace(spec=problem.spec._replace(share_step=HUNDREDTHS))
    found = search_drained_market(problem, graph_of(market), market.pools, RATES, None)
    assert found is not None
    assert found.best.amount_in == amount
    small = RouteSearch(problem_of(market, 25 * UNIT), market.pools).run()
    assert small is not None
    assert found.best.replay.amount_out >= small.best.replay.amount_out


def test_a_route_is_never_lost() -> None:
    market = market_with_a_full_pool()
    problem = problem_of(market, UNIT // 10)
    found = RouteSearch(problem, market.pools).run()
    assert found is not None
    assert not found.drains_market
    again = search_drained_market(problem, graph_of(market), market.pools, RATES, found)
    assert again is not None
    assert again.best.net >= found.best.net


def test_once_time_is_up_the_route_so_far_remains() -> None:
    market = market_with_a_full_pool()
    problem = problem_of(market, 10**3 * UNIT)
    found = RouteSearch(problem, market.pools).run()

    def time_is_up() -> None:
        raise SearchTimeUp

    ended = problem._replace(spec=problem.spec._replace(check=time_is_up))
    again = search_drained_market(ended, problem.graph, market.pools, RATES, found)
    assert found is None or (again is not None and again.best == found.best)
