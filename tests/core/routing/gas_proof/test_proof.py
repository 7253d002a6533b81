"""No acyclic route pays more net of gas than the bound, on any market, at any gas price."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, NetBound
from swapcli.core.routing.gas import least_swap_gas, route_gas
from swapcli.core.routing.gas_proof.proof import prove_net_output
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.replay import Replay, replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import SearchResult
from tests.core.routing.random_routes import random_route
from tests.support.pools import (
    amounts,
    build_constant_product,
    build_market,
    build_order,
    build_random_market,
    build_token,
    seeds,
)

A, B, C = (build_token(k) for k in range(3))
gas_prices = st.sampled_from([0, 10**6, 10**9, 10**11, 10**13])


def search(router: Router, order: Order, gas_price_wei: int) -> SearchResult | None:
    try:
        return router.search(order, gas_price_wei=gas_price_wei, share_step=HUNDREDTHS)
    except NoRoute:
        return None


def prove(result: SearchResult) -> NetBound:
    best, index = result.best, result.problem.graph.token_index
    hops = {(index[step.token_in], index[step.token_out]) for step in best.replay.steps}
    proof = prove_net_output(result.problem, result.prices, best.amount_in, best.net, hops)
    return proof.against(result.problem, best.net)


def is_covered(result: SearchResult, done: Replay) -> bool:
    """Whether a route passes each token once and uses no pool that is dust to the order."""
    pools = {arc.pool.key for arc in result.problem.graph.arcs()}
    after: dict[str, set[str]] = {}
    for step in done.steps:
        after.setdefault(step.token_in, set()).add(step.token_out)

    def reaches(token: str, goal: str, seen: frozenset[str] = frozenset()) -> bool:
        return any(
            each == goal or (each not in seen and reaches(each, goal, seen | {each})) for each in after.get(token, ())
        )

    return all(step.pool in pools for step in done.steps) and not any(reaches(token, token) for token in after)


def net_outputs(result: SearchResult, router: Router, order: Order, seed: int) -> Iterator[float]:
    """What random routes that the proof covers pay net of gas."""
    rng, spec, pools = random.Random(seed), result.problem.spec, router.market.pools
    for route in filter(None, (random_route(rng, router.market) for _ in range(8))):
        try:
            done = replay(pools, route, order.amount)
        except PoolError:
            continue
        if is_covered(result, done):
            yield done.amount_out - route_gas(pools, done, spec.router_gas) * spec.gas_value


@st.composite
def markets(draw: st.DrawFn) -> MarketState:
    """Small ones of every family, without arbitrage, with some and with much."""
    return build_random_market(
        draw(seeds), pools=draw(st.integers(3, 12)), noise=draw(st.sampled_from([0.8, 3, 30])), every_family=True
    )


@given(markets(), amounts, gas_prices, seeds)
def test_no_route_pays_more_after_gas(market: MarketState, amount: int, gas_price_wei: int, seed: int) -> None:
    """Neither random routes, nor those of searches with other limits, at the gas of this one."""
    router, order = Router(market), build_order(market, 0, 1, amount)
    result = search(router, order, gas_price_wei)
    assume(result is not None)
    assert result is not None
    assume(result.best.net > 0.0)
    proof = prove(result)
    most = proof.bound * (1.0 + 1e-7)
    for net in net_outputs(result, router, order, seed):
        assert net <= most
    spec = result.problem.spec
    for changed in (order._replace(max_hops=2), order._replace(max_pools=2), order._replace(max_hops=4)):
        for price in (0, gas_price_wei):
            other = search(router, changed, price)
            if other is not None and is_covered(result, other.best.replay):
                gas = route_gas(market.pools, other.best.replay, spec.router_gas) * spec.gas_value
                assert other.best.replay.amount_out - gas <= most
    assert result.best.net <= proof.bound
    assert proof.gap_bps == pytest.approx((proof.bound / result.best.net - 1.0) * 1e4)
    assert proof.max_hops == order.max_hops


@given(seeds, st.sampled_from([0.8, 3, 30]), st.floats(0.0, 7.0), st.sampled_from([10**8, 10**10, 10**12]))
@settings(max_examples=15)
def test_the_best_over_any_set_of_pools_pays_no_more(seed: int, noise: float, power: float, gas_price_wei: int) -> None:
    """Each set of the pools of a small market is searched on its own: gas makes the best set hard to find."""
    market = build_random_market(seed, tokens=4, pools=5, noise=noise, every_family=True)
    order = build_order(market, 0, 1, int(10 ** (15 + power)))
    result = search(Router(market), order, gas_price_wei)
    assume(result is not None)
    assert result is not None
    assume(result.best.net > 0.0)
    most, spec = prove(result).bound * (1.0 + 1e-7), result.problem.spec
    for size in range(1, len(market.pools)):
        for keys in combinations(market.pools, size):
            part = market._replace(pools={key: market.pools[key] for key in keys})
            other = search(Router(part), order, gas_price_wei)
            if other is not None and is_covered(result, other.best.replay):
                gas = route_gas(market.pools, other.best.replay, spec.router_gas) * spec.gas_value
                assert other.best.replay.amount_out - gas <= most


@given(markets(), amounts, gas_prices)
def test_a_certified_quote_pays_no_less_and_within_its_bound(
    market: MarketState, amount: int, gas_price_wei: int
) -> None:
    """The proof may find a better route, which is replayed as any other."""
    router, order = Router(market), build_order(market, 0, 1, amount)
    result = search(router, order, gas_price_wei)
    assume(result is not None)
    assert result is not None
    plain = router.build_quote(order, result, gas_price_wei=gas_price_wei)
    proven = router.build_quote(order, result, gas_price_wei=gas_price_wei, certify=True)
    value = result.problem.spec.gas_value
    assert proven.amount_out - proven.gas_units * value >= plain.amount_out - plain.gas_units * value
    assert replay(market.pools, proven.route, amount).amount_out == proven.amount_out
    assert proven.certificate is not None
    bound = proven.certificate.after_gas
    assert (bound is not None) == (result.best.net > 0.0)
    assert bound is None or bound.gap_bps >= 0.0


@pytest.mark.parametrize("amount", [10**15, 10**19, 10**23])
def test_gas_is_part_of_the_bound_of_small_orders(amount: int) -> None:
    """Two hops whose gas is a tenth of the order: a bound that charged gas in proportion would miss most of it."""
    pools = [build_constant_product(k, i, j, 10**26, 10**26) for k, (i, j) in enumerate([(A, C), (C, B)])]
    router = Router(build_market(pools, [A, B, C]))
    result = search(router, build_order(router.market, 0, 1, amount), max(1, amount // (10 * 300_000)))
    assert result is not None
    assert result.best.net < 0.95 * result.best.replay.amount_out
    proof = prove(result)
    assert proof.gap_bps < 0.1
    assert proof.is_complete


def test_a_pool_worth_less_than_its_gas_leaves_no_gap() -> None:
    """The branching finds that neither using it nor leaving it out pays more."""
    pools = [
        build_constant_product(0, A, B, 10**24, 10**24),
        build_constant_product(1, A, B, 2 * 10**22, 2 * 10**22),
        build_constant_product(2, A, C, 10**22, 10**22),
        build_constant_product(3, C, B, 10**22, 10**22),
    ]
    router = Router(build_market(pools, [A, B, C]))
    for gas_price_wei in (10**9, 10**10, 10**11, 10**12, 10**13):
        result = search(router, build_order(router.market, 0, 1, 10**20), gas_price_wei)
        assert result is not None
        proof = prove(result)
        assert proof.gap_bps < 0.05, gas_price_wei
        assert proof.is_complete


Swap = tuple[str, str, str]
"""Pool, token sold, token bought."""


def every_path(swaps: Sequence[Swap], source: str, target: str, path: tuple[Swap, ...] = ()) -> Iterator[list[Swap]]:
    """Yield the paths over one pool a hop that pass no token and use no pool twice."""
    token = path[-1][2] if path else source
    if token == target:
        yield list(path)
        return
    passed = {source, *(bought for _, _, bought in path)}
    for swap in swaps:
        if swap[1] == token and swap[2] not in passed and swap[0] not in {pool for pool, _, _ in path}:
            yield from every_path(swaps, source, target, (*path, swap))


def are_apart(one: Sequence[Swap], other: Sequence[Swap]) -> bool:
    """Whether two paths have no pool in common and make no cycle."""
    pools = {pool for pool, _, _ in (*one, *other)}
    hops = {(sold, bought) for _, sold, bought in (*one, *other)}
    return len(pools) == len(one) + len(other) and topological_order(sorted(hops)) is not None


def best_of_paths(market: MarketState, result: SearchResult, order: Order, parts: int) -> float:
    """The best net output of one path, or of two that are apart, by exact swaps: of all of them, and of every split in
    so many parts."""
    spec, addresses = result.problem.spec, result.problem.graph.addresses
    arcs = result.problem.graph.arcs()
    swaps = sorted((arc.pool.key, addresses[arc.token_in], addresses[arc.token_out]) for arc in arcs)
    paths = list(every_path(swaps, order.token_in.address, order.token_out.address))

    def output(path: Sequence[Swap], part: int) -> int | None:
        amount = order.amount * part // parts
        try:
            for pool, sold, bought in path:
                amount = market.pools[pool].swap(sold, bought, amount)[0] if amount else 0
        except PoolError:
            return None
        return amount

    def net(paid: int, *used: Sequence[Swap]) -> float:
        every, router = [swap for path in used for swap in path], spec.router_gas
        tokens = {token for _, *pair in every for token in pair}
        gas = sum(least_swap_gas(market.pools[pool], router) for pool, _, _ in every)
        return paid - spec.gas_value * (router.base + gas + router.token_between * (len(tokens) - 2))

    outputs = [[output(path, part) for part in range(parts + 1)] for path in paths]
    found = [net(paid, path) for path, (*_, paid) in zip(paths, outputs, strict=True) if paid is not None]
    for one, other in combinations(range(len(paths)), 2):
        if are_apart(paths[one], paths[other]):
            both = zip(outputs[one], reversed(outputs[other]), strict=True)
            sums = [a + b for a, b in both if a is not None and b is not None]
            found.append(net(max(sums, default=0), paths[one], paths[other]))
    return max(found, default=-inf)


@pytest.mark.slow
@given(seeds, st.sampled_from([3, 10, 30]), st.floats(0.0, 6.0), st.sampled_from([0, 10**8, 10**10]))
@settings(max_examples=40)
def test_the_best_of_all_paths_and_pairs_of_paths_pays_no_more(
    seed: int, noise: float, power: float, gas_price_wei: int
) -> None:
    """On markets with arbitrage, at the least gas of each pool."""
    market = build_random_market(seed, tokens=5, pools=7, noise=noise, every_family=True)
    order = build_order(market, 0, 1, int(10 ** (15 + power)))
    result = search(Router(market), order, gas_price_wei)
    assume(result is not None)
    assert result is not None
    assume(result.best.net > 0.0)
    assert best_of_paths(market, result, order, 8) <= prove(result).bound * (1.0 + 1e-9) + 1e-9


def cyclic_market(gap: float) -> MarketState:
    """A path over two tokens, and a cycle between these: two pools whose prices differ by a part."""
    deep, price = 10**24, int(10**24 * (1.0 + gap))
    last = build_token(3)
    pools = [
        build_constant_product(0, A, C, deep, deep),
        build_constant_product(1, C, last, deep, price),
        build_constant_product(2, last, C, deep, price),
        build_constant_product(3, last, B, deep, deep),
        build_constant_product(4, C, B, deep, deep),
    ]
    return build_market(pools, [A, B, C, last])


@pytest.mark.parametrize("gap", [0.02, 0.1])
@pytest.mark.parametrize("amount", [10**18, 10**21, 10**22])
def test_a_cycle_adds_nothing_to_the_bound(gap: float, amount: int) -> None:
    """Its pools gain at any prices, but a route without cycles uses only one of them."""
    market = cyclic_market(gap)
    router = Router(market)
    order = build_order(market, 0, 1, amount)
    result = search(router, order, 10**6)
    assert result is not None
    assert prove(result).gap_bps < 0.1
    certificate = router.build_quote(order, result, gas_price_wei=10**6, certify=True).certificate
    assert certificate is not None
    assert certificate.gap_bps > 10.0
