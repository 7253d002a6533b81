"""Local search over the pools of a route, net of gas: adds, drops and exchanges pools of a hop, and shortens two hops.

`gas_pruning` decides by the flow of all pools together. It does not see that a pool pays a little less than another one
and crosses fewer ticks, that a hop is worth one more pool once others are gone, or that a direct pool saves the gas of
a detour. Here the amount that a hop gets is fixed, and its pools are chosen for what they leave of it after gas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from swapcli.records import NamedTuple
from swapcli.routing.graph.digraph import TokenPair
from swapcli.routing.graph.market_graph import Arc
from swapcli.routing.search.gas_pruning import gas_cost
from swapcli.routing.search.problem import CandidateSolution, RoutingProblem
from swapcli.routing.solver.newton import Solution
from swapcli.routing.solver.parallel_pools import Hop

if TYPE_CHECKING:
    from swapcli.routing.search.route_search import ScoredRoute

_MIN_GAS_PART = 1e-5  # of the output: where gas costs less, exchanges gain next to nothing. Empirical
_MAX_STEPS = 32  # of a route: with more, the gas of one is a small part of what it pays. Bounds the work
_MAX_POOLS = 6  # of a hop: with more, the gas of one is a small part of what it trades. Bounds the work
_MAX_CHANGES = 4  # per hop. Empirical: most need one
_MIN_RATE_PART = 1e-6  # of a spot rate: below it, pools are almost full, and the bound on what one adds says little
_MIN_GAIN = 1e-7  # of the order's output: a thousandth of a basis point


class _PoolSet(NamedTuple):
    """Pools of a hop, what they leave of its input after their gas in units of the order's target, and their marginal
    rate."""

    net: float
    arcs: tuple[Arc, ...]
    rate: float


_NO_POOLS = _PoolSet(0.0, (), 0.0)


def exchange_pools(
    problem: RoutingProblem, found: ScoredRoute, solution: Solution, *, solve_again: bool = False
) -> CandidateSolution | None:
    """Return the solution over the pools of the route `found` after the exchanges that pay.

    None if none does, unless `solve_again` wants the solution over the present pools then. Amounts are valued at the
    prices of `solution`.
    """
    output = found.replay.amount_out
    if len(found.replay.steps) > _MAX_STEPS or output - found.net < _MIN_GAS_PART * output:
        return None
    exchange = _Exchange(problem, found, solution)
    if not exchange.is_possible(len(found.replay.steps)):
        return None
    has_shortened, has_improved = exchange.shorten(), exchange.improve_hops()
    if not (has_shortened or has_improved or solve_again):
        return None
    arcs = [arc for pools in exchange.pools.values() for arc in pools]
    return CandidateSolution(problem.solve(arcs, exchange.prices), arcs)


class _Exchange:
    """The state of the search: the input and the pools of each hop."""

    def __init__(self, problem: RoutingProblem, found: ScoredRoute, solution: Solution) -> None:
        self._problem, self._min_gain = problem, _MIN_GAIN * solution.value
        index, arcs_by_pair = problem.graph.token_index, problem.graph.arcs_by_pair
        self._amounts: dict[TokenPair, float] = {}
        self._used: dict[str, TokenPair] = {}  # hops by the keys of their pools
        for step in found.replay.steps:
            pair = index[step.token_in], index[step.token_out]
            self._amounts[pair] = self._amounts.get(pair, 0.0) + step.amount_in
            self._used[step.pool] = pair
        self.pools = {
            (i, j): tuple(arc for arc in arcs_by_pair[i][j] if self._used.get(arc.pool.key) == (i, j))
            for i, j in self._amounts
        }
        tokens = {token for pair in self._amounts for token in pair}
        self.prices = {token: solution.prices.get(token) or problem.spot.value(token) for token in tokens}

    def is_possible(self, steps: int) -> bool:
        """Return whether each of the route's `steps` is in a pool of its own on the graph, and all tokens have a price.

        Otherwise a hop lacks a pool here, which serves another hop too or is dust to the order.
        """
        return sum(map(len, self.pools.values())) == steps and all(self.prices.values())

    def shorten(self) -> bool:
        """Replace two hops over a token that nothing else passes by pools that skip it, where these leave more."""
        has_changed = False
        for token in sorted(self.prices.keys() - set(self._problem.spec.endpoints)):
            into = [pair for pair in self._amounts if pair[1] == token]
            out_of = [pair for pair in self._amounts if pair[0] == token]
            if len(into) == len(out_of) == 1:
                has_changed = self._shorten_over(into[0], out_of[0]) or has_changed
        return has_changed

    def _shorten_over(self, first: TokenPair, second: TokenPair) -> bool:
        pair = first[0], second[1]
        if pair[1] not in self._problem.graph.arcs_by_pair[pair[0]]:
            return False
        into, out_of = self._present(first), self._present(second)
        beside = self._present(pair) if pair in self.pools else _NO_POOLS
        if into is None or out_of is None or beside is None:
            return False
        router_gas, gas_value = self._problem.spec.router_gas, self._problem.spec.gas_value
        # What the first hop pays is what the second one sells: it counts once.
        value_between = self._amounts[second] * self.prices[first[1]]
        present_net = into.net - value_between + out_of.net + beside.net - router_gas.token_between * gas_value
        amount = self._amounts[first] + self._amounts.get(pair, 0.0)
        hop = self._hop(pair, amount)
        direct = hop.best(beside.arcs) if hop.max_net() > present_net else None
        if direct is None or direct.net <= present_net + self._min_gain:
            return False
        for old in (first, second):
            del self._amounts[old], self.pools[old]
        self._amounts[pair] = amount
        self._use(pair, direct.arcs)
        return True

    def _present(self, pair: TokenPair) -> _PoolSet | None:
        """Return the present pools of a hop with what they leave."""
        return self._hop(pair, self._amounts[pair]).evaluate(self.pools[pair])

    def _use(self, pair: TokenPair, arcs: tuple[Arc, ...]) -> None:
        """Choose the pools of a hop; none of them serves another hop from then on."""
        self.pools[pair] = arcs
        self._used.update((arc.pool.key, pair) for arc in arcs)

    def improve_hops(self) -> bool:
        """Exchange pools within hops, and return whether any exchange pays."""
        has_changed = False
        for pair, amount in self._amounts.items():
            present = self._present(pair) if 0 < len(self.pools[pair]) <= _MAX_POOLS else None
            best = self._hop(pair, amount).best(present.arcs) if present else None
            if present and best and best.net > present.net + self._min_gain:
                self._use(pair, best.arcs)
                has_changed = True
        return has_changed

    def _hop(self, pair: TokenPair, amount: float) -> _HopPools:
        parallel = self._problem.graph.arcs_by_pair[pair[0]][pair[1]]
        usable = [arc for arc in parallel if self._used.get(arc.pool.key, pair) == pair]
        return _HopPools(self._problem, amount, self.prices[pair[1]], usable)


class _HopPools:
    """The choice of pools for one hop that gets `amount`; `price` is that of its output.

    The pools are among `parallel`, best spot rate first.
    """

    def __init__(self, problem: RoutingProblem, amount: float, price: float, parallel: Iterable[Arc]) -> None:
        self._problem, self._amount, self._price, self._parallel = problem, amount, price, tuple(parallel)
        self._min_gas_cost = (problem.graph.min_swap_gas + problem.spec.router_gas.each_swap) * problem.spec.gas_value

    def max_net(self) -> float:
        """Return an upper bound on what any pools leave: the amount at the best spot rate, less the gas of one swap."""
        best_rate = self._parallel[0].rate if self._parallel else 0.0
        return self._amount * best_rate * self._price - self._min_gas_cost

    def best(self, arcs: tuple[Arc, ...]) -> _PoolSet | None:
        """Return the pools that leave most after single changes of `arcs`; None if they cannot take the amount."""
        best = self.evaluate(arcs) if arcs else None
        for _ in range(_MAX_CHANGES):
            self._problem.spec.check()
            found = max(self._neighbours(best or _NO_POOLS), key=lambda each: each.net, default=None)
            if found is None or (best and found.net <= best.net):
                break
            best = found
        return best

    def _neighbours(self, present: _PoolSet) -> Iterator[_PoolSet]:
        """Yield the sets with a pool more, a pool less, or another one instead, that may leave more."""
        yield from self._with_one_more(present, present)
        for arc in present.arcs:
            left = tuple(each for each in present.arcs if each is not arc)
            fewer = self.evaluate(left) if left else _NO_POOLS
            if fewer is not None:
                if left:
                    yield fewer
                yield from self._with_one_more(fewer, present)

    def _with_one_more(self, pools: _PoolSet, present: _PoolSet) -> Iterator[_PoolSet]:
        """Yield `pools` with another one that may leave more than `present`.

        No pool adds more than its best trade at the marginal rate gains.
        """
        for arc in self._parallel:
            if arc.rate <= pools.rate:
                break
            if arc in pools.arcs or arc in present.arcs:
                continue
            gain = arc.rate * self._amount
            if pools.rate > _MIN_RATE_PART * arc.rate:
                amount_in, amount_out, _ = arc.trade_to_marginal_rate(pools.rate)
                gain = amount_out - pools.rate * amount_in
            if not present.arcs or pools.net + gain * self._price - self._min_gas_cost > present.net:
                found = self.evaluate((*pools.arcs, arc))
                if found:
                    yield found

    def evaluate(self, arcs: tuple[Arc, ...]) -> _PoolSet | None:
        """Return the set of `arcs`; None if they cannot take the amount."""
        hop = Hop(arcs)
        if self._amount >= hop.capacity:
            return None
        amounts, amount_out = hop.split_and_output(self._amount)
        traded = [(arc, amount) for arc, amount in zip(arcs, amounts, strict=True) if amount > 0.0]
        gas = sum([gas_cost(self._problem, arc, amount) for arc, amount in traded])
        return _PoolSet(amount_out * self._price - gas, arcs, hop.rate(self._amount))
