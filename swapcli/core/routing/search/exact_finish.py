"""Decide the shares of a route by exact replays: of its segments, and of the pools within its hops.

Rounded solutions, single paths and other ways contribute paths, as far as these can join: no cycle of tokens, no second
use of a pool. Marginal rates of the curves, at the amounts of the last replay, say where a share brings more than where
it is. They only rank the moves: a replay that pays more net of gas accepts one. So a pool may be filled to its last
unit, a swap may stop short of a tick whose gas it does not earn, and what an order has beyond the depth of its pools
goes where it brings most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from math import ceil, inf

from swapcli.core.model.quote import MAX_SEGMENTS, SHARES_PER_HOP, WHOLE_PERCENTS, Route, Segment, Swap
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
_MAX_REPLAYS = 32  # bounds the work. Empirical: moves after these gain next to nothing
_MAX_PATHS = 100  # that the hops join to. Bounds the work; the shortest come first
_TRIED = 12  # givers that lose least, and takers that gain most, by a size. Empirical
_PREDICTED = 100  # moves between them whose whole effect is estimated, before a replay. Empirical
_MIN_PART = 3e-3  # of the gap: what a move must close. Empirical
_SMALL = 1e-2  # of a token's balance: a change by less has a constant rate
_IDLE = 3  # pools of a hop that trade nothing yet and pay most for its amount. Empirical
_MAX_POOLS = 6  # of a hop: with more, the gas of one is a small part of what it trades. Bounds the work
_TICK_PATHS = 3  # that give, and take, what a swap sells beyond a tick. Empirical
_BISECTIONS = 30  # to find the amount that reaches a tick, to a billionth

_Pair = tuple[str, str]
"""A hop: the addresses of the token in and out."""
_Path = tuple[_Pair, ...]
_Paths = dict[_Path, int]
_Sold = tuple[Arc, float, float, float]
"""A pool, what it sells and brings, and its part of the input of its hop."""
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


class _Flow:
    """The flow of a replayed route, with estimates of what a little more or less on a path changes.

    `sold` are the pools of each hop with what they sell, bring and have of its input. `per_share` are the units of
    each token used per hundredth of a percent of the order, and `values` what a unit brings.
    """

    def __init__(self, order: Sequence[str], carried: dict[_Pair, int], sold: dict[_Pair, list[_Sold]]) -> None:
        self._order, self._carried, self._sold = order, carried, sold
        self.amounts = {pair: sum([amount for _, amount, _, _ in pools]) for pair, pools in sold.items()}
        self._leaving: dict[str, list[_Pair]] = {}
        for pair in carried:
            self._leaving.setdefault(pair[0], []).append(pair)
        self._totals = {token: sum([carried[pair] for pair in pairs]) for token, pairs in self._leaving.items()}
        self.per_share: dict[str, float] = {}
        self.values = {order[-1]: 1.0}
        for token in reversed(order):
            total = self._totals.get(token)
            if total:
                used = [pair for pair in self._leaving[token] if carried[pair]]
                self.per_share[token] = sum([self.amounts[pair] for pair in used]) / total
                self.values[token] = sum([carried[p] * self._rate(p) * self.values[p[1]] for p in used]) / total

    def _rate(self, pair: _Pair) -> float:
        return sum([arc.curve.rate(amount) * part for arc, amount, _, part in self._sold[pair]])

    def _change(self, pair: _Pair, amount: float) -> float:
        """Return how the output of a hop changes with its input, split as before; minus infinity without capacity."""
        change = 0.0
        for arc, sold, paid, part in self._sold[pair]:
            changed = max(0.0, sold + amount * part)
            if changed > max(sold, arc.curve.capacity):
                return -inf
            change += arc.curve.amount_out(changed) - paid
        return change

    def _gas_change(self, pair: _Pair, amount: float) -> int:
        """Return how the gas of a hop's pools changes with its input."""
        rates = [
            (arc, arc.curve.rate(x), arc.curve.rate(max(0.0, x + amount * part)))
            for arc, x, _, part in self._sold[pair]
        ]
        return sum(
            [arc.pool.gas_units_to(*pair, rate) - arc.pool.gas_units_to(*pair, before) for arc, before, rate in rates]
        )

    def gains(self, path: _Path, share: int) -> dict[_Pair, float]:
        """Return about what each hop of `path` gains by `share` more, together with hops that only this path uses.

        What a hop gets more, it takes from the balance of its token, which the other hops there would sell.
        """
        gains: dict[_Pair, float] = {}
        first, amount = path[0], 0.0
        for pair in path:
            units = self.per_share.get(pair[0])
            if units is not None:
                value = self.values[pair[0]]
                gains[first] = gains.get(first, 0.0) + amount * value
                first, amount = pair, units * share
                gains[first] = -amount * value
            amount = self._change(pair, amount)
        gains[first] += amount
        return gains

    def gain(self, move: _PathMove, gas_value: float = 0.0) -> float:
        """Return what a move changes, followed through all tokens whose balances change by more than a little.

        With a value of gas, the gas of ticks on the way counts.
        """
        _, giver, taker, size = move
        changes = dict.fromkeys(taker, size)
        for pair in giver:
            changes[pair] = changes.get(pair, 0) - size
        touched = {pair[0] for pair, change in changes.items() if change}
        balances: dict[str, float] = {}
        gain = 0.0
        for token in self._order[:-1]:
            more = balances.get(token, 0.0)
            if not more and token not in touched:
                continue
            total = self._totals[token]
            balance = self.per_share.get(token, 0.0) * total
            if token not in touched and abs(more) <= _SMALL * balance:
                gain += more * self.values[token]
                continue
            pairs = self._leaving[token]
            shares = [self._carried[pair] + changes.get(pair, 0) for pair in pairs]
            each = (balance + more) / (sum(shares) or 1)
            for pair, share in zip(pairs, shares, strict=True):
                if share or self._carried[pair]:
                    amount = each * share - self.amounts[pair]
                    balances[pair[1]] = balances.get(pair[1], 0.0) + self._change(pair, amount)
                    gain -= self._gas_change(pair, amount) * gas_value if gas_value else 0.0
        return gain + balances.get(self._order[-1], 0.0)


def finish(
    problem: RoutingProblem,
    scorer: RouteScorer,
    found: ScoredRoute,
    others: Iterable[ScoredRoute],
    solution: Solution,
    gap: float,
    min_gain: float,
) -> Iterator[ScoredRoute]:
    """Yield routes that pay more and more net of gas, of the hops of `found`, `others` and `solution` that can join.

    `gap` is what better shares of the paths may gain at most. Moves that bring no more than `min_gain` are not tried.
    Calls the problem's check before each replay.
    """
    search = _ShareSearch(problem, scorer, found, gap, min_gain)
    if search.is_supported:
        search.join(others, solution)
        while search.improve():
            yield search.best


class _ShareSearch:
    """The shares of the best route so far, and the moves that did not pay."""

    def __init__(
        self, problem: RoutingProblem, scorer: RouteScorer, found: ScoredRoute, gap: float, min_gain: float
    ) -> None:
        self._problem, self._scorer, self.best = problem, scorer, found
        # Moves that close less of the gap are too many.
        self._min_gain = max(min_gain, _MIN_PART * gap)
        self._paths: _Paths = {}
        self._hops: dict[_Pair, _Swaps] = {}
        self._arcs: dict[_Pair, dict[str, Arc]] = {}
        """The pools that a hop may use, by key."""
        self._failed: set[tuple[object, ...]] = set()
        self._replays, self._sizes = 0, move_sizes(_SIZES, problem.spec.share_step) if gap > min_gain else []
        if problem.spec.gas_value:
            self._sizes.append(0)  # for gas
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
        used = {pair for path in self._paths for pair in path}
        self._hops = {pair: hop for pair, hop in self._hops.items() if pair in used}

    def _join(self, hops: dict[_Pair, _Swaps]) -> None:
        if topological_order([*self._hops, *hops]) is None:
            return
        for pair, hop in hops.items():
            self._add_arcs(pair, [swap.pool for swap in hop])
        if all(swap.pool in self._arcs[pair] for pair, hop in hops.items() for swap in hop):
            self._hops = hops | self._hops

    def improve(self) -> bool:
        """Make the most promising move that pays; return whether there is one. First large moves, then small ones."""
        while self._sizes:
            found = self._moves(self._sizes[0]) if self._sizes[0] else self._gas_moves()
            moves = [move for move in found if move.gain > self._min_gain]
            for move in sorted(moves, key=lambda each: -each.gain):
                if self._replays >= _MAX_REPLAYS:
                    return False
                if move[1:] not in self._failed and self._make(move):
                    return True
                self._failed.add(move[1:])
            self._sizes.pop(0)
        return False

    def _moves(self, size: int) -> Iterator[_PathMove | _HopMove]:
        """Yield moves of `size` between paths, and those that are due to single pools and to ticks."""
        flow = self._flow()
        gains = {path: flow.gains(path, size) for path in self._paths}
        losses = {path: flow.gains(path, -size) for path, share in self._paths.items() if share >= size}
        takers = nlargest(_TRIED, gains, key=lambda path: sum(gains[path].values()))
        moves: list[_PathMove] = []
        for giver in nlargest(_TRIED, losses, key=lambda path: sum(losses[path].values())):
            loss, hops = losses[giver], set(giver)
            for taker in takers:
                # On hops of both, nothing changes.
                gain = sum([x for pair, x in gains[taker].items() if pair not in hops])
                gain += sum([x for pair, x in loss.items() if pair not in taker])
                moves.append(_PathMove(gain, giver, taker, size))
        for move in nlargest(_PREDICTED, moves, key=lambda move: move.gain):
            if move.gain > 0.0 or size >= WHOLE_PERCENTS:
                yield move._replace(gain=flow.gain(move))
        yield from self._refills(flow)

    def _gas_moves(self) -> Iterator[_PathMove | _HopMove]:
        """Yield moves that may save gas, or earn that of a further pool."""
        flow = self._flow()
        takers = nlargest(_TRIED, self._paths, key=lambda path: sum(flow.gains(path, 1).values()))
        yield from self._tick_moves(flow, takers)
        for pair in self._hops:
            if flow.amounts[pair]:
                yield from self._pool_moves(flow, pair)

    def _pool_moves(self, flow: _Flow, pair: _Pair) -> Iterator[_HopMove]:
        """Yield a pool more, a pool less, and another pool for one of a hop, if the hop then pays more net of gas."""
        graph, arcs, amount, value = self._problem.graph, self._arcs[pair], flow.amounts[pair], flow.values[pair[1]]
        present = [arcs[swap.pool] for swap in self._hops[pair]]
        used = {step.pool for step in self.best.replay.steps}
        i, j = graph.token_index[pair[0]], graph.token_index[pair[1]]
        idle = [arc for arc in graph.arcs_by_pair[i].get(j, ()) if arc.pool.key not in used]
        part, gas_value = amount / len(present), self._problem.spec.gas_value
        idle = nlargest(
            _IDLE, idle, key=lambda arc: arc.curve.amount_out(part) * value - arc.pool.gas_units(arc.pool) * gas_value
        )
        fewer = [[arc for arc in present if arc is not left] for left in present] if len(present) <= _MAX_POOLS else []
        net = self._net(present, pair, amount, value)
        for pools in [*([*some, arc] for some in (present, *fewer) for arc in idle), *(some for some in fewer if some)]:
            gain = self._net(pools, pair, amount, value) - net
            if gain > self._min_gain:
                hop = Hop(pools)
                shares = pool_shares(hop, hop.split(amount), amount, 1.0)
                self._add_arcs(pair, [arc.pool.key for arc in pools])
                yield _HopMove(gain, pair, tuple(Swap(pools[k].pool.key, *pair, n) for k, n in shares))

    def _net(self, pools: Sequence[Arc], pair: _Pair, amount: float, value: float) -> float:
        """Return what a hop of `pools` pays for `amount`, less the gas of their swaps; minus infinity if too much."""
        hop, spec = Hop(pools), self._problem.spec
        if amount >= hop.capacity:
            return -inf
        amounts, amount_out = hop.split_and_output(amount)
        sold = [(arc, x) for arc, x in zip(pools, amounts, strict=True) if x > 0.0]
        gas = sum([arc.pool.gas_units_to(*pair, arc.curve.rate(x)) + spec.router_gas.each_swap for arc, x in sold])
        return amount_out * value - gas * spec.gas_value

    def _flow(self) -> _Flow:
        """Return the flow of the best route."""
        sold = {step[:3]: (float(step.amount_in), float(step.amount_out)) for step in self.best.replay.steps}
        carried = dict.fromkeys(self._hops, 0)
        for path, share in self._paths.items():
            for pair in path:
                carried[pair] += share
        pools: dict[_Pair, list[_Sold]] = {}
        for pair, hop in self._hops.items():
            arcs = self._arcs[pair]
            pools[pair] = [
                (arcs[swap.pool], *sold.get(swap[:3], (0.0, 0.0)), swap.share / SHARES_PER_HOP) for swap in hop
            ]
        return _Flow(topological_order(self._hops) or [], carried, pools)

    def _refills(self, flow: _Flow) -> Iterator[_HopMove]:
        """Yield hops whose pools are filled again to equal rates for the amount that arrives: to the last unit."""
        paid = dict.fromkeys(self._hops, 0)
        sold = dict.fromkeys([step[:3] for step in self.best.replay.steps], 0)
        for step in self.best.replay.steps:
            paid[step.token_in, step.token_out] += step.amount_out
            sold[step[:3]] += step.amount_in
        has_gas = self._problem.spec.gas_value > 0.0
        for pair, hop in self._hops.items():
            arcs, amount = self._arcs[pair], flow.amounts[pair]
            pools = [arcs[swap.pool] for swap in hop] if has_gas else list(arcs.values())
            amounts = [sold.get((arc.pool.key, *pair), 0) for arc in pools]
            rates = [(arc.curve.rate(float(x)), x) for arc, x in zip(pools, amounts, strict=True)]
            best = max(rates)[0]
            if amount and sum([(best - rate) * x for rate, x in rates]) * flow.values[pair[1]] > self._min_gain:
                filled = Hop(pools)
                shares = pool_shares(filled, filled.split(amount), amount, 1.0)
                amount_out = sum([pools[k].curve.amount_out(amount * n / SHARES_PER_HOP) for k, n in shares])
                swaps = tuple(Swap(pools[k].pool.key, *pair, n) for k, n in shares)
                yield _HopMove((amount_out - paid[pair]) * flow.values[pair[1]], pair, swaps)

    def _tick_moves(self, flow: _Flow, takers: list[_Path]) -> Iterator[_PathMove | _HopMove]:
        """Yield moves of what a swap sells beyond the last tick that it crosses, where that loses less than its gas."""
        spec, step_size = self._problem.spec, self._problem.spec.share_step
        for step in self.best.replay.steps:
            pair, arc = (step.token_in, step.token_out), self._arcs[step.token_in, step.token_out][step.pool]
            beyond, gas = _beyond_last_tick(arc, pair, float(step.amount_in))
            rate, value = arc.curve.rate(float(step.amount_in)), flow.values[pair[1]]
            lost = beyond * (arc.curve.rate(step.amount_in - beyond) - rate) / 2.0 * value
            gain = gas * spec.gas_value - lost
            if not gas or gain <= self._min_gain:
                continue
            hop, arcs = self._hops[pair], self._arcs[pair]
            if len(hop) > 1:
                size = ceil(beyond * SHARES_PER_HOP / flow.amounts[pair])
                giver = next(k for k, swap in enumerate(hop) if swap.pool == step.pool)
                shares = [swap.share for swap in hop]
                taker = max(
                    (k for k in range(len(hop)) if k != giver),
                    key=lambda k: arcs[hop[k].pool].curve.rate(flow.amounts[pair] * shares[k] / SHARES_PER_HOP),
                )
                size = min(size, shares[giver])
                shares[giver] -= size
                shares[taker] += size
                swaps = tuple(swap._replace(share=n) for swap, n in zip(hop, shares, strict=True) if n)
                yield _HopMove(gain, pair, swaps)
            size = ceil(beyond / flow.per_share[pair[0]] / step_size) * step_size
            # The estimate of where a tick lies may be a share short.
            for moved in (size, size + step_size):
                givers = [path for path, share in self._paths.items() if pair in path and share >= moved]
                for giver_path in givers[:_TICK_PATHS]:
                    for taker_path in [path for path in takers if pair not in path][:_TICK_PATHS]:
                        move = _PathMove(0.0, giver_path, taker_path, moved)
                        yield move._replace(gain=flow.gain(move, spec.gas_value))

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
        if len(shares) > MAX_SEGMENTS:
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
