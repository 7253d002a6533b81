"""Routers that execute one path of single pools after the other, each with an absolute amount of the input."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.errors import PoolError
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import Step
from swapcli.core.model.router_execution import Execution
from swapcli.core.routing.replay import Replay, flatten, replay
from swapcli.core.routing.router import Router
from tests.core.routing.random_routes import random_route
from tests.support.pools import (
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

PATHS = Execution(executes_paths=True)
amounts = st.integers(10**12, 10**20)


def split_into_paths(steps: Iterable[Step], source: str) -> list[list[Step]]:
    """Return the steps by path. Paths are simple, so only their first hops sell the route's input."""
    paths: list[list[Step]] = []
    for step in steps:
        if step.token_in == source:
            paths.append([])
        paths[-1].append(step)
    return paths


def replay_random_route(seed: int, amount: int) -> tuple[Replay, Replay]:
    """Return the replays of a random route by paths and by rates."""
    market = build_random_market(seed, every_family=True)
    route = random_route(random.Random(seed), market)
    assume(route is not None)
    assert route is not None
    try:
        return replay(market.pools, route, amount, PATHS), replay(market.pools, route, amount)
    except PoolError:
        assume(False)
        raise


@given(seeds, amounts)
def test_each_path_passes_on_all_that_a_pool_pays(seed: int, amount: int) -> None:
    done, _ = replay_random_route(seed, amount)
    paths = split_into_paths(done.steps, done.steps[0].token_in)
    assert sum(path[0].amount_in for path in paths) == amount
    for path in paths:
        assert [step.amount_in for step in path[1:]] == [step.amount_out for step in path[:-1]]
    assert sum(path[-1].amount_out for path in paths) == done.amount_out


@given(seeds, amounts)
def test_paths_give_first_pools_the_same_amounts_as_rates(seed: int, amount: int) -> None:
    by_path, by_rate = replay_random_route(seed, amount)
    source = by_rate.steps[0].token_in
    paths = split_into_paths(by_path.steps, source)
    spent, expected = (
        Counter({(step.pool, step.token_out): 0 for step in done.steps if step.token_in == source})
        for done in (by_path, by_rate)
    )
    for counter, done in ((spent, by_path), (expected, by_rate)):
        for step in done.steps:
            if step.token_in == source:
                counter[step.pool, step.token_out] += step.amount_in
    assert spent.keys() == expected.keys()
    # A rate is rounded down to a millionth of what is left; each path rounds down by less than a unit.
    tolerance = amount * len(expected) // 10**6 + len(paths)
    assert all(abs(spent[key] - expected[key]) <= tolerance for key in expected)


@given(seeds)
def test_hops_of_several_pools_add_few_paths(seed: int) -> None:
    market = build_random_market(seed, every_family=True)
    route = random_route(random.Random(seed), market)
    assume(route is not None)
    assert route is not None
    source = route.segments[0].hops[0][0].token_in
    paths = sum(swap.token_in == source for swap in flatten(route, PATHS))
    assert paths <= sum(1 + sum(len(hop) - 1 for hop in segment.hops) for segment in route.segments)


@pytest.mark.parametrize("has_alternative", [True, False])
def test_a_pool_that_its_hook_may_change_is_in_one_path_at_most(has_alternative: bool) -> None:
    a, b, c = (build_token(number) for number in range(3))
    pools: list[Pool] = [build_constant_product(number, a, b, 10**21, 10**21) for number in (1, 2)]
    deep = build_concentrated(3, b, c, 10**24, 1.0, 6_000)
    alternatives = [build_constant_product(4, b, c, 10**22, 10**22)] if has_alternative else []
    called_after_swaps = {"pool_id": "0x" + "ab" * 32, "hooks": "0x" + "12" * 18 + "0040"}
    hooked = type(deep).from_state(deep.identity, {**deep.state(), **called_after_swaps})
    uses = Counter[str]()
    for into_c in (deep, hooked):
        market = build_market([*pools, into_c, *alternatives], [a, b, c])
        quote = Router(market, PATHS).quote(Order(a, c, 10**20))
        uses.update(step.pool for step in quote.steps if step.pool in (deep.key, hooked.key))
        assert quote.amount_out > 0
    assert uses[deep.key] == 2
    assert uses[hooked.key] == (0 if has_alternative else 1)
