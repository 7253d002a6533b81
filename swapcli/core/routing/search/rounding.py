"""Round a continuous flow to multiples of a share step: the best integer flow, its paths, and the pools' shares.

At the solution's prices, a hop that carries x loses price_in * x - price_out * out(x), a convex function. The best
rounding is therefore a minimum of a separable convex-cost integer flow. It starts from the largest-remainder rounding
of the flow's paths, and cycle cancelling improves it: such a flow is optimal when no cycle of moves by a single step
has a negative cost. If a few moves by the step do not suffice, larger moves follow, coarse to fine (capacity scaling).

Source: Ahuja, Magnanti, Orlin, Network Flows (1993), sections 9.6 (cycle cancelling), 14.5 (convex costs, and capacity
scaling for them) and 3.5 (path decomposition).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf

from swapcli.core.model.quote import (
    MAX_SEGMENTS,
    SHARES_PER_HOP,
    SHARES_PER_ROUTE,
    WHOLE_PERCENTS,
    Route,
    Segment,
    Swap,
)
from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import CancelCheck, no_cancellation
from swapcli.core.routing.graph.digraph import TokenPair, longest_path, topological_order
from swapcli.core.routing.graph.market_graph import MarketGraph, Prices
from swapcli.core.routing.search.order_flow import Flow
from swapcli.core.routing.solver.parallel_pools import Hop

Shares = dict[TokenPair, int]
"""The share of the order that each hop carries, in hundredths of a percent."""
_MOVE_SIZES = (100, 25, 5)  # hundredths of a percent moved at once, if moves by the share step do not suffice
_FEW_MOVES = 12  # by the share step, before larger moves are tried. Empirical
_MAX_MOVES = 400  # cycles cancelled per rounding; starting from largest remainders, some 20 are typical. Empirical
_MAX_MOVES_PER_SIZE = 50  # the same for finer shares: orders that drain their pools would take thousands
_OVERFLOW_PENALTY = 1e3  # in values of the order: input beyond a hop's capacity would remain in the router
_REGULARIZATION = 1e-13  # of the order's value, per move: 500 times the rounding error, so that no cycle repeats
_MIN_FLOW = 1e-6  # of the order: narrower paths cannot get a share
_MIN_SHARE = 0.5  # of integer shares: none is narrower

_Path = tuple[TokenPair, ...]

Losses = Mapping[TokenPair, Callable[[int], float]]
"""For each hop, the value lost as a function of the share that it carries."""


class FlowRounding:
    """A rounder of one continuous flow to any share step. No hop is filled beyond `capacity_margin` of its capacity.

    Example: `FlowRounding(flow, prices, 0.9998).shares(WHOLE_PERCENTS)`.
    """

    def __init__(self, flow: Flow, prices: Prices, capacity_margin: float) -> None:
        self.flow, self.capacity_margin = flow, capacity_margin
        self._order_value = order_value = _order_value(flow, prices)
        self.losses: Losses = {
            (hop.token_in, hop.token_out): _loss(hop, flow, prices, capacity_margin, order_value) for hop in flow.hops
        }
        """The loss of each hop relative to the prices."""
        self._paths = _paths(flow)

    def shares(self, share_step: int, check: CancelCheck = no_cancellation) -> Shares:
        """Return the shares per hop, multiples of `share_step`, with the least loss compared with the continuous flow.

        Calls `check` once per move.
        """
        shares = _first_rounding(self._paths, share_step)
        if not self._cancel_cycles(shares, share_step, _FEW_MOVES, check):
            max_moves = _MAX_MOVES if share_step == WHOLE_PERCENTS else _MAX_MOVES_PER_SIZE
            for size in move_sizes(_MOVE_SIZES, share_step):
                self._cancel_cycles(shares, size, max_moves, check)
        return {pair: share for pair, share in shares.items() if share > 0}

    def _cancel_cycles(self, shares: Shares, size: int, max_moves: int, check: CancelCheck) -> bool:
        """Cancel cycles of negative cost with moves by `size`; return whether none is left after `max_moves` moves."""
        tolerance = self._order_value * _REGULARIZATION
        for _ in range(max_moves):
            check()
            cycle = _negative_cycle(shares, self.losses, size, tolerance)
            if not cycle:
                return True
            for pair, change in cycle:
                shares[pair] = shares.get(pair, 0) + change
        return False

    def loss(self, shares: Shares) -> float:
        """Return the total value lost by `shares`."""
        return sum(self.losses[pair](share) for pair, share in shares.items())

    def route(
        self, shares: Shares, graph: MarketGraph, amount: float, max_hops: int, share_step: int
    ) -> tuple[Route, int] | None:
        """Return the route with these `shares`, and the share that was rerouted; None if every path has too many hops.

        Each hop's amount is split over its pools again. Shares that would need paths with too many hops, or more than
        `MAX_SEGMENTS` paths, are rerouted to the paths that lose least from them.
        """
        endpoints = self.flow.endpoints
        found = decompose_into_paths(shares, endpoints, max_hops, _MIN_SHARE)
        paths = {tuple(path): int(width) for path, width in found[:MAX_SEGMENTS]}
        if not paths:
            return None
        rerouted = SHARES_PER_ROUTE - sum(paths.values())
        _reroute(rerouted, paths, self.losses, share_step)
        hops = {(hop.token_in, hop.token_out): hop for hop in self.flow.hops}
        widest_first = sorted(paths.items(), key=lambda entry: -entry[1])
        return route_along(widest_first, hops, graph, (endpoints[0], amount), self.capacity_margin), rerouted


def move_sizes(sizes: Sequence[int], share_step: int) -> list[int]:
    """Return the `sizes` that are multiples of `share_step`, from coarse to fine, and finally `share_step` itself."""
    return [size for size in sizes if size > share_step and size % share_step == 0] + [share_step]


def _order_value(flow: Flow, prices: Prices) -> float:
    """Return the larger value of the order's input and output: a huge order makes its input almost worthless."""
    source, target = flow.endpoints
    return max(flow.amount_per_share[source] * prices[source], flow.amount_per_share.get(target, 0.0))


def _loss(hop: Hop, flow: Flow, prices: Prices, capacity_margin: float, order_value: float) -> Callable[[int], float]:
    """Return the value lost by the hop as a function of the share that it carries."""
    known = {0: 0.0}
    price_in, price_out = prices[hop.token_in], prices[hop.token_out]
    unit = flow.amount_per_share[hop.token_in] / SHARES_PER_ROUTE
    overflow_penalty = _OVERFLOW_PENALTY * order_value / flow.amount_per_share[hop.token_in]

    def loss(share: int) -> float:
        value = known.get(share)
        if value is None:
            taken = min(unit * share, hop.capacity * capacity_margin)
            value = price_in * unit * share - price_out * hop.amount_out(taken)
            known[share] = value = value + overflow_penalty * (unit * share - taken)
        return value

    return loss


class _Move(NamedTuple):
    """A change in the share of a hop, which moves flow from one token to another at a cost."""

    start: int
    end: int
    cost: float
    hop: TokenPair
    change: int


def _negative_cycle(shares: Shares, losses: Losses, size: int, tolerance: float) -> list[tuple[TokenPair, int]]:
    """Return a cycle of moves by `size` with negative cost, by the Bellman-Ford algorithm, or an empty list."""
    moves: list[_Move] = []
    for pair, loss in losses.items():
        (token_in, token_out), share = pair, shares.get(pair, 0)
        now = loss(share)
        if share <= SHARES_PER_ROUTE - size:
            moves.append(_Move(token_in, token_out, loss(share + size) - now + tolerance, pair, size))
        if share >= size:
            moves.append(_Move(token_out, token_in, loss(share - size) - now + tolerance, pair, -size))
    distance = {t: 0.0 for pair in losses for t in pair}
    before: dict[int, _Move] = {}
    for _ in range(len(distance)):
        last = None
        for move in moves:
            reached = distance[move.start] + move.cost
            if reached < distance[move.end] - tolerance:
                distance[move.end] = reached
                before[move.end] = move
                last = move.end
        if last is None:
            return []
        cycle = _predecessor_cycle(before)
        if cycle:
            return cycle
    return []


def _predecessor_cycle(before: Mapping[int, _Move]) -> list[tuple[TokenPair, int]]:
    """Return a cycle in the graph of predecessors; empty if there is none."""
    done: set[int] = set()
    for start in before:
        trail: list[int] = []
        token = start
        while token in before and token not in done and token not in trail:
            trail.append(token)
            token = before[token].start
        if token in trail:
            cycle = trail[trail.index(token) :]
            return [(before[t].hop, before[t].change) for t in cycle]
        done.update(trail)
    return []


def _paths(flow: Flow) -> list[WeightedPath]:
    """Return the paths of the flow, widest first."""
    shares = {(hop.token_in, hop.token_out): share for hop, share in zip(flow.hops, flow.shares, strict=True)}
    return decompose_into_paths(shares, flow.endpoints, len(flow.amount_per_share) + 1, _MIN_FLOW)


def _first_rounding(paths: Sequence[WeightedPath], share_step: int) -> Shares:
    """Round the paths of a flow by largest remainder."""
    total, steps = sum(width for _, width in paths), SHARES_PER_ROUTE // share_step
    rounded = largest_remainder([width * steps / total for _, width in paths], steps)
    shares: Shares = {}
    for (path, _), n in zip(paths, rounded, strict=True):
        for pair in path:
            shares[pair] = shares.get(pair, 0) + n * share_step
    return {pair: n for pair, n in shares.items() if n}


def largest_remainder(exact: list[float], total: int) -> list[int]:
    """Round `exact` to whole numbers that add up to `total`; the largest remainders are rounded up (Hamilton's
    method)."""
    whole = [int(x) for x in exact]
    by_remainder = sorted(range(len(exact)), key=lambda k: whole[k] - exact[k])
    short = total - sum(whole)
    for k in by_remainder[: max(0, short)]:
        whole[k] += 1
    return whole


WeightedPath = tuple[list[TokenPair], float]
"""The hops of a path, and its flow."""


def decompose_into_paths(
    amounts: Mapping[TokenPair, float], endpoints: TokenPair, max_hops: int, min_width: float
) -> list[WeightedPath]:
    """Return paths of at most `max_hops` that carry the acyclic flow `amounts`, at most one per hop.

    The widest path comes first, or the longest path if the flow has paths with too many hops: the rest of the flow may
    then form paths that are short enough. Paths narrower than `min_width` are omitted, as is flow that only longer
    paths could carry.
    """
    left = dict(amounts)
    leaving: dict[int, list[TokenPair]] = {}
    for pair in left:
        leaving.setdefault(pair[0], []).append(pair)
    is_long = len(longest_path(left)) > max_hops if len(leaving) > max_hops else False
    paths: list[WeightedPath] = []
    while True:
        width, path = _next_path(left, leaving, endpoints, max_hops, min_width, longest_first=is_long)
        if not path:
            return paths
        paths.append((list(path), width))
        for pair in path:
            left[pair] -= width


def _next_path(
    left: Mapping[TokenPair, float],
    leaving: Mapping[int, list[TokenPair]],
    endpoints: TokenPair,
    max_hops: int,
    min_width: float,
    *,
    longest_first: bool,
) -> tuple[float, _Path]:
    """Return the widest path between `endpoints`, or the widest of those with the most hops; empty if none is wide
    enough.

    `leaving` are the hops out of each token.
    """
    source, target = endpoints
    found, front = (min_width, _Path()), {source: (inf, _Path())}
    for _ in range(max_hops):
        reached: dict[int, tuple[float, _Path]] = {}
        floor = min_width if longest_first else found[0]
        for token, (width, path) in front.items():
            for pair in leaving.get(token, ()):
                wide = min(width, left[pair])
                if wide > floor and (pair[1] not in reached or wide > reached[pair[1]][0]):
                    reached[pair[1]] = (wide, (*path, pair))
        found, front = reached.pop(target, found), reached
    return found


def _reroute(share: int, paths: dict[_Path, int], losses: Losses, share_step: int) -> None:
    """Add `share` to `paths`, in moves as large as possible, each to the path that loses least from it."""
    carried_by = _carried_by(paths.items())

    def cost(path: _Path, size: int) -> float:
        return sum([losses[p](carried_by[p] + size) - losses[p](carried_by[p]) for p in path])

    for size in move_sizes(_MOVE_SIZES, share_step):
        while share >= size:
            cheapest = min(paths, key=lambda path: cost(path, size))
            paths[cheapest] += size
            for pair in cheapest:
                carried_by[pair] += size
            share -= size


def _carried_by(paths: Iterable[tuple[Sequence[TokenPair], int]]) -> Shares:
    """Return the shares per hop of paths with their shares."""
    carried_by: Shares = {}
    for path, share in paths:
        for pair in path:
            carried_by[pair] = carried_by.get(pair, 0) + share
    return carried_by


def route_along(
    paths: Sequence[tuple[Sequence[TokenPair], int]],
    hops: Mapping[TokenPair, Hop],
    graph: MarketGraph,
    start: tuple[int, float],
    capacity_margin: float,
) -> Route:
    """Return the route of `paths` with their shares; each hop's pools are filled with the amount that reaches it from
    `start`."""
    swaps = _split_hops(_carried_by(paths), hops, graph, start, capacity_margin)
    return Route(tuple(Segment(n, tuple(swaps[pair] for pair in path)) for path, n in paths))


def _split_hops(
    shares: Shares,
    hops: Mapping[TokenPair, Hop],
    graph: MarketGraph,
    start: tuple[int, float],
    capacity_margin: float,
) -> dict[TokenPair, tuple[Swap, ...]]:
    balances = dict([start])
    filled: dict[TokenPair, tuple[Swap, ...]] = {}
    for token in topological_order(shares) or []:
        leaving = [pair for pair in shares if pair[0] == token]
        total = sum(shares[pair] for pair in leaving)
        for pair in leaving:
            hop, amount_in = hops[pair], balances[token] * shares[pair] / total
            amounts, amount_out = hop.split_and_output(amount_in)
            filled[pair] = tuple(
                Swap(hop.arcs[k].pool.key, graph.addresses[pair[0]], graph.addresses[pair[1]], share)
                for k, share in pool_shares(hop, amounts, amount_in, capacity_margin)
            )
            balances[pair[1]] = balances.get(pair[1], 0.0) + amount_out
    return filled


def pool_shares(hop: Hop, amounts: Sequence[float], amount_in: float, capacity_margin: float) -> list[tuple[int, int]]:
    """Return (arc, hundredths of a percent) for the pools with a share of `amount_in`, which is split into `amounts`.

    No pool is filled beyond the capacity margin. The largest shares come first, except that the pool with most room
    comes last: the router rounds every rate down, and the last pool of a token gets the remainder.
    """
    unit = amount_in / SHARES_PER_HOP
    whole = largest_remainder([x / unit for x in amounts], SHARES_PER_HOP)
    limits = [int(min(SHARES_PER_HOP, arc.curve.capacity * capacity_margin / unit)) for arc in hop.arcs]
    spill = 0
    for k, limit in enumerate(limits):
        spill += max(0, whole[k] - limit)
        whole[k] = min(whole[k], limit)
    if spill:
        by_rate = sorted(range(len(whole)), key=lambda k: -hop.arcs[k].curve.rate(unit * whole[k]))
        for k in by_rate:
            step = min(spill, limits[k] - whole[k])
            whole[k] += step
            spill -= step
        whole[by_rate[0]] += spill
    used = sorted((k for k, n in enumerate(whole) if n > 0), key=lambda k: -whole[k])
    roomy = max(used, key=lambda k: hop.arcs[k].curve.capacity - unit * whole[k])
    used.remove(roomy)
    return [(k, whole[k]) for k in [*used, roomy]]
