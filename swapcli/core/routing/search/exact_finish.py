"""Decide the shares of a route by exact replays: of its segments, and of the pools within its hops.

Rounded solutions, single paths and other ways contribute paths, as far as these can join: no cycle of tokens, no second
use of a pool. Marginal rates of the curves, at the amounts of the last replay, say where a share brings more than where
it is. They only rank the moves: a replay that pays more net of gas accepts one. So a pool may be filled to its last
unit, a swap may stop short of a tick whose gas it does not earn, and what an order has beyond the depth of its pools
goes where it brings most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from swapcli.core.model.quote import MAX_SEGMENTS, SHARES_PER_HOP, Route, Segment, Swap
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import largest_remainder, pool_shares
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.core.routing.solver.parallel_pools import Hop

_MAX_REPLAYS = 60  # bounds the work. Empirical: moves after these gain next to nothing
_MAX_ADDED_PATHS = 16  # of other routes. Bounds the work
_TRIED = 3  # givers of the lowest and takers of the highest slope. Empirical
_BISECTIONS = 30  # to find the amount that reaches a tick, to a billionth
_FIRST_PART = 0.25  # of what a path could give, for the first trial. Empirical

_Pair = tuple[str, str]
"""A hop: the addresses of the token in and out."""
_Path = tuple[_Pair, ...]
_Paths = dict[_Path, int]
_Swaps = tuple[Swap, ...]


class _PathMove(NamedTuple):
    """A move of at most `size` hundredths of a percent between two paths.

    It gains about `slope` for the first one, and at most `gain`. Without a slope, the size is tried as it is.
    """

    gain: float
    giver: _Path
    taker: _Path
    size: int
    slope: float = 0.0


class _HopMove(NamedTuple):
    """Other shares of the pools of a hop, and about what they gain."""

    gain: float
    pair: _Pair
    swaps: _Swaps


class _Margins(NamedTuple):
    """What more input brings: the rate of each pool used and hop, the value of each token, and its units per share."""

    rates: dict[_Pair, float]
    amounts: dict[_Pair, float]
    values: dict[str, float]
    per_share: dict[str, float]

    def slope(self, path: _Path) -> float:
        """Return how the output changes with the share of `path`, per hundredth of a percent, up to a constant.

        A path that gets more takes its token's balance from the other hops there.
        """
        slope, value = 0.0, 1.0
        for pair in reversed(path):
            value *= self.rates[pair]
            units = self.per_share.get(pair[0], 0.0)
            if units:  # otherwise nothing arrives but on this path
                slope += units * (value - self.values[pair[0]])
                value = self.values[pair[0]]
        return slope


def finish(
    problem: RoutingProblem, scorer: RouteScorer, found: ScoredRoute, others: Iterable[ScoredRoute], min_gain: float
) -> Iterator[ScoredRoute]:
    """Yield routes that pay more and more net of gas, of the paths of `found` and those of `others` that can join.

    Moves that bring no more than `min_gain` are not tried. Calls the problem's check before each replay.
    """
    search = _ShareSearch(problem, scorer, found, min_gain)
    if search.is_supported:
        search.join(others)
        while search.improve():
            yield search.best


class _ShareSearch:
    """The shares of the best route so far, and the moves that did not pay."""

    def __init__(self, problem: RoutingProblem, scorer: RouteScorer, found: ScoredRoute, min_gain: float) -> None:
        self._problem, self._scorer, self._min_gain, self.best = problem, scorer, min_gain, found
        self._paths: _Paths = {}
        self._hops: dict[_Pair, _Swaps] = {}
        self._arcs: dict[_Pair, dict[str, Arc]] = {}
        """The pools that a hop may use, by key."""
        self._failed: set[tuple[object, ...]] = set()
        self._replays, self._has_gained = 0, False
        weights: dict[_Pair, dict[str, int]] = {}
        for segment in found.route.segments:
            path = _path(segment)
            self._paths[path] = self._paths.get(path, 0) + segment.share
            for pair, hop in zip(path, segment.hops, strict=True):
                pools = weights.setdefault(pair, {})
                for swap in hop:
                    pools[swap.pool] = pools.get(swap.pool, 0) + segment.share * swap.share
        for pair, pools in weights.items():
            total = sum(pools.values())
            shares = largest_remainder([weight * SHARES_PER_HOP / total for weight in pools.values()], SHARES_PER_HOP)
            self._hops[pair] = tuple(Swap(pool, *pair, n) for pool, n in zip(pools, shares, strict=True) if n)
            self._add_arcs(pair, pools)
        self.is_supported = all(self._arcs[pair].keys() >= pools.keys() for pair, pools in weights.items())

    def _add_arcs(self, pair: _Pair, pools: Iterable[str]) -> None:
        """Add the pools that no other hop uses."""
        graph, used = self._problem.graph, {key for other, arcs in self._arcs.items() if other != pair for key in arcs}
        i, j = graph.token_index[pair[0]], graph.token_index[pair[1]]
        wanted = set(pools) - used
        found = {arc.pool.key: arc for arc in graph.arcs_by_pair[i].get(j, ()) if arc.pool.key in wanted}
        self._arcs[pair] = self._arcs.get(pair, {}) | found

    def join(self, others: Iterable[ScoredRoute]) -> None:
        """Add the paths and pools of other routes, the best first, without a share."""
        max_paths = min(len(self._paths) + _MAX_ADDED_PATHS, MAX_SEGMENTS)
        for other in sorted(others, key=lambda each: -each.net):
            for segment in other.route.segments:
                path = _path(segment)
                hops = dict(zip(path, segment.hops, strict=True))
                if topological_order([*self._hops, *path]) is None:
                    continue
                for pair, hop in hops.items():
                    self._add_arcs(pair, [swap.pool for swap in hop])
                new = {pair: hop for pair, hop in hops.items() if pair not in self._hops}
                can_join = all(swap.pool in self._arcs[pair] for pair, hop in new.items() for swap in hop)
                if can_join and len(self._paths) < max_paths:
                    self._hops.update(new)
                    self._paths.setdefault(path, 0)

    def improve(self) -> bool:
        """Make the first move, most promising first, that pays; return whether there was one."""
        while True:
            moves = [move for move in self._moves() if move.gain > self._min_gain and _key(move) not in self._failed]
            for move in sorted(moves, key=lambda each: -each.gain):
                if self._replays >= _MAX_REPLAYS:
                    return False
                before = self.best
                self._make(move)
                if self.best is not before:
                    self._has_gained = True
                    return True
                self._failed.add(_key(move))
            if not self._has_gained:
                return False
            self._has_gained = False  # what did not pay before the last moves may pay now
            self._failed.clear()

    def _moves(self) -> Iterator[_PathMove | _HopMove]:
        margins = self._margins()
        slopes = {path: margins.slope(path) for path in self._paths}
        by_slope = sorted(slopes, key=slopes.__getitem__)
        for giver in [path for path in by_slope if self._paths[path]][:_TRIED]:
            for taker in by_slope[: -_TRIED - 1 : -1]:
                slope = slopes[taker] - slopes[giver]
                if slope > 0.0:
                    size = self._room(giver, taker, margins)
                    yield _PathMove(slope * size, giver, taker, size, slope)
        yield from self._refills(margins)
        if self._problem.spec.gas_value:
            yield from self._tick_moves(margins, by_slope[::-1])

    def _room(self, giver: _Path, taker: _Path, margins: _Margins) -> int:
        """Return the share, in steps, that `giver` has and the hops of `taker` can take."""
        room = float(self._paths[giver])
        for pair in taker:
            units = margins.per_share.get(pair[0])
            if units and pair not in giver:
                capacity = sum([self._arcs[pair][swap.pool].curve.capacity for swap in self._hops[pair]])
                room = min(room, (capacity - margins.amounts[pair]) / units)
        step = self._problem.spec.share_step
        return int(max(0.0, room)) // step * step

    def _margins(self) -> _Margins:
        """Return the margins at the amounts of the best route."""
        sold = {step[:3]: float(step.amount_in) for step in self.best.replay.steps}
        carried = dict.fromkeys(self._hops, 0)
        for path, share in self._paths.items():
            for pair in path:
                carried[pair] += share
        rates, amounts = dict[_Pair, float](), dict[_Pair, float]()
        for pair, hop in self._hops.items():
            arcs = self._arcs[pair]
            used = [(swap, sold.get(swap[:3], 0.0)) for swap in hop]
            rates[pair] = sum([arcs[swap.pool].curve.rate(x) * swap.share for swap, x in used]) / SHARES_PER_HOP
            amounts[pair] = sum([x for _, x in used])
        values, per_share = {self._problem.graph.addresses[self._problem.spec.target]: 1.0}, dict[str, float]()
        for token in reversed(topological_order(self._hops) or []):
            leaving = [pair for pair in self._hops if pair[0] == token]
            total = sum([carried[pair] for pair in leaving])
            if total:
                per_share[token] = sum([amounts[pair] for pair in leaving]) / total
                worth = sum([carried[pair] * rates[pair] * values.get(pair[1], 0.0) for pair in leaving])
                values[token] = worth / total
        return _Margins(rates, amounts, values, per_share)

    def _refills(self, margins: _Margins) -> Iterator[_HopMove]:
        """Yield hops whose pools are filled again to equal rates for the amount that arrives: to the last unit."""
        paid = dict.fromkeys(self._hops, 0)
        for step in self.best.replay.steps:
            paid[step.token_in, step.token_out] += step.amount_out
        has_gas = self._problem.spec.gas_value > 0.0
        for pair, hop in self._hops.items():
            arcs, amount = self._arcs[pair], margins.amounts[pair]
            pools = [arcs[swap.pool] for swap in hop] if has_gas else list(arcs.values())
            if len(pools) > 1 and amount:
                filled = Hop(pools)
                amounts, amount_out = filled.split_and_output(amount)
                shares = pool_shares(filled, amounts, amount, 1.0)
                swaps = tuple(Swap(pools[k].pool.key, *pair, n) for k, n in shares)
                yield _HopMove((amount_out - paid[pair]) * margins.values[pair[1]], pair, swaps)

    def _tick_moves(self, margins: _Margins, takers: list[_Path]) -> Iterator[_PathMove | _HopMove]:
        """Yield moves of what a swap sells beyond the last tick that it crosses, where that loses less than its gas."""
        spec, step_size = self._problem.spec, self._problem.spec.share_step
        for step in self.best.replay.steps:
            pair, arc = (step.token_in, step.token_out), self._arcs[step.token_in, step.token_out][step.pool]
            beyond, gas = _beyond_last_tick(arc, pair, float(step.amount_in))
            rate, value = arc.curve.rate(float(step.amount_in)), margins.values[pair[1]]
            lost = beyond * (arc.curve.rate(step.amount_in - beyond) - rate) / 2.0 * value
            gain = gas * spec.gas_value - lost
            if not gas or gain <= self._min_gain:
                continue
            hop, arcs = self._hops[pair], self._arcs[pair]
            if len(hop) > 1:
                size = ceil(beyond * SHARES_PER_HOP / margins.amounts[pair])
                giver = next(k for k, swap in enumerate(hop) if swap.pool == step.pool)
                shares = [swap.share for swap in hop]
                taker = max(
                    (k for k in range(len(hop)) if k != giver),
                    key=lambda k: arcs[hop[k].pool].curve.rate(margins.amounts[pair] * shares[k] / SHARES_PER_HOP),
                )
                size = min(size, shares[giver])
                shares[giver] -= size
                shares[taker] += size
                swaps = tuple(swap._replace(share=n) for swap, n in zip(hop, shares, strict=True) if n)
                yield _HopMove(gain, pair, swaps)
            size = ceil(beyond / margins.per_share[pair[0]] / step_size) * step_size
            for giver_path in (path for path, share in self._paths.items() if pair in path and share >= size):
                for taker_path in [path for path in takers if pair not in path][:_TRIED]:
                    yield _PathMove(gain, giver_path, taker_path, size)

    def _make(self, move: _PathMove | _HopMove) -> None:
        """Make a move if it pays. A parabola through the slope and the first trial says which size pays most."""
        if isinstance(move, _HopMove):
            self._try(self._paths, self._hops | {move.pair: move.swaps})
            return
        step, start, paths = self._problem.spec.share_step, self.best.net, self._paths
        if not move.slope:
            # The estimate of where a tick lies may be a share short.
            if (self._try_size(paths, move, move.size) or start) <= start and paths[move.giver] >= move.size + step:
                self._try_size(paths, move, move.size + step)
            return
        size = max(step, int(move.size * _FIRST_PART) // step * step)
        net = self._try_size(paths, move, size)
        while net is None and size > step:
            size = max(step, size // 4 // step * step)
            net = self._try_size(paths, move, size)
        if net is None:
            return
        curvature = (move.slope * size - (net - start)) / size**2
        best = min(move.size, round(move.slope / (2.0 * curvature) / step) * step) if curvature > 0.0 else move.size
        if 0 < best != size:
            self._try_size(paths, move, best)

    def _try_size(self, paths: _Paths, move: _PathMove, size: int) -> float | None:
        moved = {**paths, move.giver: paths[move.giver] - size, move.taker: paths[move.taker] + size}
        return self._try(moved, self._hops)

    def _try(self, paths: _Paths, hops: dict[_Pair, _Swaps]) -> float | None:
        """Replay a route; keep it if it pays more. Return its net output; None if a pool rejects its amount."""
        self._replays += 1
        self._problem.spec.check()
        shares = sorted(((share, path) for path, share in paths.items() if share), key=lambda each: -each[0])
        route = Route(tuple(Segment(share, tuple(hops[pair] for pair in path)) for share, path in shares))
        scored = self._scorer.score_if_accepted(route, self.best.amount_in)
        if scored and scored.net > self.best.net:
            self.best, self._paths, self._hops = scored, paths, hops
        return scored.net if scored else None


def _beyond_last_tick(arc: Arc, pair: _Pair, amount_in: float) -> tuple[float, int]:
    """Return what a swap sells beyond the last step of its gas, and the gas of that step; zeros if it has none."""
    curve, pool = arc.curve, arc.pool
    gas = pool.gas_units_to(*pair, curve.rate(amount_in))
    low, high = 0.0, amount_in
    if pool.gas_units_to(*pair, curve.start_rate) >= gas:
        return 0.0, 0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        if pool.gas_units_to(*pair, curve.rate(middle)) < gas:
            low = middle
        else:
            high = middle
    return amount_in - low, gas - pool.gas_units_to(*pair, curve.rate(low))


def _path(segment: Segment) -> _Path:
    return tuple((hop[0].token_in, hop[0].token_out) for hop in segment.hops)


def _key(move: _PathMove | _HopMove) -> tuple[object, ...]:
    """Return what names a move when its gain has changed."""
    if isinstance(move, _HopMove) or not move.slope:
        return move[1:]
    return move[1:3]
