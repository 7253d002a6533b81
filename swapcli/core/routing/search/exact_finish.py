"""Decide the shares of a route by exact replays: of its segments, and of the pools within its hops.

Rounded solutions, single paths and other ways contribute paths, as far as these can join: no cycle of tokens, no second
use of a pool. Marginal rates of the curves, at the amounts of the last replay, say where a share brings more than where
it is. They only rank the moves: a replay that pays more net of gas accepts one. So a pool may be filled to its last
unit, a swap may stop short of a tick whose gas it does not earn, and what an order has beyond the depth of its pools
goes where it brings most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from math import ceil, inf

from swapcli.core.model.pool import RateCurve
from swapcli.core.model.quote import MAX_SEGMENTS, SHARES_PER_HOP, Route, Segment, Swap
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.order_flow import trades_by_pair
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import largest_remainder, move_sizes, pool_shares
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.core.routing.solver.newton import Solution
from swapcli.core.routing.solver.parallel_pools import Hop

_SIZES = (1_600, 400, 100, 25, 5, 1)  # hundredths of a percent moved at once. Empirical
_MAX_REPLAYS = 60  # bounds the work. Empirical: moves after these gain next to nothing
_MAX_PATHS = 200  # that the hops join to. Bounds the work; the shortest come first
_TRIED = 8  # givers that lose least, and takers that gain most by a size, before all are. Empirical
_MAX_FAILED = 12  # moves of a size in a row. Empirical
_SMALL = 1e-3  # of a token's balance: a change by less has a constant rate
_BISECTIONS = 30  # to find the amount that reaches a tick, to a billionth

_Pair = tuple[str, str]
"""A hop: the addresses of the token in and out."""
_Path = tuple[_Pair, ...]
_Paths = dict[_Path, int]
_Swaps = tuple[Swap, ...]


class _PathMove(NamedTuple):
    """A move of `size` hundredths of a percent between two paths, and about what it gains."""

    gain: float
    giver: _Path
    taker: _Path
    size: int


class _HopMove(NamedTuple):
    """Other shares of the pools of a hop, and about what they gain."""

    gain: float
    pair: _Pair
    swaps: _Swaps


class _Margins:
    """Estimates of what a little more or less on a path changes, at the amounts of a replay.

    `sold` are the curves of each hop with what they sell and their shares, `leaving` the hops that sell each token used
    with their parts of it, `values` is what a unit of it brings, and `per_share` its units per hundredth of a percent.
    """

    def __init__(self) -> None:
        self.sold: dict[_Pair, list[tuple[RateCurve, float, float]]] = {}
        self.values: dict[str, float] = {}
        self.per_share: dict[str, float] = {}
        self.leaving: dict[str, list[tuple[_Pair, float]]] = {}
        self._changes: dict[tuple[_Pair, float], float] = {}

    def amount(self, pair: _Pair) -> float:
        """Return what the hop sells."""
        return sum([amount for _, amount, _ in self.sold[pair]])

    def change(self, pair: _Pair, amount: float) -> float:
        """Return how the output of a hop changes with its input, split as before; minus infinity without capacity."""
        known = self._changes.get((pair, amount))
        if known is None:
            known = 0.0
            for curve, sold, share in self.sold[pair]:
                changed = max(0.0, sold + amount * share)
                full = changed > max(sold, curve.capacity)
                known += -inf if full else curve.amount_out(changed) - curve.amount_out(sold)
            self._changes[pair, amount] = known
        return known

    def worth(self, token: str, amount: float) -> float:
        """Return what a change of the balance of a token brings, at its value if it is small."""
        leaving = self.leaving.get(token, ())
        if abs(amount) <= _SMALL * sum([self.amount(pair) for pair, _ in leaving]) or not leaving:
            return amount * self.values[token]
        return sum([self.worth(pair[1], self.change(pair, amount * part)) for pair, part in leaving])

    def gains(self, path: _Path, share: int) -> dict[_Pair, float]:
        """Return about what each hop of `path` gains by `share` more, together with hops that only this path uses.

        What a hop gets more, it takes from the balance of its token, which the other hops there would sell.
        """
        gains: dict[_Pair, float] = {}
        first, amount = path[0], 0.0
        for pair in path:
            units = self.per_share.get(pair[0])
            if units is not None:
                gains[first] = gains.get(first, 0.0) + self.worth(pair[0], amount)
                first, amount = pair, units * share
                gains[first] = self.worth(pair[0], -amount)
            amount = self.change(pair, amount)
        gains[first] += amount
        return gains


def finish(
    problem: RoutingProblem,
    scorer: RouteScorer,
    found: ScoredRoute,
    others: Iterable[ScoredRoute],
    solution: Solution,
    min_gain: float,
) -> Iterator[ScoredRoute]:
    """Yield routes that pay more and more net of gas, of the hops of `found`, `others` and `solution` that can join.

    Moves that bring no more than `min_gain` are not tried. Calls the problem's check before each replay.
    """
    search = _ShareSearch(problem, scorer, found, min_gain)
    if search.is_supported:
        search.join(others, solution)
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
        self._replays = 0
        sizes = move_sizes(_SIZES, problem.spec.share_step)
        self._sizes = [(size, count) for count in (_TRIED, _MAX_PATHS) for size in sizes]
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

    def join(self, others: Iterable[ScoredRoute], solution: Solution) -> None:
        """Add the hops and pools of other routes, the best first, and of a solution, and the paths that all join to."""
        for other in sorted(others, key=lambda each: -each.net):
            for segment in other.route.segments:
                self._join(dict(zip(_path(segment), segment.hops, strict=True)))
        addresses = self._problem.graph.addresses
        for (i, j), trades in trades_by_pair(solution.trades).items():
            pair, total = (addresses[i], addresses[j]), sum([trade.amount_in for trade in trades])
            parts = [trade.amount_in * SHARES_PER_HOP / total for trade in trades]
            shares = zip(trades, largest_remainder(parts, SHARES_PER_HOP), strict=True)
            self._join({pair: tuple(Swap(trade.arc.pool.key, *pair, n) for trade, n in shares if n)})
        spec = self._problem.spec
        front: list[_Path] = [()]
        for _ in range(spec.max_hops):
            ends = [(path, path[-1][1] if path else addresses[spec.source]) for path in front]
            front = [(*path, pair) for path, end in ends for pair in self._hops if pair[0] == end]
            for path in front:
                if path[-1][1] == addresses[spec.target]:
                    self._paths.setdefault(path, 0)
            front = front[:_MAX_PATHS]
            if len(self._paths) >= _MAX_PATHS:
                break

    def _join(self, hops: dict[_Pair, _Swaps]) -> None:
        if topological_order([*self._hops, *hops]) is None:
            return
        for pair, hop in hops.items():
            self._add_arcs(pair, [swap.pool for swap in hop])
        if all(swap.pool in self._arcs[pair] for pair, hop in hops.items() for swap in hop):
            self._hops = hops | self._hops

    def improve(self) -> bool:
        """Make the most promising move that pays; return whether there is one. First large moves, then small ones."""
        while self._sizes and self._replays < _MAX_REPLAYS:
            size, count = self._sizes[0]
            moves = (move for move in self._moves(size, count) if move.gain > self._min_gain)
            for move in nlargest(_MAX_FAILED, (m for m in moves if m[1:] not in self._failed), key=lambda m: m.gain):
                if self._make(move):
                    return True
                self._failed.add(move[1:])
            self._sizes.pop(0)
        return False

    def _moves(self, size: int, count: int) -> Iterator[_PathMove | _HopMove]:
        """Yield moves of `size` between `count` givers and takers, and those that are due to ticks and single pools."""
        margins = self._margins()
        gains = {path: margins.gains(path, size) for path in self._paths}
        losses = {path: margins.gains(path, -size) for path, share in self._paths.items() if share >= size}
        takers = nlargest(count, ((sum(gain.values()), path, gain) for path, gain in gains.items()))
        for lost, giver, loss in nlargest(count, ((sum(loss.values()), path, loss) for path, loss in losses.items())):
            hops = set(giver)
            for gained, taker, gain in takers:
                # On hops of both, nothing changes.
                both = sum([gain.get(pair, 0.0) + loss.get(pair, 0.0) for pair in hops.intersection(taker)])
                yield _PathMove(gained + lost - both, giver, taker, size)
        yield from self._refills(margins)
        if self._problem.spec.gas_value and size == self._problem.spec.share_step:
            yield from self._tick_moves(margins, [taker for _, taker, _ in takers])

    def _margins(self) -> _Margins:
        """Return the margins at the amounts of the best route."""
        margins, target = _Margins(), self._problem.graph.addresses[self._problem.spec.target]
        sold = {step[:3]: float(step.amount_in) for step in self.best.replay.steps}
        carried = dict.fromkeys(self._hops, 0)
        for path, share in self._paths.items():
            for pair in path:
                carried[pair] += share
        for pair, hop in self._hops.items():
            arcs = self._arcs[pair]
            margins.sold[pair] = [(arcs[s.pool].curve, sold.get(s[:3], 0.0), s.share / SHARES_PER_HOP) for s in hop]
        values = margins.values = {target: 1.0}
        for token in reversed(topological_order(self._hops) or []):
            leaving = [pair for pair in self._hops if pair[0] == token and carried[pair]]
            total = sum([carried[pair] for pair in leaving])
            if total:
                margins.per_share[token] = sum([margins.amount(pair) for pair in leaving]) / total
                margins.leaving[token] = [(pair, carried[pair] / total) for pair in leaving]
                values[token] = 0.0
                for pair in leaving:
                    rate = sum([curve.rate(amount) * share for curve, amount, share in margins.sold[pair]])
                    values[token] += carried[pair] / total * rate * values[pair[1]]
        return margins

    def _gain(self, margins: _Margins, giver: _Path, taker: _Path, size: int) -> float:
        gains, losses = margins.gains(taker, size), margins.gains(giver, -size)
        return sum([x for pair, x in gains.items() if pair not in giver]) + sum(
            [x for pair, x in losses.items() if pair not in taker]
        )

    def _refills(self, margins: _Margins) -> Iterator[_HopMove]:
        """Yield hops whose pools are filled again to equal rates for the amount that arrives: to the last unit."""
        paid = dict.fromkeys(self._hops, 0)
        for step in self.best.replay.steps:
            paid[step.token_in, step.token_out] += step.amount_out
        has_gas = self._problem.spec.gas_value > 0.0
        for pair, hop in self._hops.items():
            arcs, amount = self._arcs[pair], margins.amount(pair)
            sold = dict(zip([swap.pool for swap in hop], [amount for _, amount, _ in margins.sold[pair]], strict=True))
            pools = [arcs[swap.pool] for swap in hop] if has_gas else list(arcs.values())
            rates = [(arc.curve.rate(sold.get(arc.pool.key, 0.0)), sold.get(arc.pool.key, 0.0)) for arc in pools]
            best = max(rates)[0]
            if amount and sum([(best - rate) * x for rate, x in rates]) * margins.values[pair[1]] > self._min_gain:
                filled = Hop(pools)
                shares = pool_shares(filled, filled.split(amount), amount, 1.0)
                amount_out = sum([pools[k].curve.amount_out(amount * n / SHARES_PER_HOP) for k, n in shares])
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
                size = ceil(beyond * SHARES_PER_HOP / margins.amount(pair))
                giver = next(k for k, swap in enumerate(hop) if swap.pool == step.pool)
                shares = [swap.share for swap in hop]
                taker = max(
                    (k for k in range(len(hop)) if k != giver),
                    key=lambda k: arcs[hop[k].pool].curve.rate(margins.amount(pair) * shares[k] / SHARES_PER_HOP),
                )
                size = min(size, shares[giver])
                shares[giver] -= size
                shares[taker] += size
                swaps = tuple(swap._replace(share=n) for swap, n in zip(hop, shares, strict=True) if n)
                yield _HopMove(gain, pair, swaps)
            size = ceil(beyond / margins.per_share[pair[0]] / step_size) * step_size
            # The estimate of where a tick lies may be a share short.
            for moved in (size, size + step_size):
                for giver_path in (path for path, share in self._paths.items() if pair in path and share >= moved):
                    for taker_path in (path for path in takers if pair not in path):
                        gain = self._gain(margins, giver_path, taker_path, moved) + gas * spec.gas_value
                        yield _PathMove(gain, giver_path, taker_path, moved)

    def _make(self, move: _PathMove | _HopMove) -> bool:
        """Make a move if it pays, and return whether it does."""
        if isinstance(move, _HopMove):
            return self._try(self._paths, self._hops | {move.pair: move.swaps})
        _, giver, taker, size = move
        paths = self._paths
        return self._try({**paths, giver: paths[giver] - size, taker: paths[taker] + size}, self._hops)

    def _try(self, paths: _Paths, hops: dict[_Pair, _Swaps]) -> bool:
        """Replay a route, keep it if it pays more, and return whether it does."""
        self._replays += 1
        self._problem.spec.check()
        shares = sorted(((share, path) for path, share in paths.items() if share), key=lambda each: -each[0])
        if len(shares) > MAX_SEGMENTS or self._replays > _MAX_REPLAYS:
            return False
        route = Route(tuple(Segment(share, tuple(hops[pair] for pair in path)) for share, path in shares))
        scored = self._scorer.score_if_accepted(route, self.best.amount_in)
        if scored is None or scored.net <= self.best.net:
            return False
        self.best, self._paths, self._hops = scored, paths, hops
        return True


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
