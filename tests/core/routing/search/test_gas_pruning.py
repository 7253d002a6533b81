"""With gas a route uses as many pools as pay for themselves."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import Quote
from swapcli.core.model.router_execution import OWN_ROUTER_GAS, Execution, RouterGas
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.gas_pruning import estimated_net_output, prune_for_gas
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from tests.core.routing.build import problem_of, solved
from tests.examples import examples
from tests.support.pools import (
    UNIT,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

parts = st.floats(-5, -1).map(lambda digits: 10**digits)
"""How much of an order the gas of a few swaps takes."""
amounts = st.floats(15, 18.5).map(lambda digits: int(10**digits))
MOST = 4
A, B, C = build_token(0), build_token(1), build_token(2)
ROUTERS = st.sampled_from([OWN_ROUTER_GAS, RouterGas(30_000, 7_000, 500, 0, 0, 0)])


def gas_price(amount: int, part: float) -> int:
    return int(amount * part / (OWN_ROUTER_GAS.base + 200_000))


@st.composite
def problems(draw: st.DrawFn) -> tuple[RoutingProblem, CandidateSolution]:
    """A problem over a market of every family with gas, and its solution without."""
    amount = draw(amounts)
    market = build_random_market(draw(seeds), pools=18, every_family=True)
    value = problem_of(market, amount).spot.value(0)
    problem = problem_of(market, amount, gas_value=gas_price(amount, draw(parts)) * value)
    problem = problem._replace(spec=problem.spec._replace(router_gas=draw(ROUTERS)))
    found = solved(problem)
    assume(found is not None and value > 0.0)
    assert found is not None
    return problem, found


@given(problems())
def test_candidates_are_unique_pool_sets_sorted_by_estimate(
    drawn: tuple[RoutingProblem, CandidateSolution],
) -> None:
    problem, found = drawn
    stages = prune_for_gas(problem, found, MOST)
    used = {id(trade.arc) for trade in found.solution.trades}
    sets = [frozenset(map(id, stage.arcs)) for stage in stages]
    assert len(set(sets)) == len(sets) <= MOST
    assert all(remaining < used for remaining in sets)
    promises = [estimated_net_output(problem, stage) for stage in stages]
    assert promises == sorted(promises, reverse=True)
    assert promises[:1] == [estimated_net_output(problem, stage) for stage in prune_for_gas(problem, found, 1)]


@given(problems())
def test_an_estimate_is_the_value_less_the_gas_of_its_hops(
    drawn: tuple[RoutingProblem, CandidateSolution],
) -> None:
    problem, found = drawn
    trades, router = found.solution.trades, problem.spec.router_gas
    between = {trade.arc.token_in for trade in trades} - {0}
    least = router.base + router.token_between * len(between)
    least += sum(t.arc.pool.gas_units(t.arc.pool) + router.each_swap for t in trades)
    gas = found.solution.value - estimated_net_output(problem, found)
    assert gas >= least * problem.spec.gas_value * (1 - 1e-9) - found.solution.value * 1e-12


@given(seeds, amounts)
def test_where_gas_is_free_or_next_to_nothing_every_pool_stays(seed: int, amount: int) -> None:
    problem = problem_of(build_random_market(seed, every_family=True), amount)
    found = solved(problem)
    if found:
        assert prune_for_gas(problem, found, MOST) == []


def test_gas_limits_the_number_of_similar_pools() -> None:
    """Sixteen pools of one pair, from deep to shallow."""
    pools = [build_constant_product(k, A, B, 10**24 >> k // 2, 10**24 >> k // 2) for k in range(16)]
    market = build_market(pools, [A, B])
    counts = [
        len(Router(market).quote(build_order(market, 0, 1, 10**22), gas_price_wei=price).steps)
        for price in (0, 10**13, 10**14, 10**15)
    ]
    assert counts[0] == 16 > counts[1] > counts[2] > counts[3] == 1, counts


def test_a_router_with_costly_swaps_uses_fewer_pools() -> None:
    pools = [build_constant_product(k, A, B, 10**24 >> k // 2, 10**24 >> k // 2) for k in range(16)]
    market = build_market(pools, [A, B])
    counts = []
    for each_swap in (0, 10**6, 10**8):
        router = Router(market, Execution(gas=OWN_ROUTER_GAS._replace(each_swap=each_swap)))
        counts.append(len(router.quote(build_order(market, 0, 1, 10**22), gas_price_wei=10**13).steps))
    assert counts[0] > counts[1] > counts[2] == 1, counts


def test_two_pools_that_cannot_pay_their_gas_are_pruned_together() -> None:
    """Over c there is a little to gain, but a transaction over c pays for two more pools."""
    pools = [
        build_constant_product(0, A, B, 10**24, 10**24),
        build_constant_product(1, A, C, 10**21, 10**21, 500),
        build_constant_product(2, C, B, 10**21, 10**21, 500),
    ]
    market = build_market(pools, [A, B, C])
    calls = build_order(market, 0, 1, 100 * UNIT)
    free, dear = (Router(market).quote(calls, gas_price_wei=price) for price in (0, 10**13))
    assert {step.pool for step in free.steps} == {pool.key for pool in pools}
    assert {step.pool for step in dear.steps} == {pools[0].key}


def net(quote: Quote, gas_value: float) -> float:
    return quote.amount_out - quote.gas_units * gas_value


def best_over_subsets(market: MarketState, amount: int, gas_value: float) -> float:
    """What is left of the best of all routes that are best without gas over some of the pools."""
    calls, best = build_order(market, 0, 1, amount), float("-inf")
    for count in range(1, len(market.pools) + 1):
        for keys in combinations(market.pools, count):
            part = market._replace(pools={key: market.pools[key] for key in keys})
            try:
                best = max(best, net(Router(part).quote(calls, gas_price_wei=0), gas_value))
            except NoRoute:
                continue
    return best


@settings(max_examples=examples(6, full=40))
@given(seeds, amounts, parts, st.booleans())
def test_no_choice_of_pools_leaves_more(seed: int, amount: int, part: float, every_family: bool) -> None:
    market = build_random_market(seed, tokens=4, pools=6, every_family=every_family)
    price = gas_price(amount, part)
    gas_value = price * problem_of(market, amount).spot.value(0)
    try:
        quote = Router(market).quote(build_order(market, 0, 1, amount), gas_price_wei=price)
    except NoRoute:
        return
    assert net(quote, gas_value) >= best_over_subsets(market, amount, gas_value) - 5e-4 * quote.amount_out


@pytest.mark.parametrize("noise", [0.8, 30])
@settings(max_examples=examples(4, full=30))
@given(seed=seeds, amount=amounts, every_family=st.booleans())
def test_without_gas_no_choice_of_pools_gives_more(seed: int, amount: int, every_family: bool, noise: float) -> None:
    """Also where arbitrage would lead an order in circles."""
    market = build_random_market(seed, tokens=4, pools=6, every_family=every_family, noise=noise)
    try:
        quote = Router(market).quote(build_order(market, 0, 1, amount), gas_price_wei=0)
    except NoRoute:
        return
    assert quote.amount_out >= best_over_subsets(market, amount, 0.0) * (1 - 5e-4)


@pytest.mark.parametrize(("seed", "amount"), [(411, 767_489_620_473), (1479, 176_286_229_645), (696, 17_323_760_599)])
def test_a_pool_that_rounds_most_of_an_order_away_is_left_out(seed: int, amount: int) -> None:
    """Its curve promises more than those of the others, and it pays a quarter of that."""
    market = build_random_market(seed, tokens=4, pools=6, every_family=True, noise=30)
    quote = Router(market).quote(build_order(market, 0, 1, amount), gas_price_wei=0)
    assert quote.amount_out >= best_over_subsets(market, amount, 0.0) * (1 - 5e-4)
