"""Prove how much more than a given route any acyclic route could pay after gas.

Each hop between two tokens gets a rate. A route pays at most its amount times the best product of rates on a simple
path, plus the gains of its pools above the rates (docs/proof.md). Hops between a few tokens, at first the tokens of the
route, get the rates of prices that minimise the dual of `gas_dual`. All other hops get the rate of their first unit, or
a lower one at which no pool gains more than its gas: they cost nothing, and matter only if a path over them has a
better product. The hops of such a path get prices, too. A hop against the flow does not: a route without cycles uses
only one of the two directions.

If a gap remains, the routes are split (branch and bound). If the best path passes two tokens in a different order from
the flow, the split is by which of them comes first; otherwise it is by the use of a pool that is worth about its gas.
The largest bound of an open branch bounds all routes; a branch at or below the known route is closed.

Sources of the method: fixed costs in the dual of routing, and activation bounds, arXiv 2603.02844; branch and bound,
Land and Doig (1960).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from decimal import Decimal
from heapq import heappop, heappush
from itertools import count, pairwise
from math import inf, log

from swapcli.core.annotations import Final
from swapcli.core.model.quote import NetBound
from swapcli.core.records import NamedTuple
from swapcli.core.routing.dual_terms import float_above
from swapcli.core.routing.gas_proof.gas_dual import Fixed, GasDual, price_arcs
from swapcli.core.routing.gas_proof.hop_rates import GAS_PART, VALUE_MARGIN, HopRates
from swapcli.core.routing.gas_proof.leaf import Conditions, Leaf, LeafRates, prove_leaf
from swapcli.core.routing.gas_proof.simple_paths import BestPath, SimplePaths
from swapcli.core.routing.gas_proof.token_limits import TokenLimits, token_limits
from swapcli.core.routing.graph.best_paths import price_tokens
from swapcli.core.routing.graph.digraph import TokenPair, feedback_arcs
from swapcli.core.routing.graph.market_graph import Arc, Prices
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.solver.quasi_newton import Evaluation, minimize

_ENOUGH: Final = 2e-6  # of the net output, a fiftieth of a basis point: a smaller gap is not worth a branch
_MAX_ROUNDS: Final = 12  # in which paths add their hops to those with prices. Empirical
_PATH_ROUNDS: Final = 3  # before every hop that gains is added to them. Empirical
_PATHS_A_ROUND: Final = 4  # that are added to them. Empirical
_EVALUATIONS: Final = 80  # of the dual, in each round. Empirical
_WORK: Final = 200_000
"""The limit on evaluations of arcs, after which no branch is solved.

It is a count, so that equal orders have equal proofs.
"""
_WORK_OF_A_SMALL_GAP: Final = 40_000  # the same limit if the gap is small. Empirical
_SMALL_GAP: Final = 5e-5  # of the net output: half a basis point
_SLOW_PART: Final = 0.1  # of the gap: a round with more hops, or a few splits, should narrow it by this part. Empirical
_FEW_SPLITS: Final = 6  # of branches. Empirical
_SAME_PRODUCT: Final = 1.0 + 1e-9  # of rates: a smaller improvement of a path does not count
_SAME_BOUND: Final = 1e-7  # of the net output, a thousandth of a basis point
_FALLEN: Final = 0.5  # of the sold token's price: the hops with prices no longer carry the order. Chosen
_MIN_FLOW: Final = 1e-6  # of the order's value: what a hop carries beyond the noise of a solution
_NEAR_BEST: Final = 0.9  # of the price of the sold token: smaller products of rates do not matter. Empirical


class _Node(NamedTuple):
    """A subset of the routes: its conditions, the hops with prices, and the initial prices."""

    conditions: Conditions
    priced: frozenset[TokenPair]
    prices: Prices


class _Branch(NamedTuple):
    """A solved node: its bound, the rates that prove it, and the basis of its split.

    That is the tokens of a hop against the flow, or the number of an arc that is worth about its gas.
    """

    bound: float
    node: _Node
    rates: LeafRates
    against: TokenPair | None
    kink: int | None


class _Gain(NamedTuple):
    """The gain of an arc's best trade before gas, at the prices of its tokens, and whether the arc is always used."""

    surplus: float
    gas: float
    is_used: bool

    def at(self, excess: float) -> float:
        """Return its contribution to a bound if its output is worth `excess` times its price."""
        net = self.surplus * excess - self.gas
        return net if self.is_used else max(0.0, net)


class PoolChoice(NamedTuple):
    """Arcs that pay for their gas at some prices: a route over them may beat the known one."""

    arcs: Sequence[Arc]
    prices: Prices


class NetProof(NamedTuple):
    """The proven bound for an order, whether the branching ended, and the pools that are worth their gas at the bound's
    prices.

    `limits` and `leaves` prove the bound.
    """

    bound: Decimal
    is_complete: bool
    choices: Sequence[PoolChoice]
    limits: TokenLimits
    leaves: Sequence[Leaf]

    def against(self, problem: RoutingProblem, net: float) -> NetBound:
        """Return the bound relative to a route that pays `net`, which must be above 0.

        The bound is never below `net`, although floats might be off by a unit.
        """
        pools = {arc.pool.key for arc in problem.graph.arcs()}
        bound = max(float_above(self.bound), net)
        return NetBound(bound, (bound / net - 1.0) * 1e4, len(pools), problem.spec.max_hops, self.is_complete)


def prove_net_output(
    problem: RoutingProblem,
    prices: Prices,
    amount_in: int,
    net: float,
    hops: Iterable[TokenPair],
) -> NetProof:
    """Return the proof for `amount_in`, given a known route over `hops` that pays `net`.

    `prices` come from the search's solution. The proof has no `choices` if the gap is too small to matter.
    """
    prover = _Prover(problem, prices, amount_in, net)
    root = prover.solve(prover.start(frozenset(hops)))
    branches, is_complete = prover.branch(root)
    largest = branches[0]
    has_gap = largest.bound > net + abs(net) * _ENOUGH
    choices = [prover.choice(each) for each in (root, largest)] if has_gap else []
    leaves = [prover.leaf(each) for each in branches]
    return NetProof(max(leaf.bound for leaf in leaves), is_complete, choices, prover.limits, leaves)


def _heap_order(entry: tuple[float, int, _Branch]) -> tuple[float, int]:
    return entry[:2]


class _Prover:
    """The market of one order, and the remaining work for its proof."""

    def __init__(self, problem: RoutingProblem, prices: Prices, amount: int, net: float) -> None:
        graph, spec = problem.graph, problem.spec
        self._problem, self._amount = problem, amount
        self._prices = price_tokens(graph, graph, prices, spec.target)
        self.limits = token_limits(graph, spec.endpoints, amount, spec.max_hops, self._prices)
        inner = graph.tokens_between(spec.endpoints)
        arcs = [
            arc
            for arc in graph.arcs()
            if (arc.token_in in inner and arc.token_out in inner) or arc.rounding is not None
        ]  # the others gain nothing at their spot rates, and are on no simple path
        self._arcs = price_arcs(arcs, spec, self.limits.amounts)
        self._by_pair: dict[TokenPair, list[int]] = {}
        for number, each in enumerate(self._arcs):
            self._by_pair.setdefault((each.arc.token_in, each.arc.token_out), []).append(number)
        self._enough = net + abs(net) * _ENOUGH
        self._base = spec.gas_value * spec.router_gas.base
        self._work = _WORK

    def start(self, hops: frozenset[TokenPair]) -> _Node:
        """Return the node of all routes, with prices for the `hops` of the known one, and set the rates of the other
        hops."""
        conditions = Conditions()
        dual, numbers = self._dual(conditions, hops)
        self._prices = self._minimise(dual, numbers, conditions, self._prices)
        least_product = self._prices[self._problem.spec.source] * _NEAR_BEST
        self._rates = HopRates(self._problem, self._arcs, self._by_pair, self._prices, least_product)
        return _Node(conditions, hops, self._prices)

    def solve(self, node: _Node) -> _Branch:
        """Return the branch with the least bound found for a node."""
        conditions, priced, prices = node
        best: _Branch | None = None
        shunned: set[TokenPair] = set()
        for number in range(_MAX_ROUNDS):
            dual, numbers = self._dual(conditions, priced)
            lower = self._minimise(dual, numbers, conditions, prices)
            source = self._problem.spec.source
            if lower[source] < node.prices[source] * _FALLEN and (more := self._other_way(conditions, priced)):
                priced |= more
                continue
            prices = lower
            flow = self._flow(dual, prices)
            cycle = feedback_arcs(flow)
            if cycle and not cycle <= shunned:
                shunned |= cycle
                priced -= cycle
                continue
            branch, paths = self._bound(_Node(conditions, priced, prices), dual, numbers, flow)
            gain = inf if best is None else best.bound - branch.bound
            is_slow = gain < (branch.bound - self._enough) * _SLOW_PART
            if best is None or gain > 0.0:
                best = branch
            if not paths or self._is_near_enough(best.bound) or (is_slow and branch.against is not None):
                break
            hops = [hop for path in paths for hop in reversed(list(pairwise(path)))]
            if is_slow or number >= _PATH_ROUNDS:
                hops += self._gaining_hops(prices, conditions)
            added = self._compatible(hops, flow.keys(), priced | shunned)
            if not added:
                break
            known = {*dual.tokens, self._problem.spec.target}
            for i, j in added:
                if i not in known:
                    prices = {**prices, i: self._rates.near[i, j] * prices[j]}
                    known.add(i)
            priced = priced.union(added)
        if best is None:
            dual, numbers = self._dual(conditions, priced)
            best, _ = self._bound(_Node(conditions, priced, prices), dual, numbers, flow)
        return best

    def _other_way(self, conditions: Conditions, priced: Set[TokenPair]) -> Set[TokenPair]:
        """Return the unpriced hops of the best path that avoids the hops of unused pools; empty if there are none.

        If the hops with prices do not carry the order, their prices fall without end.
        """
        spec, arcs = self._problem.spec, self._arcs
        left_out = {(arcs[number].arc.token_in, arcs[number].arc.token_out) for number in conditions.unused}
        rates = {hop: r for hop, r in self._rates.near.items() if hop not in left_out and conditions.allows(hop)}
        best = SimplePaths(rates, spec.target, spec.max_hops, conditions.earlier()).best(spec.source)
        return set(pairwise(best.tokens)) - priced

    def branch(self, root: _Branch) -> tuple[Sequence[_Branch], bool]:
        """Return the branches of `root` (largest bound first), and whether further splits cannot lower their largest
        bound."""
        number = count()
        opened = [(-root.bound, next(number), root)]
        before = [inf] * _FEW_SPLITS
        while True:
            largest = opened[0][2]
            parts = self._parts(largest)
            before.append(largest.bound - self._enough)
            is_stuck = before[-1] > before[-1 - _FEW_SPLITS] * (1.0 - _SLOW_PART)
            if not parts or is_stuck or self._is_near_enough(largest.bound):
                is_complete = not parts or largest.bound <= self._enough
                return [branch for _, _, branch in sorted(opened, key=_heap_order)], is_complete
            heappop(opened)
            for conditions in parts:
                found = self.solve(largest.node._replace(conditions=conditions))
                if found.bound > largest.bound:  # its rates are no better than the initial ones
                    found = found._replace(bound=largest.bound, rates=largest.rates)
                heappush(opened, (-found.bound, next(number), found))

    def _is_near_enough(self, bound: float) -> bool:
        """Return whether a bound is good enough to stop: the closer it is to the known route, the less work it is
        worth."""
        spared = _WORK - _WORK_OF_A_SMALL_GAP if bound < self._enough * (1.0 + _SMALL_GAP) else 0
        return bound <= self._enough or self._work <= spared

    def _parts(self, branch: _Branch) -> Sequence[Conditions]:
        """Return the conditions of the parts of a branch; empty if nothing splits it."""
        conditions = branch.node.conditions
        if branch.against is not None:
            i, j = branch.against
            return conditions.ordering(i, j), conditions.ordering(j, i)
        if branch.kink is not None:
            return conditions.using(branch.kink), conditions.without(branch.kink)
        return ()

    def choice(self, branch: _Branch) -> PoolChoice:
        """Return the arcs that a branch uses at its prices."""
        node = branch.node
        dual, _ = self._dual(node.conditions, node.priced)
        return PoolChoice(dual.used_arcs(node.prices, Fixed()), node.prices)

    def leaf(self, branch: _Branch) -> Leaf:
        """Return the leaf of a branch in exact numbers."""
        return prove_leaf(self._problem.spec, self._amount, self._arcs, branch.node.conditions, branch.rates)

    def _dual(self, conditions: Conditions, priced: Set[TokenPair]) -> tuple[GasDual, list[int]]:
        numbers = [
            n
            for pair in sorted(priced)
            if conditions.allows(pair)
            for n in self._by_pair.get(pair, ())
            if n not in conditions.unused
        ]
        return GasDual(self._problem.spec, float(self._amount), [self._arcs[n] for n in numbers]), numbers

    @staticmethod
    def _fixed(numbers: Sequence[int], conditions: Conditions) -> Fixed:
        """Return the numbers, in a dual, of the arcs that are always used; arcs that are never used are not in it."""
        return Fixed(frozenset(k for k, number in enumerate(numbers) if number in conditions.used))

    def _minimise(self, dual: GasDual, numbers: Sequence[int], conditions: Conditions, prices: Prices) -> Prices:
        fixed = self._fixed(numbers, conditions)

        def evaluate(logarithms: Sequence[float]) -> Evaluation:
            self._work -= len(dual.arcs)
            return dual.evaluate(logarithms, fixed)

        start = [log(prices[token]) for token in dual.tokens]
        if dual.arcs:
            without_gas = self._problem.solve([each.arc for each in dual.arcs], prices).prices
            other = [log(without_gas.get(token, prices[token])) for token in dual.tokens]
            if evaluate(other)[0] < evaluate(start)[0]:
                start, prices = other, prices | without_gas
        found = minimize(
            evaluate,
            start,
            dual.curvatures(prices),
            max_evaluations=_EVALUATIONS,
            enough=self._enough,
        )
        return {**prices, **dual.prices(found.point)}

    def _flow(self, dual: GasDual, prices: Prices) -> dict[TokenPair, float]:
        """Return the value, by hop, of the input of pools that gain more than their gas."""
        flow, least = dict[TokenPair, float](), self._amount * prices[self._problem.spec.source] * _MIN_FLOW
        for each in dual.arcs:
            arc = each.arc
            price_in, price_out = prices[arc.token_in], prices[arc.token_out]
            if price_out * arc.rate > price_in:
                surplus, amount_in, _, _ = each.best_trade(price_in, price_out)
                if surplus > each.gas * GAS_PART:
                    pair = arc.token_in, arc.token_out
                    flow[pair] = flow.get(pair, 0.0) + amount_in * price_in
        return {pair: value for pair, value in flow.items() if value > least}

    def _bound(
        self, node: _Node, dual: GasDual, numbers: Sequence[int], flow: Mapping[TokenPair, float]
    ) -> tuple[_Branch, Sequence[Sequence[int]]]:
        """Return the bound at the prices of a node, and the simple paths with larger products than these, the best
        first."""
        spec, (conditions, priced, prices) = self._problem.spec, node
        hops = [hop for hop in priced if conditions.allows(hop) and hop in self._by_pair]
        rates = {hop: rate for hop, rate in self._rates.near.items() if conditions.allows(hop)}
        rates |= {(i, j): min(prices[i] / prices[j], self._rates.spot[i, j]) for i, j in hops}
        paths = SimplePaths(rates, spec.target, spec.max_hops, conditions.earlier())
        floor = max(self._rates.least_product, prices[spec.source])
        best = paths.best(spec.source, floor=floor)
        gains, values = self._gains(node, dual, numbers, paths, rates)
        bound = self._amount * best.product - self._base + gains
        better = self._better_paths(best, rates, node, floor) if best.tokens else []
        against = self._against(best.tokens, flow, conditions.order) if better else None
        nearest = dual.nearest_kink(prices, self._fixed(numbers, conditions))
        self._work -= paths.work
        leaf_rates = LeafRates(
            best.product * VALUE_MARGIN,
            {**self._rates.listed, **rates},
            values,
            self._rates.spot,
            self._rates.values_at(rates),
        )
        return _Branch(bound, node, leaf_rates, against, None if nearest is None else numbers[nearest]), better

    def _gains(
        self,
        node: _Node,
        dual: GasDual,
        numbers: Sequence[int],
        paths: SimplePaths,
        rates: Mapping[TokenPair, float],
    ) -> tuple[float, dict[TokenPair, float]]:
        """Return how much the pools of hops with prices add to a bound, and the values of these hops' outputs."""
        spec, (conditions, _, prices) = self._problem.spec, node
        values, by_hop = dict[TokenPair, float](), dict[TokenPair, list[_Gain]]()
        for number, each in zip(numbers, dual.arcs, strict=True):
            hop, is_used = (each.arc.token_in, each.arc.token_out), number in conditions.used
            surplus = each.surplus(prices[hop[0]], prices[hop[1]])
            if is_used or surplus > 0.0:
                by_hop.setdefault(hop, []).append(_Gain(surplus, each.gas, is_used))
        by_token, entered = dict[int, float](), set[int]()
        for (i, j), gains in by_hop.items():
            value = 1.0
            if j != spec.target:
                value = paths.value(j)
                if self._is_worth_a_search(gains, value / prices[j]):
                    value = paths.best(j, {spec.source, i}).product
                value = max(value, self._rates.value_elsewhere((i, j), rates[i, j]))
            value = values[i, j] = value * VALUE_MARGIN
            by_token[i] = by_token.get(i, 0.0) + sum(gain.at(value / prices[j]) for gain in gains)
            entered.update(i for gain in gains if gain.is_used)
        token_gas, total = spec.gas_value * spec.router_gas.token_between, 0.0
        for token, gain in by_token.items():
            net = gain - (token_gas if token != spec.source else 0.0)
            total += net if token in entered else max(0.0, net)
        return total, values

    def _better_paths(
        self, best: BestPath, rates: Mapping[TokenPair, float], node: _Node, floor: float
    ) -> Sequence[Sequence[int]]:
        """Return the best path and a few others with a product above `floor`, each over new unpriced hops."""
        spec, found, open_rates = self._problem.spec, list[Sequence[int]](), dict(rates)
        while best.tokens and best.product > floor * _SAME_PRODUCT:
            found.append(best.tokens)
            if len(found) == _PATHS_A_ROUND:
                break
            for hop in pairwise(best.tokens):
                if hop not in node.priced:
                    open_rates.pop(hop, None)
            paths = SimplePaths(open_rates, spec.target, spec.max_hops, node.conditions.earlier())
            best = paths.best(spec.source, floor=floor)
            self._work -= paths.work
        return found

    def _is_worth_a_search(self, gains: Iterable[_Gain], excess: float) -> bool:
        """Return whether arcs of a hop add much to a bound if their output is worth `excess` times its price."""
        return sum(gain.at(excess) - gain.at(1.0) for gain in gains) > self._enough * _SAME_BOUND

    @staticmethod
    def _against(path: Sequence[int], flow: Mapping[TokenPair, float], order: Set[TokenPair]) -> TokenPair | None:
        """Return a hop of the flow that forms a cycle with a path, and whose token order is not yet fixed; None if
        there is none.

        It is the largest hop whose tokens the path passes in reverse order, or otherwise one of several hops that lead
        from a token of the path back to an earlier one.
        """
        place = {token: number for number, token in enumerate(path)}
        opposite = [(value, hop) for hop, value in flow.items() if place.get(hop[1], inf) < place.get(hop[0], -1)]
        if opposite:
            return max(opposite)[1]
        for number, start in enumerate(path):
            for back in _way(flow, start, set(path[:number])):
                if back not in order:
                    return back
        return None

    def _gaining_hops(self, prices: Prices, conditions: Conditions) -> list[TokenPair]:
        """Return the unpriced hops whose pools gain more than their gas at `prices`, the largest gain first."""
        gains = list[tuple[float, TokenPair]]()
        for (i, j), rate in self._rates.near.items():
            if rate * prices[j] > prices[i] and conditions.allows((i, j)):
                arcs = [self._arcs[n] for n in self._by_pair[i, j]]
                gains.append((sum(max(0.0, each.surplus(prices[i], prices[j]) - each.gas) for each in arcs), (i, j)))
        return [hop for gain, hop in sorted(gains, reverse=True) if gain > 0.0]

    @staticmethod
    def _compatible(hops: Iterable[TokenPair], flow: Iterable[TokenPair], priced: Set[TokenPair]) -> list[TokenPair]:
        """Return those of some unpriced hops that form no cycle with the flow or with each other."""
        known, found = set(flow), list[TokenPair]()
        for hop in hops:
            if hop not in priced and hop not in found and not _way(known, hop[1], {hop[0]}):
                known.add(hop)
                found.append(hop)
        return found


def _way(hops: Iterable[TokenPair], start: int, goals: Set[int]) -> list[TokenPair]:
    """Return the hops of a shortest path from a token to one of the goals; none if there is no path."""
    after: dict[int, list[int]] = {}
    for i, j in hops:
        after.setdefault(i, []).append(j)
    ways, front = {start: list[TokenPair]()}, [start]
    for token in front:
        for following in after.get(token, ()):
            if following in goals:
                return [*ways[token], (token, following)]
            if following not in ways:
                ways[following] = [*ways[token], (token, following)]
                front.append(following)
    return []
