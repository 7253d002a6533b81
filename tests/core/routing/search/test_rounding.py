"""Rounding to the shares of segments loses as little as the share step allows."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from math import fsum

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from swapcli.core.model.quote import HUNDREDTHS, MAX_SEGMENTS, SHARES_PER_ROUTE, WHOLE_PERCENTS, Route
from swapcli.core.routing.graph.digraph import TokenPair, topological_order
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices
from swapcli.core.routing.search.acyclic import MIN_HOP_FRACTION, break_cycles, notable_flow
from swapcli.core.routing.search.order_flow import Flow, continuous_flow, trades_by_pair
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import (
    FlowRounding,
    Shares,
    decompose_into_paths,
    largest_remainder,
)
from swapcli.core.routing.solver.parallel_pools import Hop
from tests.core.routing.build import problem_of, solved
from tests.core.routing.random_routes import parts_of, simple_paths
from tests.support.pools import (
    build_concentrated,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    seeds,
)

amounts = st.floats(15, 23).map(lambda digits: int(10**digits))
headrooms = st.sampled_from([1 - 2e-4, 0.98])
steps = st.sampled_from([WHOLE_PERCENTS, 20, 10, HUNDREDTHS])

Rounded = tuple[RoutingProblem, Flow, Prices]


def rounded(flow: Flow, prices: Prices, headroom: float, step: int = WHOLE_PERCENTS) -> Shares:
    return FlowRounding(flow, prices, headroom).shares(step)


def loss_of(rounding: FlowRounding, shares: Shares) -> float:
    return sum(rounding.losses[link](share) for link, share in shares.items())


def flow_of(problem: RoutingProblem) -> tuple[Flow, Prices] | None:
    """The optimum of a problem as a flow, over the pools that trade in it; None where the pools cannot carry it."""
    found = solved(problem)
    solution = break_cycles(problem, found).solution if found else None
    if solution is None or len(solution.trades) == 0:
        return None
    nearby = {link: [trade.arc for trade in trades] for link, trades in trades_by_pair(solution.trades).items()}
    values = notable_flow(problem, solution)
    amount = float(problem.spec.amount)
    return continuous_flow(
        values, nearby, problem.spec.endpoints, amount, solution.prices, MIN_HOP_FRACTION
    ), solution.prices


@st.composite
def flows(draw: st.DrawFn, tokens: int = 6, pools: int = 14) -> Rounded:
    market = build_random_market(draw(seeds), tokens=tokens, pools=pools, every_family=draw(st.booleans()))
    problem = problem_of(market, draw(amounts))
    found = flow_of(problem)
    assume(found and found[0].hops)
    assert found
    return problem, *found


def links_of(flow: Flow) -> list[TokenPair]:
    return [(hop.token_in, hop.token_out) for hop in flow.hops]


def stake_of(flow: Flow, prices: Prices) -> float:
    """Return the value of the input or output, the larger: the scale of all losses."""
    return max(flow.amount_per_share[0] * prices[0], flow.amount_per_share[1])


def model_loss(flow: Flow, prices: Prices, headroom: float) -> Callable[[TokenPair, int], float]:
    """What a hop loses when it carries a share of n: its value in, less that of its output, and a fine for excess."""
    hops: dict[TokenPair, Hop] = dict(zip(links_of(flow), flow.hops, strict=True))
    known: dict[tuple[TokenPair, int], float] = {}
    stake = stake_of(flow, prices)

    def loss(link: TokenPair, n: int) -> float:
        if (link, n) not in known:
            hop, sold = hops[link], flow.amount_per_share[link[0]] * n / SHARES_PER_ROUTE
            taken = min(sold, hop.capacity * headroom)
            excess = (sold - taken) / flow.amount_per_share[link[0]] * stake * 1e3
            known[link, n] = prices[link[0]] * sold - prices[link[1]] * (hop.amount_out(taken) if taken else 0) + excess
        return known[link, n]

    return loss


def first_rounding(flow: Flow, step: int) -> Shares:
    """Paths by largest remainder."""
    shares = dict(zip(links_of(flow), flow.shares, strict=True))
    paths = decompose_into_paths(shares, flow.endpoints, len(shares), 1e-6)
    total = sum(width for _, width in paths)
    found: Shares = defaultdict(int)
    whole = SHARES_PER_ROUTE // step
    for (path, _), n in zip(
        paths, largest_remainder([width * whole / total for _, width in paths], whole), strict=True
    ):
        for link in path:
            found[link] += n * step
    return found


def assert_carries(shares: Mapping[TokenPair, int], ends: tuple[int, int], step: int = WHOLE_PERCENTS) -> None:
    """All of the order from end to end in multiples of the step, and nothing piles up on the way."""
    balance: dict[int, int] = defaultdict(int)
    for (i, j), n in shares.items():
        assert n > 0
        assert n % step == 0
        balance[i] -= n
        balance[j] += n
    assert (balance.pop(ends[0]), balance.pop(ends[1])) == (-SHARES_PER_ROUTE, SHARES_PER_ROUTE)
    assert set(balance.values()) <= {0}


# --- shares


@given(flows(), headrooms, steps)
def test_a_rounded_flow_carries_100_percent_end_to_end(drawn: Rounded, headroom: float, step: int) -> None:
    problem, flow, prices = drawn
    shares = rounded(flow, prices, headroom, step)
    assert shares.keys() <= set(links_of(flow))
    assert_carries(shares, problem.spec.endpoints, step)


@given(flows(), headrooms, steps)
def test_never_loses_more_than_rounding_each_path(drawn: Rounded, headroom: float, step: int) -> None:
    _, flow, prices = drawn
    loss = model_loss(flow, prices, headroom)
    scale = stake_of(flow, prices)
    best, first = (
        sum(loss(link, n) for link, n in shares.items())
        for shares in (rounded(flow, prices, headroom, step), first_rounding(flow, step))
    )
    assert best <= first + 1e-12 * scale


@given(flows(), headrooms)
def test_finer_steps_never_lose_more(drawn: Rounded, headroom: float) -> None:
    _, flow, prices = drawn
    rounding, scale = FlowRounding(flow, prices, headroom), stake_of(flow, prices)
    losses = [loss_of(rounding, rounding.shares(step)) for step in (HUNDREDTHS, 10, 20, WHOLE_PERCENTS)]
    assert losses[0] <= losses[1] + 1e-9 * scale
    assert max(losses[1:3]) <= losses[3] + 1e-9 * scale


@given(flows(), headrooms, steps)
def test_the_loss_is_the_sum_over_the_hops(drawn: Rounded, headroom: float, step: int) -> None:
    _, flow, prices = drawn
    rounding, loss = FlowRounding(flow, prices, headroom), model_loss(flow, prices, headroom)
    shares = rounding.shares(step)
    expected = sum(loss(link, n) for link, n in shares.items())
    assert loss_of(rounding, shares) == pytest.approx(expected, rel=1e-9, abs=1e-9 * stake_of(flow, prices))


@given(flows(), headrooms, steps, seeds)
def test_moving_shares_between_paths_never_lowers_the_loss(
    drawn: Rounded, headroom: float, step: int, seed: int
) -> None:
    problem, flow, prices = drawn
    shares, rng = rounded(flow, prices, headroom, step), random.Random(seed)
    loss, scale = model_loss(flow, prices, headroom), stake_of(flow, prices)
    paths = [p for p, _ in zip(every_path(flow, problem.spec.endpoints), range(200), strict=False)]
    for _ in range(20):
        moved, n = defaultdict(int, shares), step * rng.choice([1, 1, 2, 5, 20])
        for link in pairwise(rng.choice(paths)):
            moved[link] -= n
        for link in pairwise(rng.choice(paths)):
            moved[link] += n
        if min(moved.values()) >= 0:
            change = sum(loss(link, k) - loss(link, shares.get(link, 0)) for link, k in moved.items())
            assert change >= -1e-4 * scale


def every_path(flow: Flow, ends: tuple[int, int]) -> Iterator[list[int]]:
    links = links_of(flow)
    return simple_paths(lambda t: [j for i, j in links if i == t], *ends, len(links))


@given(flows(tokens=4, pools=10), headrooms)
def test_no_rounding_at_all_loses_less(drawn: Rounded, headroom: float) -> None:
    """All flows in whole percents over at most two tokens between the ends, by trying them."""
    _, flow, prices = drawn
    links, loss = set(links_of(flow)), model_loss(flow, prices, headroom)
    assume(not links & {(2, 3), (3, 2)})
    scale = stake_of(flow, prices)
    least = min(
        sum(loss(link, 100 * n) for link, n in percents.items())
        for x in (range(101) if (0, 2) in links else [0])
        for y in (range(101 - x) if (0, 3) in links else [0])
        if (0, 1) in links or x + y == 100
        for percents in [{link: n for link, n in _over_two(x, y).items() if link in links}]
    )
    found = sum(loss(link, n) for link, n in rounded(flow, prices, headroom).items())
    assert found == pytest.approx(least, rel=1e-9, abs=1e-11 * scale)


def _over_two(x: int, y: int) -> dict[TokenPair, int]:
    """Percents."""
    return {(0, 1): 100 - x - y, (0, 2): x, (2, 1): x, (0, 3): y, (3, 1): y}


parts = st.floats(0.5, 2.0)


@given(st.tuples(parts, parts, parts, parts, parts), st.floats(0.1, 1.0))
def test_no_rounding_over_a_bridge_loses_less(depths: tuple[float, ...], size: float) -> None:
    """Two ways, wide then narrow and the other way round, with a bridge: whole flows near the optimum of the bridge."""
    a, b, c, d = (build_token(k) for k in range(4))
    pairs = [(a, c, 3), (c, b, 1), (a, d, 1), (d, b, 3), (c, d, 1)]
    pools = []
    for k, ((i, j, wide), part) in enumerate(zip(pairs, depths, strict=True)):
        pools.append(build_constant_product(k, i, j, int(wide * part * 10**22), int(wide * part * 10**22), 500))
    found = flow_of(problem_of(build_market(pools, [a, b, c, d]), int(size * 10**22)))
    assert found
    flow, prices = found
    exact = dict(zip(links_of(flow), flow.shares, strict=True))
    assume(exact.keys() == {(0, 2), (2, 1), (0, 3), (3, 1), (2, 3)})
    loss_of, scale, bridge = model_loss(flow, prices, 1.0), stake_of(flow, prices), int(100 * exact[2, 3])

    def loss(link: TokenPair, percent: int) -> float:
        return loss_of(link, 100 * percent)

    least = min(
        loss((0, 2), x) + loss((0, 3), 100 - x) + loss((2, 3), z) + loss((2, 1), x - z) + loss((3, 1), 100 - x + z)
        for x in range(101)
        for z in range(max(0, bridge - 10), min(x, bridge + 10) + 1)
    )
    lost = sum(loss_of(link, n) for link, n in rounded(flow, prices, 1.0).items())
    assert lost == pytest.approx(least, rel=1e-9, abs=1e-11 * scale)


def test_no_hop_exceeds_its_headroom_while_another_has_room() -> None:
    a, b, c = (build_token(k) for k in range(3))
    narrow = build_concentrated(0, a, b, 10**21, 1.0, 600)
    wide = [
        build_constant_product(1, a, c, 10**24, 10**24, 50_000),
        build_constant_product(2, c, b, 10**24, 10**24, 50_000),
    ]
    problem = problem_of(build_market([narrow, *wide], [a, b, c]), 6 * 10**19)
    found = flow_of(problem)
    assert found
    flow, prices = found
    capacity = dict(zip(links_of(flow), flow.hops, strict=True))[0, 1].capacity
    for headroom in (1 - 2e-4, 0.9, 0.5):
        for step in (WHOLE_PERCENTS, HUNDREDTHS):
            n = rounded(flow, prices, headroom, step)[0, 1]
            assert n == step * int(headroom * capacity * SHARES_PER_ROUTE / step / problem.spec.amount)


def test_no_hop_stops_at_being_taken_up_and_down() -> None:
    """A null cycle that only noise makes pay: with a huge order losses are far larger than what it is worth."""
    problem = problem_of(build_random_market(1052, tokens=4, pools=10), 32101757058352119021568)
    found = flow_of(problem)
    assert found
    flow, prices = found
    loss = model_loss(flow, prices, 1 - 2e-4)
    got = rounded(flow, prices, 1 - 2e-4)
    better = {(0, 2): 5_900, (2, 1): 5_900, (0, 3): 4_100, (3, 1): 4_100}
    assert fsum(loss(link, n) for link, n in got.items()) <= fsum(loss(link, n) for link, n in better.items())


@pytest.mark.parametrize("part", [0.0333, 0.005, 0.099])
def test_a_pool_filled_by_a_huge_order_gets_at_most_its_capacity(part: float) -> None:
    """Rounding up would leave the rest in the router, however little that is worth at the end."""
    a, b, c = (build_token(k) for k in range(3))
    narrow = build_concentrated(0, a, b, 10**21, 1.0, 600)
    capacity = narrow.curve(a.address, b.address).capacity
    thin = [build_constant_product(k, i, j, 10**18, 10**18) for k, (i, j) in enumerate([(a, c), (c, b)], 1)]
    problem = problem_of(build_market([narrow, *thin], [a, b, c]), int(capacity / part))
    found = flow_of(problem)
    assert found
    hop = dict(zip(links_of(found[0]), found[0].hops, strict=True))[0, 1]
    for step in (WHOLE_PERCENTS, HUNDREDTHS):
        shares = rounded(*found, 1.0, step)
        assert shares.get((0, 1), 0) == step * int(SHARES_PER_ROUTE / step * hop.capacity / problem.spec.amount)
        assert_carries(shares, (0, 1), step)


# --- parts


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20), st.sampled_from([100, 10_000]))
def test_rounding_to_a_sum_moves_each_part_by_less_than_one(weights: list[float], total: int) -> None:
    exact = [weight * total / sum(weights) for weight in weights]
    whole = largest_remainder(exact, total)
    assert sum(whole) == total
    assert all(abs(n - x) < 1 + 1e-6 for n, x in zip(whole, exact, strict=True))
    cut_off = [x - int(x) for n, x in zip(whole, exact, strict=True) if n == int(x)]
    lifted = [x - int(x) for n, x in zip(whole, exact, strict=True) if n > int(x)]
    assert max(cut_off, default=0.0) <= min(lifted, default=1.0)


@st.composite
def whole_flows(draw: st.DrawFn) -> Shares:
    """Shares over random paths from 0 to 5 that lead upwards."""
    rng = random.Random(draw(seeds))
    shares: Shares = defaultdict(int)
    for n in parts_of(rng, SHARES_PER_ROUTE, rng.randint(1, 6)):
        for link in pairwise([0, *sorted(rng.sample(range(1, 5), rng.randint(0, 4))), 5]):
            shares[link] += n
    return dict(shares)


@given(whole_flows(), st.integers(1, 5))
def test_decomposed_paths_add_up_to_the_flow(shares: Shares, max_hops: int) -> None:
    paths = decompose_into_paths(shares, (0, 5), max_hops, 0.5)
    carried: dict[TokenPair, float] = defaultdict(float)
    for path, width in paths:
        assert 0 < len(path) <= max_hops
        assert (path[0][0], path[-1][1]) == (0, 5)
        assert all(one[1] == other[0] for one, other in pairwise(path))
        for link in path:
            carried[link] += width
    assert all(carried[link] <= n for link, n in shares.items())
    assert len(paths) <= len(shares)
    if max_hops == 5:
        assert carried == shares
        assert [width for _, width in paths] == sorted((width for _, width in paths), reverse=True)


def test_what_fits_into_long_paths_is_not_left_over() -> None:
    """Two detours of two hops after each other: with three hops, each joins to the direct hop of the other one."""
    shares = {(0, 2): 6_000, (0, 1): 4_000, (1, 2): 4_000, (2, 5): 6_000, (2, 3): 4_000, (3, 5): 4_000}
    paths = decompose_into_paths(shares, (0, 5), 3, 0.5)
    assert {tuple(path): width for path, width in paths} == {
        ((0, 1), (1, 2), (2, 5)): 4_000,
        ((0, 2), (2, 3), (3, 5)): 4_000,
        ((0, 2), (2, 5)): 2_000,
    }


@given(whole_flows(), st.integers(1, 4))
def test_what_decomposing_leaves_only_longer_paths_could_carry(shares: Shares, max_hops: int) -> None:
    left = dict(shares)
    for path, width in decompose_into_paths(shares, (0, 5), max_hops, 0.5):
        for link in path:
            left[link] -= int(width)
    onward = [link for link, n in left.items() if n > 0]
    assert not any(simple_paths(lambda t: [j for i, j in onward if i == t], 0, 5, max_hops))


# --- routes


Built = tuple[Route, Shares, Flow, MarketGraph, float, float]


@st.composite
def built(draw: st.DrawFn) -> Built:
    problem, flow, prices = draw(flows())
    headroom, step, amount = draw(headrooms), draw(steps), float(problem.spec.amount)
    rounding = FlowRounding(flow, prices, headroom)
    shares = rounding.shares(step)
    found = rounding.route(shares, problem.graph, amount, 6, step)
    assert found
    assert found[1] == 0
    return found[0], shares, flow, problem.graph, amount, headroom


def carried_by(route: Route, graph: MarketGraph) -> Shares:
    shares: Shares = defaultdict(int)
    for segment in route.segments:
        for hop in segment.hops:
            shares[graph.token_index[hop[0].token_in], graph.token_index[hop[0].token_out]] += segment.share
    return shares


def arriving(route: Route, graph: MarketGraph, amount: float) -> Iterator[tuple[Hop, float, dict[str, int]]]:
    """Per hop its pools, the amount that reaches it, and the pools' shares."""
    carried = carried_by(route, graph)
    shares = {
        (graph.token_index[hop[0].token_in], graph.token_index[hop[0].token_out]): {s.pool: s.share for s in hop}
        for segment in route.segments
        for hop in segment.hops
    }
    market = defaultdict(float, {0: amount})
    for t in topological_order(carried) or []:
        total = sum(n for (i, _), n in carried.items() if i == t)
        for link, n in carried.items():
            if link[0] == t:
                sold = market[t] * n / total
                arcs = [arc for arc in graph.arcs_by_pair[link[0]][link[1]] if arc.pool.key in shares[link]]
                market[link[1]] += sum(arc.curve.amount_out(sold * shares[link][arc.pool.key] / 10_000) for arc in arcs)
                yield Hop(arcs), sold, shares[link]


@given(built())
def test_a_route_carries_its_shares_over_paths_from_end_to_end(drawn: Built) -> None:
    route, shares, _, graph, _, _ = drawn
    assert sum(segment.share for segment in route.segments) == 10_000
    assert carried_by(route, graph) == shares
    for segment in route.segments:
        tokens = [graph.token_index[hop[0].token_in] for hop in segment.hops]
        assert [graph.token_index[hop[0].token_out] for hop in segment.hops] == [*tokens[1:], 1]
        assert tokens[0] == 0


@given(built())
def test_a_repeated_hop_has_equal_shares_that_sum_to_10_000(drawn: Built) -> None:
    hops = [hop for segment in drawn[0].segments for hop in segment.hops]
    for hop in hops:
        assert sum(swap.share for swap in hop) == 10_000
        assert all(swap.share > 0 for swap in hop)
        assert len({swap.pool for swap in hop}) == len(hop)
        for other in hops:
            if (hop[0].token_in, hop[0].token_out) == (other[0].token_in, other[0].token_out):
                assert hop == other


@given(built())
def test_no_pool_exceeds_its_headroom_while_the_hop_has_room(drawn: Built) -> None:
    route, _, _, graph, amount, headroom = drawn
    for hop, sold, shares in arriving(route, graph, amount):
        if sum(int(min(1.0, headroom * arc.curve.capacity / sold) * 10_000) for arc in hop.arcs) >= 10_000:
            for arc in hop.arcs:
                assert sold * shares[arc.pool.key] / 10_000 <= headroom * arc.curve.capacity * (1 + 1e-9)


@given(built())
def test_pools_are_filled_to_a_hundredth_of_a_percent(drawn: Built) -> None:
    route, _, _, graph, amount, headroom = drawn
    for hop, sold, shares in arriving(route, graph, amount):
        exact = [x / sold * 10_000 for x in hop.split(sold)]
        if all(x < headroom * arc.curve.capacity * 10_000 / sold - 2 for arc, x in zip(hop.arcs, exact, strict=True)):
            for arc, x in zip(hop.arcs, exact, strict=True):
                assert abs(shares[arc.pool.key] - x) <= 1 + len(hop.arcs) * 0.1


@given(built())
def test_the_last_pool_of_a_hop_is_the_one_with_most_room(drawn: Built) -> None:
    """Rates are rounded down, and the last pool of a token gets what that leaves."""
    route, _, _, graph, amount, _ = drawn
    last = {hop[-1].pool for segment in route.segments for hop in segment.hops}
    for hop, sold, shares in arriving(route, graph, amount):
        room = {arc.pool.key: arc.curve.capacity - sold * shares[arc.pool.key] / 10_000 for arc in hop.arcs}
        roomiest = [pool for pool in room if pool in last and pool in shares]
        assert max(room.values()) == pytest.approx(max(room[pool] for pool in roomiest))


@given(flows(), st.integers(2, 5), steps)
def test_what_needs_too_many_hops_goes_over_shorter_paths(drawn: Rounded, max_hops: int, step: int) -> None:
    problem, flow, prices = drawn
    rounding = FlowRounding(flow, prices, 1.0)
    shares = rounding.shares(step)
    within = decompose_into_paths(shares, flow.endpoints, max_hops, 0.5)
    assume(within)
    widths = [int(width) for _, width in within]
    found = rounding.route(shares, problem.graph, float(problem.spec.amount), max_hops, step)
    assert found
    route, rerouted = found
    assert rerouted == SHARES_PER_ROUTE - sum(widths)
    assert all(len(segment.hops) <= max_hops for segment in route.segments)
    assert all(segment.share % step == 0 for segment in route.segments)
    assert sum(segment.share for segment in route.segments) == SHARES_PER_ROUTE
    assert len(route.segments) >= len(widths)


@given(flows(), st.integers(1, 4), steps)
def test_without_a_path_that_is_short_enough_there_is_no_route(drawn: Rounded, max_hops: int, step: int) -> None:
    problem, flow, prices = drawn
    rounding = FlowRounding(flow, prices, 1.0)
    shares = rounding.shares(step)
    found = rounding.route(shares, problem.graph, float(problem.spec.amount), max_hops, step)
    assert (found is None) == (not decompose_into_paths(shares, flow.endpoints, max_hops, 0.5))


@pytest.mark.parametrize("intermediates", [99, 100, 130, 180])
def test_no_route_has_more_segments_than_clients_read(intermediates: int) -> None:
    """Equal pools on both sides of every intermediate token: the flow has as many paths."""
    known = [build_token(k) for k in range(intermediates + 2)]
    pools = [
        build_constant_product(2 * k + (token is known[1]), token, between, 10**22, 10**22)
        for k, between in enumerate(known[2:])
        for token in known[:2]
    ]
    problem = problem_of(build_market(pools, known), 10**22)
    found = flow_of(problem)
    assert found
    rounding = FlowRounding(*found, 1.0)
    shares = rounding.shares(HUNDREDTHS)
    assert sum(1 for i, _ in shares if i == 0) == intermediates
    built = rounding.route(shares, problem.graph, float(problem.spec.amount), 6, HUNDREDTHS)
    assert built
    assert len(built[0].segments) == min(intermediates, MAX_SEGMENTS)
    assert sum(segment.share for segment in built[0].segments) == SHARES_PER_ROUTE
