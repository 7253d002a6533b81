"""Decide the shares of a route by exact replays: the shares of its segments, and of the pools within its hops.

Rounded solutions, single paths and other candidates contribute hops, provided that the hops form no cycle of tokens and
do not use a pool twice. At the amounts of the last replay, the curves estimate the gain after gas of moving a share. A
move counts only if its replay pays more. So a pool may be filled to its last unit, a swap may stop short of a tick that
does not earn its gas, and an amount beyond the depth of its pools goes where it pays most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import takewhile
from math import inf

from swapcli.core.model.quote import MAX_SEGMENTS, SHARES_PER_HOP, WHOLE_PERCENTS, Route, Segment, Swap
from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import topological_order
from swapcli.core.routing.graph.market_graph import MIN_RATE, Arc
from swapcli.core.routing.search.order_flow import trades_by_pair
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.rounding import move_sizes, pool_shares
from swapcli.core.routing.search.scored_route import RouteScorer, ScoredRoute
from swapcli.core.routing.solver.newton import Solution
from swapcli.core.routing.solver.parallel_pools import Hop

_SIZES = (1_600, 400, 100, 25, 5, 1)  # hundredths of a percent moved at once. Empirical
_REPAIR_SIZES = (6_400, 3_200)  # more rounds, until every pool can take its share
_MAX_REPLAYS = 32  # bounds the work. Empirical: further moves gain next to nothing
_MAX_FAILED = 6  # moves of one size that replays may reject. Empirical: estimates are mostly close
_MAX_PATHS = 100  # of the hops. Bounds the work; the shortest come first
_TRIED = 20  # paths that lose least by giving up a share, and paths that gain most by taking it. Empirical
_PREDICTED = 100  # moves between them, the best by estimate, whose gain is then computed. Empirical
_MIN_PART = 3e-3  # of the rounding loss: a move that recovers less is not worth its replay. Empirical
_DRAINED = 1e-3  # of the output: if rounding loses more, the order drains its pools. Empirical
_LEAST = 0.5  # base units: smaller amounts round to no swap
_SAME = 1e-12  # of an amount: float rounding errors
_SMALL_CHANGE = 1e-4  # of a hop's input: for smaller changes, the shares of its pools stay
_SMALL = 1e-2  # of a token's balance: the rate counts as constant for a smaller change
_CAPACITY_MARGIN = 1 - 1e-6  # of a hop's capacity, because curves are floats
_OVERFLOW_PENALTY = 1e3  # of the output: more than the gain of any move
_MAX_REPAIRS = 12  # moves of a size. Empirical
_IDLE = 3  # unused pools of a hop that pay most for its amount. Empirical
_MAX_POOLS = 6  # of a hop: with more pools, the gas of one is a small part of its trade. Bounds the work

_Pair = tuple[str, str]
"""A hop: the addresses of the token in and out."""
_Path = tuple[_Pair, ...]
_Swaps = tuple[Swap, ...]
_Use = tuple[str, str, str]
"""A pool with the token in and out."""
_Sold = tuple[Arc, float, float, float]
"""A pool, its input and output, and its part of a change in the input of its hop."""


class _Move(NamedTuple):
    """The estimated gain of a move, and the new shares of paths and of the pools of hops."""

    gain: float
    shares: tuple[tuple[_Path, int], ...] = ()
    swaps: tuple[tuple[_Pair, _Swaps], ...] = ()


class _Flow:
    """The flow of a replayed route over hops that carry shares of the order, and its response when shares move.

    `values` has the value of one unit of each token used, in units of the target.
    """

    def __init__(
        self, order: Sequence[str], carried: Mapping[_Pair, int], sold: Mapping[_Pair, list[_Sold]], gas_value: float
    ) -> None:
        self._order, self._carried, self.sold, self._gas_value = order, carried, sold, gas_value
        self.amounts = {pair: sum([amount for _, amount, _, _ in pools]) for pair, pools in sold.items()}
        self._capacities = {
            pair: max(1.0, sum([arc.curve.capacity for arc, _, _, _ in pools]) * _CAPACITY_MARGIN)
            for pair, pools in sold.items()
        }
        self._gas: dict[_Pair, int] = {}
        self._leaving: dict[str, list[_Pair]] = {}
        for pair in carried:
            self._leaving.setdefault(pair[0], []).append(pair)
        self._totals = {token: sum([carried[pair] for pair in pairs]) for token, pairs in self._leaving.items()}
        self._per_share: dict[str, float] = {}
        self.values = {order[-1]: 1.0}
        self._output = sum([paid for pair, pools in sold.items() if pair[1] == order[-1] for _, _, paid, _ in pools])
        for token in reversed(order):
            if total := self._totals.get(token):
                used = [pair for pair in self._leaving[token] if carried[pair]]
                self._per_share[token] = sum([self.amounts[pair] for pair in used]) / total
                rates = [sum([arc.curve.rate(x) * part for arc, x, _, part in sold[pair]]) for pair in used]
                parts = [carried[pair] / total * self.values[pair[1]] for pair in used]
                self.values[token] = sum([rate * part for rate, part in zip(rates, parts, strict=True)])

    def _sold_after(self, pair: _Pair, amount: float) -> list[float]:
        """Return the amounts that the pools of a hop sell after a change.

        Decreases are proportional; increases go where the rate falls least.
        """
        pools, total = self.sold[pair], self.amounts[pair]
        if amount < 0.0:
            part_left = max(0.0, 1.0 + amount / total) if total else 0.0
            return [sold * part_left for _, sold, _, _ in pools]
        return [sold + amount * part for _, sold, _, part in pools]

    def _change(self, pair: _Pair, amount: float) -> float:
        """Return how the output of a hop changes with its input."""
        changed = zip(self.sold[pair], self._sold_after(pair, amount), strict=True)
        return sum([arc.curve.amount_out(sold) - paid for (arc, _, paid, _), sold in changed])

    def overflow(self, pair: _Pair, amount: float = 0.0) -> float:
        """Return the part by which a hop's input exceeds the capacity of its pools, with `amount` more input."""
        return max(0.0, (self.amounts[pair] + amount) / self._capacities[pair] - 1.0)

    def _penalty(self, pair: _Pair, amount: float) -> float:
        """Return the penalty on a change of a hop's input, so that no pool gets more than it can take."""
        over = self.overflow(pair, amount) - self.overflow(pair)
        return over * _OVERFLOW_PENALTY * self._output if over else 0.0

    def _gas_change(self, pair: _Pair, amount: float) -> float:
        """Return how the gas value of a hop's pools changes with its input: by ticks, and by whole swaps."""
        before = self._gas.get(pair)
        if before is None:
            used = [(arc, sold) for arc, sold, _, _ in self.sold[pair] if sold]
            before = sum([arc.pool.gas_units_to(*pair, arc.curve.rate(sold)) for arc, sold in used])
            self._gas[pair] = before
        sold = zip(self.sold[pair], self._sold_after(pair, amount), strict=True)
        after = sum([pool[0].pool.gas_units_to(*pair, pool[0].curve.rate(x)) for pool, x in sold if x > _LEAST])
        return (after - before) * self._gas_value

    def estimate(self, path: _Path, share: int) -> float:
        """Estimate the gain of `share` more on a path, with one value for each token.

        A hop's extra input comes from its token's balance, which the other hops there would sell.
        """
        gain = amount = 0.0
        for pair in path:
            units = self._per_share.get(pair[0])
            if units is not None:
                value = self.values[pair[0]]
                gain += (amount - units * share) * value
                amount = units * share
            gain -= self._penalty(pair, amount)
            amount = self._change(pair, amount)
        return gain + amount

    def gain(self, giver: _Path, taker: _Path, share: int) -> float:
        """Return the gain of a move, followed through all tokens whose balances change noticeably."""
        changes = dict.fromkeys(taker, share)
        for pair in giver:
            changes[pair] = changes.get(pair, 0) - share
        touched = {pair[0] for pair, change in changes.items() if change}
        balances: dict[str, float] = {}
        gain = 0.0
        for token in self._order[:-1]:
            more = balances.get(token, 0.0)
            if not more and token not in touched:
                continue
            balance = self._per_share.get(token, 0.0) * self._totals[token]
            if token not in touched and abs(more) <= _SMALL * balance:
                gain += more * self.values[token]
                continue
            shares = [(pair, self._carried[pair] + changes.get(pair, 0)) for pair in self._leaving[token]]
            each = (balance + more) / (sum([n for _, n in shares]) or 1)
            for pair, n in shares:
                amount = each * n - self.amounts[pair]
                if abs(amount) > _SAME * self.amounts[pair]:
                    balances[pair[1]] = balances.get(pair[1], 0.0) + self._change(pair, amount)
                    gain -= self._penalty(pair, amount)
                    if self._gas_value:
                        gain -= self._gas_change(pair, amount)
        return gain + balances.get(self._order[-1], 0.0)


class ShareSearch:
    """The shares of a route, and the moves that did not pay off.

    `gap` is the most that rounding may have lost. Moves that gain at most `min_gain` are not tried.
    Example: `list(ShareSearch(problem, scorer, found.route, 1e6, 1.0).run(found))`.
    """

    def __init__(
        self, problem: RoutingProblem, scorer: RouteScorer, route: Route, gap: float = 0.0, min_gain: float = 0.0
    ) -> None:
        self._problem, self._scorer, self._gap, self._min_gain = problem, scorer, gap, min_gain
        self._net, self._is_drained, self._moves_shares, self._crossed = -inf, True, True, dict[str, int]()
        self._sold: dict[_Use, tuple[float, float]] = {}
        """The input and output of each pool."""
        self._paths: dict[_Path, int] = {}
        self._hops: dict[_Pair, _Swaps] = {}
        self._arcs: dict[_Pair, dict[str, Arc]] = {}
        """The pools that a hop may use, by key."""
        self._failed = set[_Move]()
        self._replays = 0
        for segment in route.segments:
            path = _path(segment)
            self._paths[path] = self._paths.get(path, 0) + segment.share
            self._join(dict(zip(path, segment.hops, strict=True)))
        self._is_supported = self._hops.keys() >= {pair for path in self._paths for pair in path}

    def join(self, others: Iterable[ScoredRoute], solution: Solution) -> None:
        """Add the hops and pools of other routes (the best first) and of a solution, and the paths that they form."""
        for other in sorted(others, key=lambda each: -each.net):
            for segment in other.route.segments:
                self._join(dict(zip(_path(segment), segment.hops, strict=True)))
        spec, addresses = self._problem.spec, self._problem.graph.addresses
        for (i, j), trades in trades_by_pair(solution.trades).items():
            pair, total = (addresses[i], addresses[j]), sum([trade.amount_in for trade in trades])
            parts = [(trade.arc.pool.key, round(trade.amount_in * SHARES_PER_HOP / total)) for trade in trades]
            self._join({pair: tuple(Swap(key, *pair, n) for key, n in parts if n)})
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

    def run(self, found: ScoredRoute, *, moves_shares: bool = True) -> Iterator[ScoredRoute]:
        """Yield routes with increasing output after gas; `found` is the replay of the current route.

        Large moves between paths come first, then small ones, and last changes of pools that save gas. Without
        `moves_shares`, moves between paths come only if the route crosses ticks. Calls the problem's check
        before each replay.
        """
        if not self._is_supported:
            return
        self._keep(found)
        self._crossed = self._scorer.crossed_gas(found)
        self._is_drained = self._gap > _DRAINED * found.net
        crossed = self._problem.spec.gas_value * sum(self._crossed.values())
        self._moves_shares, potential = moves_shares, found.net + self._gap
        are_open = moves_shares or crossed > self._min_gain
        for size in [*(move_sizes(_SIZES, self._problem.spec.share_step) if are_open else ()), 0]:
            while better := self._improve(size, max(self._min_gain, _MIN_PART * (potential - self._net))):
                yield better

    def repair(self) -> ScoredRoute | None:
        """Return the route with shares moved until no pool gets more than its curve allows; None if that fails.

        An amount beyond the depth of its pools goes where a pool takes it.
        """
        for size in move_sizes((*_REPAIR_SIZES, *_SIZES), self._problem.spec.share_step):
            for _ in range(_MAX_REPAIRS if self._is_supported else 0):
                self._problem.spec.check()
                self._hops, self._sold = self._simulate(self._paths)
                flow = self._flow()
                if not any(flow.overflow(pair) for pair in self._hops):
                    return self._make(_Move(inf))
                move = max(self._path_moves(flow, size), key=lambda each: each.gain, default=_Move(0.0))
                if move.gain <= 0.0:
                    break
                self._paths |= dict(move.shares)
        return None

    def _simulate(self, paths: Mapping[_Path, int]) -> tuple[dict[_Pair, _Swaps], dict[_Use, tuple[float, float]]]:
        """Return the hops for some shares of paths, and the inputs and outputs of their pools according to the curves.

        Hops whose input changes by more than a little are filled again.
        """
        balances = {self._problem.graph.addresses[self._problem.spec.source]: float(self._problem.spec.amount)}
        hops, sold, carried = self._hops.copy(), dict[_Use, tuple[float, float]](), self._carried(paths)
        for token in topological_order(hops) or []:
            leaving = [pair for pair in hops if pair[0] == token and carried[pair]]
            total = sum([carried[pair] for pair in leaving])
            for pair in leaving:
                amount = balances[token] * carried[pair] / total
                before = sum([self._sold.get(swap[:3], (0.0, 0.0))[0] for swap in hops[pair]])
                if len(hops[pair]) > 1 and abs(amount - before) > _SMALL_CHANGE * before:
                    hops[pair] = self._fill([self._arcs[pair][swap.pool] for swap in hops[pair]], pair, amount)
                for swap in hops[pair]:
                    part = amount * swap.share / SHARES_PER_HOP
                    paid = self._arcs[pair][swap.pool].curve.amount_out(part)
                    sold[swap[:3]] = part, paid
                    balances[pair[1]] = balances.get(pair[1], 0.0) + paid
        return hops, sold

    def _fill(self, pools: Sequence[Arc], pair: _Pair, amount: float) -> _Swaps:
        """Return the shares with which `pools` pay most for `amount`."""
        hop = Hop(pools)
        return tuple(Swap(pools[k].pool.key, *pair, n) for k, n in pool_shares(hop, hop.split(amount), amount, 1.0))

    def _join(self, hops: dict[_Pair, _Swaps]) -> None:
        """Add hops, and pools to existing hops, if they close no cycle and no other hop uses their pools."""
        if topological_order([*self._hops, *hops]) is None:
            return
        graph = self._problem.graph
        for pair, hop in hops.items():
            wanted = {swap.pool for swap in hop}
            wanted -= {key for other, arcs in self._arcs.items() if other != pair for key in arcs}
            i, j = graph.token_index[pair[0]], graph.token_index[pair[1]]
            arcs = {arc.pool.key: arc for arc in graph.arcs_by_pair[i].get(j, ()) if arc.pool.key in wanted}
            self._arcs[pair] = self._arcs.get(pair, {}) | arcs
        if all(swap.pool in self._arcs[pair] for pair, hop in hops.items() for swap in hop):
            self._hops = hops | self._hops

    def _improve(self, size: int, min_gain: float) -> ScoredRoute | None:
        """Make the most promising move of `size` that pays off, and return its route; None if there is none."""
        flow = self._flow()
        moves = [*(self._path_moves(flow, size) if size else ()), *self._hop_moves(flow, is_last=not size)]
        promising = [move for move in moves if move.gain > min_gain and move._replace(gain=0.0) not in self._failed]
        for move in nlargest(_MAX_FAILED, promising, key=lambda each: each.gain):
            if self._replays >= _MAX_REPLAYS:
                break
            if better := self._make(move):
                return better
            self._failed.add(move._replace(gain=0.0))
        return None

    def _carried(self, paths: Mapping[_Path, int]) -> dict[_Pair, int]:
        """Return the share of the order that each hop carries."""
        carried = dict.fromkeys(self._hops, 0)
        for path, share in paths.items():
            for pair in path if share else ():
                carried[pair] += share
        return carried

    def _flow(self) -> _Flow:
        """Return the flow of the current shares."""
        pools: dict[_Pair, list[_Sold]] = {}
        for pair, hop in self._hops.items():
            arcs = [self._arcs[pair][swap.pool] for swap in hop]
            sold = [self._sold.get(swap[:3], (0.0, 0.0)) for swap in hop]
            depths = [float(swap.share) for swap in hop]
            if len(hop) > 1 and any(x for x, _ in sold):  # more input goes where it lowers the rate least
                rates = [max(arc.curve.rate(x), MIN_RATE) for arc, (x, _) in zip(arcs, sold, strict=True)]
                slopes = [arc.trade_to_marginal_rate(rate)[2] for arc, rate in zip(arcs, rates, strict=True)]
                depths = slopes if 0.0 < sum(slopes) < inf else depths
            parts = [depth / sum(depths) for depth in depths]
            pools[pair] = [(arc, *each, part) for arc, each, part in zip(arcs, sold, parts, strict=True)]
        order = topological_order(self._hops) or []
        # In drained pools, gas does not decide between moves.
        gas_value = 0.0 if self._is_drained else self._problem.spec.gas_value
        return _Flow(order, self._carried(self._paths), pools, gas_value)

    def _path_moves(self, flow: _Flow, size: int) -> Iterator[_Move]:
        """Yield moves of `size` from the paths that lose least to those that gain most."""
        givers = [path for path, share in self._paths.items() if share >= size]
        slack = dict.fromkeys(givers, inf)
        if not self._is_drained:  # estimates are close except for the gas of ticks
            for giver in givers:
                crossed = sum([self._crossed.get(swap.pool, 0) for pair in giver for swap in self._hops[pair]])
                slack[giver] = crossed * self._problem.spec.gas_value
        if not self._moves_shares:
            givers = [giver for giver in givers if slack[giver] > self._min_gain]
        if not givers:
            return
        gains = {path: flow.estimate(path, size) for path in self._paths}
        losses = {path: flow.estimate(path, -size) for path in givers}
        takers = nlargest(_TRIED, gains, key=gains.__getitem__)
        givers = nlargest(_TRIED, losses, key=losses.__getitem__)
        pairs = [(gains[taker] + losses[giver], giver, taker) for giver in givers for taker in takers if giver != taker]
        for estimate, giver, taker in nlargest(_PREDICTED if size <= WHOLE_PERCENTS else _PREDICTED // 2, pairs):
            if estimate > -slack[giver]:
                shares = ((giver, self._paths[giver] - size), (taker, self._paths[taker] + size))
                yield _Move(flow.gain(giver, taker, size), shares)

    def _hop_moves(self, flow: _Flow, *, is_last: bool) -> Iterator[_Move]:
        """Yield other pools and shares of hops for the amount that arrives, down to the last unit.

        If gas costs anything, pools are added, dropped or replaced only in the last moves.
        """
        spec = self._problem.spec
        for pair, amount in flow.amounts.items():
            if not amount:
                continue
            present, value = [arc for arc, _, _, _ in flow.sold[pair]], flow.values[pair[1]]
            net = sum([paid for _, _, paid, _ in flow.sold[pair]]) * value
            if spec.gas_value:
                net -= spec.gas_value * sum([self._gas(arc, pair, sold) for arc, sold, _, _ in flow.sold[pair]])
            rates = [(arc.curve.rate(sold), sold) for arc, sold, _, _ in flow.sold[pair]]
            lowest = max(rates)[0]
            idle = [] if spec.gas_value else self._idle_pools(pair, present, lowest)[:_IDLE]
            best = max([lowest, *(arc.rate for arc in idle)])
            # Other shares of these pools gain at most as much as selling everything at the best rate.
            is_uneven = sum([(best - rate) * sold for rate, sold in rates]) * value > self._min_gain
            sets = [[*present, *idle]] if is_uneven else []
            if spec.gas_value and is_last and len(present) <= _MAX_POOLS:
                lowest = min(lowest, net / (amount * value or 1.0))
                sets += self._other_pools(pair, present, amount, value, lowest)
            for pools in sets:
                found, swaps = self._hop_net(pools, pair, amount, value)
                yield _Move(found - net, swaps=((pair, swaps),))

    def _other_pools(
        self, pair: _Pair, present: list[Arc], amount: float, value: float, min_rate: float
    ) -> Iterator[list[Arc]]:
        """Yield the pools of a hop with one more whose rate is above `min_rate`, one less, or one replaced."""
        part, gas_value = amount / len(present), self._problem.spec.gas_value
        idle = self._idle_pools(pair, present, min_rate)
        idle = nlargest(
            _IDLE, idle, key=lambda arc: arc.curve.amount_out(part) * value - self._gas(arc, pair, part) * gas_value
        )
        yield from ([*present, arc] for arc in idle)
        for left in present:
            fewer = [arc for arc in present if arc is not left]
            if fewer:
                yield fewer
            yield from ([*fewer, arc] for arc in idle)

    def _idle_pools(self, pair: _Pair, present: list[Arc], min_rate: float) -> list[Arc]:
        """Return the arcs of a hop that no hop uses and whose rate is above `min_rate`, best spot rate first."""
        graph, used = self._problem.graph, {arc.pool.key for arc in present}
        used.update(key for other, arcs in self._arcs.items() if other != pair for key in arcs)
        i, j = graph.token_index[pair[0]], graph.token_index[pair[1]]
        arcs = takewhile(lambda arc: arc.rate > min_rate, graph.arcs_by_pair[i].get(j, ()))
        return [arc for arc in arcs if arc.pool.key not in used]

    def _hop_net(self, pools: Sequence[Arc], pair: _Pair, amount: float, value: float) -> tuple[float, _Swaps]:
        """Return the output after gas of a hop of `pools` for `amount`, and its shares; minus infinity if the amount is
        too large."""
        if amount >= sum([arc.curve.capacity for arc in pools]):
            return -inf, ()
        swaps = self._fill(pools, pair, amount)
        arcs = {arc.pool.key: arc for arc in pools}
        sold = [(arcs[swap.pool], amount * swap.share / SHARES_PER_HOP) for swap in swaps]
        gas = sum([self._gas(arc, pair, x) for arc, x in sold]) if self._problem.spec.gas_value else 0
        paid = sum([arc.curve.amount_out(x) for arc, x in sold])
        return paid * value - gas * self._problem.spec.gas_value, swaps

    def _gas(self, arc: Arc, pair: _Pair, amount: float) -> int:
        return arc.pool.gas_units_to(*pair, arc.curve.rate(amount)) + self._problem.spec.router_gas.each_swap

    def _make(self, move: _Move) -> ScoredRoute | None:
        """Replay the route after a move; keep and return it if it pays more."""
        self._replays += 1
        self._problem.spec.check()
        paths = self._paths | dict(move.shares)
        hops = self._simulate(paths)[0] if move.shares else self._hops | dict(move.swaps)
        shares = sorted(((share, path) for path, share in paths.items() if share), key=lambda each: -each[0])
        if len(shares) > MAX_SEGMENTS:
            return None
        route = Route(tuple(Segment(share, tuple(hops[pair] for pair in path)) for share, path in shares))
        scored = self._scorer.score_if_accepted(route, self._problem.spec.amount)
        if scored is None or scored.net <= self._net:
            return None
        self._paths, self._hops = paths, hops
        self._moves_shares |= bool(move.shares)  # a large move that saves a tick may overshoot by a few small moves
        for pair, swaps in move.swaps:
            self._join({pair: swaps})
        self._keep(scored)
        return scored

    def _keep(self, found: ScoredRoute) -> None:
        self._net = found.net
        self._sold = {step[:3]: (float(step.amount_in), float(step.amount_out)) for step in found.replay.steps}


def _path(segment: Segment) -> _Path:
    return tuple((hop[0].token_in, hop[0].token_out) for hop in segment.hops)
