"""Local search over the pools of a route by output net of gas: adds, drops or replaces a pool of a hop, or replaces two
hops by a direct one.

`gas_pruning` weighs all pools at once. It misses a pool that pays slightly less but crosses fewer ticks, a pool that
becomes worthwhile after others are removed, and a direct pool that saves the gas of a detour. Here each hop's input is
fixed, and its pools are chosen for the highest output net of gas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.core.routing.graph.digraph import TokenPair
from swapcli.core.routing.graph.market_graph import Arc
from swapcli.core.routing.search.gas_pruning import gas_cost
from swapcli.core.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.core.routing.solver.newton import Solution
from swapcli.core.routing.solver.parallel_pools import Hop

if TYPE_CHECKING:
    from swapcli.core.routing.search.scored_route import ScoredRoute

_MIN_GAS_FRACTION = 1e-5  # of the output: where gas costs less, there is next to nothing to gain. Empirical
_MAX_SWAPS = 32  # of a route: with more, the gas of one is a small part of what it pays. Bounds the work
_MAX_POOLS = 6  # of a hop: with more, the gas of one is a small part of what it trades. Bounds the work
_MAX_CHANGES = 4  # per hop. Empirical: most need one
_MIN_RATE_FRACTION = 1e-6  # of a spot rate: below it, pools are almost full, and the estimate says little
_MIN_GAIN = 1e-7  # of the order's output: a thousandth of a basis point


class _HopChoice(NamedTuple):
    """A set of pools for a hop: its output net of gas, in units of the target, and its marginal rate."""

    net: float
    arcs: tuple[Arc, ...]
    rate: float


_NO_POOLS = _HopChoice(0.0, (), 0.0)


def replace_pools(problem: RoutingProblem, found: ScoredRoute, solution: Solution) -> CandidateSolution | None:
    """Return the improved pools of the route `found`, solved; None if no change pays.

    Amounts are valued at the prices of `solution`.
    """
    output = found.replay.amount_out
    if output - found.net < _MIN_GAS_FRACTION * output:
        return None
    route = _RoutePools(problem, found, solution)
    if not route.is_supported or route.swaps > _MAX_SWAPS:
        return None
    has_skipped, has_changed = route.skip_tokens(), route.replace_in_hops()
    return route.solve() if has_skipped or has_changed else None


def solve_over_route(problem: RoutingProblem, found: ScoredRoute, solution: Solution) -> CandidateSolution | None:
    """Return the solution over the pools of the route `found`, from the prices of `solution`; None if not all of them
    can be solved over."""
    route = _RoutePools(problem, found, solution)
    return route.solve() if route.is_supported else None


class _RoutePools:
    """The input and the pools of each hop of a route, and the prices of its tokens."""

    def __init__(self, problem: RoutingProblem, found: ScoredRoute, solution: Solution) -> None:
        self._problem, self._min_gain = problem, _MIN_GAIN * found.replay.amount_out
        index = problem.graph.token_index
        self._amounts: dict[TokenPair, float] = {}
        keys: dict[TokenPair, set[str]] = {}
        for step in found.replay.steps:
            pair = index[step.token_in], index[step.token_out]
            self._amounts[pair] = self._amounts.get(pair, 0.0) + step.amount_in
            keys.setdefault(pair, set()).add(step.pool)
        self._pools = {
            pair: tuple(arc for arc in self._parallel_arcs(pair) if arc.pool.key in keys[pair]) for pair in keys
        }
        tokens = {token for pair in keys for token in pair}
        self._prices = {token: solution.prices.get(token) or problem.spot.value(token) for token in tokens}
        self.swaps = sum(map(len, keys.values()))
        self._distinct_pools = len(set[str]().union(*keys.values()))

    @property
    def is_supported(self) -> bool:
        """Whether the graph has every pool of the route, each pool serves one hop, and every token has a price."""
        in_graph = sum(map(len, self._pools.values()))
        return in_graph == self.swaps == self._distinct_pools and all(self._prices.values())

    def solve(self) -> CandidateSolution:
        """Return the solution over the present pools."""
        arcs = [arc for pools in self._pools.values() for arc in pools]
        return CandidateSolution(self._problem.solve(arcs, self._prices), arcs)

    def skip_tokens(self) -> bool:
        """Replace two hops by a direct one where no other hop touches the token between them and the net output rises.

        Return whether any was replaced.
        """
        has_skipped = False
        for token in sorted(self._prices.keys() - set(self._problem.spec.endpoints)):
            hops_in = [pair for pair in self._amounts if pair[1] == token]
            hops_out = [pair for pair in self._amounts if pair[0] == token]
            if len(hops_in) == len(hops_out) == 1:
                has_skipped = self._skip_token(hops_in[0], hops_out[0]) or has_skipped
        return has_skipped

    def _skip_token(self, first: TokenPair, second: TokenPair) -> bool:
        direct, spec = (first[0], second[1]), self._problem.spec
        present = [
            self._choices(pair).evaluate(self._pools[pair]) for pair in (first, second, direct) if pair in self._pools
        ]
        nets = [choice.net for choice in present if choice]
        if len(nets) < len(present):
            return False
        # The first hop's output is the second hop's input: it counts once.
        value_between = self._amounts[second] * self._prices[first[1]]
        net_to_beat = sum(nets) - value_between - spec.router_gas.token_between * spec.gas_value + self._min_gain
        amount = self._amounts[first] + self._amounts.get(direct, 0.0)
        choices = self._choices(direct, amount, replaced=(first, second))
        beside = self._pools.get(direct)
        start = choices.evaluate(beside) if beside else None
        better = choices.best(start or _NO_POOLS, net_to_beat)
        if better is None:
            return False
        for old in (first, second):
            del self._amounts[old], self._pools[old]
        self._amounts[direct], self._pools[direct] = amount, better.arcs
        return True

    def replace_in_hops(self) -> bool:
        """Add, drop and replace pools within hops, and return whether any change pays."""
        has_changed = False
        for pair, arcs in self._pools.items():
            if len(arcs) <= _MAX_POOLS:
                choices = self._choices(pair)
                present = choices.evaluate(arcs)
                better = choices.best(present, present.net + self._min_gain) if present else None
                if better:
                    self._pools[pair], has_changed = better.arcs, True
        return has_changed

    def _choices(
        self, pair: TokenPair, amount: float | None = None, replaced: tuple[TokenPair, ...] = ()
    ) -> _HopChoices:
        """Return the choices for a hop that gets `amount`, by default its present input, once the hops `replaced` are
        gone. Pools of other hops are left out."""
        amount = self._amounts[pair] if amount is None else amount
        others = [arcs for hop, arcs in self._pools.items() if hop != pair and hop not in replaced]
        used = {arc.pool.key for arcs in others for arc in arcs}
        usable = [arc for arc in self._parallel_arcs(pair) if arc.pool.key not in used]
        return _HopChoices(self._problem, amount, self._prices[pair[1]], usable)

    def _parallel_arcs(self, pair: TokenPair) -> Sequence[Arc]:
        return self._problem.graph.arcs_by_pair[pair[0]].get(pair[1], ())


class _HopChoices:
    """Chooses the pools of one hop with input `amount` among `parallel`, which come best spot rate first.

    `price` is the price of its output token.
    """

    def __init__(self, problem: RoutingProblem, amount: float, price: float, parallel: Sequence[Arc]) -> None:
        self._problem, self._amount, self._price, self._parallel = problem, amount, price, parallel
        self._min_gas_cost = problem.min_swap_gas_cost

    def best(self, start: _HopChoice, net_to_beat: float) -> _HopChoice | None:
        """Return the best choice above `net_to_beat` that single changes lead to from `start`; None if none does."""
        best, current = None, start
        for _ in range(_MAX_CHANGES):
            self._problem.spec.check()
            found = max(self._neighbours(current, net_to_beat), key=lambda choice: choice.net, default=None)
            if found is None or found.net <= net_to_beat:
                break
            best = current = found
            net_to_beat = found.net
        return best

    def _neighbours(self, current: _HopChoice, net_to_beat: float) -> Iterator[_HopChoice]:
        """Yield `current`, and choices with a pool more, a pool less, or another one instead that may be better."""
        if current.arcs:
            yield current
        yield from self._with_one_more(current, current, net_to_beat)
        for arc in current.arcs:
            left = tuple(each for each in current.arcs if each is not arc)
            fewer = self.evaluate(left) if left else _NO_POOLS
            if fewer is not None:
                if left:
                    yield fewer
                yield from self._with_one_more(fewer, current, net_to_beat)

    def _with_one_more(self, pools: _HopChoice, current: _HopChoice, net_to_beat: float) -> Iterator[_HopChoice]:
        """Yield `pools` with another one outside `current` that may beat `net_to_beat`.

        An estimate: a pool adds at most what its best trade at the marginal rate gains, but the others may also save
        gas where they cross fewer ticks.
        """
        for arc in self._parallel:
            if arc.rate <= pools.rate:
                break
            if arc in pools.arcs or arc in current.arcs:
                continue
            gain = arc.rate * self._amount
            if pools.rate > _MIN_RATE_FRACTION * arc.rate:
                amount_in, amount_out, _ = arc.trade_to_marginal_rate(pools.rate)
                gain = amount_out - pools.rate * amount_in
            if pools.net + gain * self._price - self._min_gas_cost > net_to_beat:
                found = self.evaluate((*pools.arcs, arc))
                if found:
                    yield found

    def evaluate(self, arcs: tuple[Arc, ...]) -> _HopChoice | None:
        """Return the choice of `arcs`; None if they cannot take the amount."""
        hop = Hop(arcs)
        if self._amount >= hop.capacity:
            return None
        amounts, amount_out, rate = hop.split_output_and_rate(self._amount)
        traded = [(arc, amount) for arc, amount in zip(arcs, amounts, strict=True) if amount > 0.0]
        gas = sum([gas_cost(self._problem, arc, amount) for arc, amount in traded])
        return _HopChoice(amount_out * self._price - gas, arcs, rate)
