"""The gas of a route is a base, what each of its swaps costs, and what sets routes apart beside that."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.quote import SHARES_PER_HOP, Route, Segment, Swap
from swapcli.core.model.router_execution import OWN_ROUTER_GAS, RouterGas
from swapcli.core.model.swap_type import SwapType
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.families import family
from swapcli.families.uniswap.concentrated import CROSSING_GAS
from tests.core.routing.build import graph_of
from tests.support.pools import (
    UNIT,
    build_concentrated,
    build_constant_product,
    build_order,
    build_random_market,
    build_stableswap,
    build_token,
    seeds,
)

A, B, C = build_token(0), build_token(1), build_token(2)
FIRST_USE_GAS = 50_000
"""No family swaps for less."""


def swapped(arc: Arc, part: float) -> tuple[Pool, Pool] | None:
    """The arc's pool before and after a trade of `part` of its depth; None where it refuses."""
    try:
        _, after = arc.pool.swap(
            build_token(arc.token_in).address, build_token(arc.token_out).address, max(1, int(part * arc.depth))
        )
    except PoolError:
        return None
    return arc.pool, after


def one_way(pool: Pool, *path: str) -> tuple[tuple[Swap, ...], ...]:
    """Hops through one pool along a path of tokens."""
    return tuple((Swap(pool.key, *ends, SHARES_PER_HOP),) for ends in pairwise(path))


@given(seeds, st.integers(1, 10**24), st.sampled_from([0, 10**9, 10**12]))
def test_a_quote_tells_the_base_each_swap_and_each_token_between(seed: int, amount: int, gas_price_wei: int) -> None:
    market = build_random_market(seed, gas_price_wei=gas_price_wei, every_family=True)
    try:
        quote = Router(market).quote(build_order(market, 0, 1, amount))
    except NoRoute:
        return
    after = replay(market.pools, quote.route, quote.amount_in).pools_after
    expected, seen = OWN_ROUTER_GAS.base, set[str]()
    for step in quote.steps:
        pool = market.pools[step.pool]
        expected += (
            pool.gas_units(pool) + OWN_ROUTER_GAS.repeated_swap
            if step.pool in seen
            else pool.gas_units(after[step.pool])
        )
        seen.add(step.pool)
    between = {step.token_in for step in quote.steps} - {A.address}
    assert quote.gas_units == expected + len(between) * OWN_ROUTER_GAS.token_between
    assert quote.gas_wei == quote.gas_units * gas_price_wei


@given(seeds, st.floats(1e-6, 0.9))
def test_gas_told_from_a_rate_is_off_by_one_tick_at_most(seed: int, part: float) -> None:
    """That rate is of floats, and may lie on the other side of a tick."""
    for arc in graph_of(build_random_market(seed, every_family=True)).arcs():
        moved = swapped(arc, part)
        if moved:
            before, after = moved
            rate = arc.curve.rate(float(max(1, int(part * arc.depth))))
            reported = before.gas_units_to(build_token(arc.token_in).address, build_token(arc.token_out).address, rate)
            assert abs(reported - before.gas_units(after)) <= CROSSING_GAS


def test_a_rate_of_nothing_is_beyond_every_tick() -> None:
    pool = build_concentrated(0, A, B, 10**20, 1.0, 600)
    assert pool.gas_units_to(A.address, B.address, 0.0) == pool.gas_units_to(B.address, A.address, 0.0)
    assert pool.gas_units_to(A.address, B.address, 0.0) == pool.swap_gas + CROSSING_GAS


@given(seeds, st.floats(1e-6, 0.5))
def test_every_swap_costs_at_least_what_its_family_says(seed: int, part: float) -> None:
    graph = graph_of(build_random_market(seed, every_family=True))
    for before, after in filter(None, (swapped(arc, part) for arc in graph.arcs())):
        assert before.gas_units(after) >= before.gas_units(before) >= before.swap_gas >= FIRST_USE_GAS


def test_pools_that_were_not_touched_cost_nothing() -> None:
    pools = {pool.key: pool for pool in (build_constant_product(k, A, B, 10**24, 10**24) for k in range(3))}
    used = next(iter(pools.values()))
    done = replay(pools, Route((Segment(10_000, one_way(used, A.address, B.address)),)), UNIT)
    assert route_gas(pools, done) == OWN_ROUTER_GAS.base + used.swap_gas
    assert route_gas(pools, done, RouterGas(5, 3, 100, 100, 0, 0)) == 5 + used.swap_gas + 3


def test_a_second_step_in_the_same_pool_costs_less_gas() -> None:
    """A third of the order goes through the pool once, the rest twice: three steps, one pool, one token between."""
    pool = build_stableswap(0, [A, B, C], [1.0, 1.0, 1.0], 1e6, 10_000, 400)
    straight, round_about = one_way(pool, A.address, B.address), one_way(pool, A.address, C.address, B.address)
    done = replay({pool.key: pool}, Route((Segment(3_300, straight), Segment(6_700, round_about))), 1_000 * UNIT)
    assert len(done.steps) == 3
    router = OWN_ROUTER_GAS
    expected = router.base + 3 * pool.swap_gas + 2 * router.repeated_swap + router.token_between
    assert route_gas({pool.key: pool}, done) == expected
    assert -pool.swap_gas < router.repeated_swap < 0


def test_every_tick_on_the_way_costs_the_same_on_top() -> None:
    ends = [-1800, -1200, -600, 600, 1200, 1800]
    nets = [[tick, str(10**22 if tick < 0 else -(10**22))] for tick in ends]
    identity = PoolIdentity("0x" + "f0" * 20, "v3", (A.address, B.address), (18, 18), 3000)
    state = {"sqrt_price_x96": str(1 << 96), "tick": 0, "liquidity": str(3 * 10**22), "tick_spacing": 60, "ticks": nets}
    pool = family("concentrated").from_state(identity, state)
    curve = pool.curve(A.address, B.address)
    to_tick = [curve.trade_to_marginal_rate(0.997 * 1.0001**tick)[0] for tick in (-300, -900, -1500)]
    costs = [pool.gas_units(pool.swap(A.address, B.address, int(x))[1]) for x in to_tick]
    assert costs[0] == pool.gas_units(pool) == pool.swap_gas
    assert costs[2] - costs[1] == costs[1] - costs[0] > 0


@pytest.mark.parametrize("swap_type", SwapType)
def test_every_type_of_swap_has_its_own_gas(swap_type: SwapType) -> None:
    assert abs(OWN_ROUTER_GAS.of_swap_type(swap_type)) < OWN_ROUTER_GAS.base
    assert (OWN_ROUTER_GAS.of_swap_type(swap_type) == 0) == (swap_type is SwapType.TOKEN_TO_TOKEN)
