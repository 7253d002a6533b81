"""The gas of a route is a base and what each of its pools says of its swap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swapcli.errors import PoolError
from swapcli.model.pool import Pool, PoolIdentity
from swapcli.pools import family
from swapcli.routing.gas import BASE_GAS, route_gas, swaps_gas
from swapcli.routing.graph import Arc
from tests.routing.build import UNIT, constant_product, graph_of, random_market, seeds, token

A, B = token(0), token(1)


def swapped(arc: Arc, part: float) -> tuple[Pool, Pool] | None:
    """The arc's pool before and after a trade of `part` of its depth; None where it refuses."""
    try:
        _, after = arc.pool.swap(
            token(arc.token_in).address, token(arc.token_out).address, max(1, int(part * arc.depth))
        )
    except PoolError:
        return None
    return arc.pool, after


def test_an_empty_transaction_costs_its_base() -> None:
    assert route_gas({}, {}) == BASE_GAS
    assert swaps_gas([]) == 0


@given(seeds, st.floats(1e-6, 0.5))
def test_the_gas_of_a_route_is_the_base_and_that_of_each_swap(seed: int, part: float) -> None:
    graph = graph_of(random_market(seed, every_family=True))
    swaps = {s[0].key: s for s in (swapped(arc, part) for arc in graph.arcs()) if s}
    before, after = ({key: s[k] for key, s in swaps.items()} for k in (0, 1))
    assert route_gas(before, after) == BASE_GAS + swaps_gas(swaps.values())
    assert swaps_gas(swaps.values()) == sum(pool.gas_units(later) for pool, later in swaps.values())


@given(seeds, st.floats(1e-6, 0.5))
def test_every_swap_costs_at_least_what_its_family_says(seed: int, part: float) -> None:
    graph = graph_of(random_market(seed, every_family=True))
    for swap in filter(None, (swapped(arc, part) for arc in graph.arcs())):
        assert swaps_gas([swap]) >= swap[0].swap_gas >= 50_000


def test_pools_that_were_not_touched_cost_nothing() -> None:
    pools = {str(k): constant_product(k, A, B, 10**24, 10**24) for k in range(3)}
    after = {"1": pools["1"].swap(A.address, B.address, UNIT)[1]}
    assert route_gas(pools, after) == BASE_GAS + pools["1"].swap_gas


def test_every_tick_on_the_way_costs_the_same_on_top() -> None:
    ends = [-1800, -1200, -600, 600, 1200, 1800]
    nets = [[tick, str(10**22 if tick < 0 else -(10**22))] for tick in ends]
    identity = PoolIdentity("0x" + "f0" * 20, "v3", (A.address, B.address), (18, 18), 3000)
    state = {"sqrt_price_x96": str(1 << 96), "tick": 0, "liquidity": str(3 * 10**22), "tick_spacing": 60, "ticks": nets}
    pool = family("concentrated").from_state(identity, state)
    curve = pool.curve(A.address, B.address)
    to_tick = [curve.trade_to(0.997 * 1.0001**tick)[0] for tick in (-300, -900, -1500)]
    costs = [swaps_gas([(pool, pool.swap(A.address, B.address, int(x))[1])]) for x in to_tick]
    assert costs[0] == pool.swap_gas
    assert costs[2] - costs[1] == costs[1] - costs[0] > 0
