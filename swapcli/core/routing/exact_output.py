"""Exact output: the least input whose replayed output reaches the requested amount."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from math import inf, isqrt
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple
from swapcli.core.routing.cancellation import SearchTimeUp
from swapcli.core.routing.least_input import AMOUNT_LIMIT, least_input
from swapcli.core.routing.market_capacity import max_input
from swapcli.core.routing.search.problem import RoutingProblem
from swapcli.core.routing.search.route_search import MAX_RESIDUAL, RouteSearch, SearchResult
from swapcli.core.routing.solver.newton import Solution

if TYPE_CHECKING:
    from swapcli.core.routing.search.warm_search import FormerSearch

_ROUNDS = 16  # searches for one order. Empirical: most need three
_MORE_ROUNDS = 6  # further searches once a sufficient input is known
_NEAR = 2e-2  # of the requested output: routes this close to it are finished for exactly it
_CLOSE = 1e-3  # of the input: a route finished this close to its own input needs no further search
_CLOSE_WARM = 1e-4  # the same of a route from a similar order's, whose shares may suit another input better
_SIMILAR = 0.25  # of an input: a search starts from the solution of one that differs by less
_MAX_GROWTH = 64.0  # of the input per search, while more input brings more output
_NEAR_GROWTH = 4.0  # the same once the output is `_MOSTLY` of the requested one
_MOSTLY = 0.9  # of the requested output
_MIN_GROWTH = 1.0001  # of the input per search
_FLAT = 2e-3  # elasticity below which the rounding of shares hides the gain of more input
_FLAT_GROWTH = 1.4  # of the input then
_ESTIMATES = 4  # solutions without routes, to find the input of the first route. Empirical: most need two
_ESTIMATE_TOLERANCE = 3e-4  # of the requested output: rounding a solution loses about as much
_LITTLE = 1e-3  # of the missing output: an input that adds less has drained the pools
_PLATEAU = 0.3  # of the requested output: below it, only a dust pool is drained
_PLATEAU_STEPS = (1.05, 1.2, 1.6, 2.5, 4.0)  # factors on the input once the output stagnates
_APART = 1.5  # ratio of two inputs above which the rounding of shares hardly disturbs the slope between them
_WIDE = 1.1  # ratio of a sufficient to an insufficient input above which the gap is worth halving
_STEEP = 0.05  # elasticity above which the least input of a good route is close to the optimum
_ABSURD = 2.0  # elasticity: a marginal rate this far above the average rate is an artefact


class Shortfall(NamedTuple):
    """The result of a search without a sufficient input: the largest output found, 0 for none."""

    amount_out: int


def route_for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int = 1
) -> SearchResult | Shortfall:
    """Return the route that delivers `amount_out` for the least input found. `first` estimates that input.

    Each route that comes near `amount_out` gets its own least input for it, found in integers. The next search uses
    that input, until no route gets cheaper.
    """
    problem = search_for(first).problem
    value = problem.spot.value(problem.spec.source)
    amount = max(1, int(amount_out / value)) if value > 0.0 else 0
    search = _InputSearch(problem, amount_out)
    try:
        _search_inputs(search_for, search, amount)
    except SearchTimeUp:
        search.best = search.best._replace(is_complete=False) if search.best else None
    return search.best or Shortfall(search.short_output)


def route_from(search_for: Callable[[int], RouteSearch], amount_out: int, former: FormerSearch) -> SearchResult | None:
    """As `route_for_output`, from the search for a similar output, on a former state of the market perhaps.

    None if a search from the start has to follow.
    """
    from swapcli.core.routing.search.warm_search import search_from

    search = search_for(former.amount_in)
    source = search.problem.graph.addresses[search.spec.source]
    rise = _rise(former.amount_out, former.prices[source] * former.amount_in / former.amount_out)
    first = _extrapolate(former.amount_in, former.amount_out, rise, amount_out)
    state = _InputSearch(search.problem, amount_out, _CLOSE_WARM)
    amount = max(1, int(min(first, _MAX_GROWTH * former.amount_in)))
    try:
        for _ in range(_MORE_ROUNDS):
            search = search_for(amount)
            result = search_from(search, former)
            if result is None:
                return None
            finished = _with_least_input(search, result, amount_out)
            following = state.next_amount(amount, result, finished)
            if not result.is_complete:
                raise SearchTimeUp
            if state.best is None or following is None:
                break
            amount = following
        return state.best
    except SearchTimeUp:
        return state.best and state.best._replace(is_complete=False)


def _search_inputs(search_for: Callable[[int], RouteSearch], state: _InputSearch, amount: int) -> None:
    """Try inputs from about `amount` on, until `state` expects nothing better. Raises `SearchTimeUp`."""
    if not 0 < amount < AMOUNT_LIMIT:
        return
    left, amount_out = _ROUNDS, state.amount_out
    search, last = _near_search(search_for, amount, amount_out), None
    while left > 0 and 0 < (amount := search.spec.amount) < AMOUNT_LIMIT:
        left = min(left - 1, _MORE_ROUNDS) if state.best else left - 1
        is_similar = last is not None and _is_similar(amount, last.problem.spec.amount)
        result = last = search.run(last.solution if last and is_similar else None)
        finished = None
        if result and amount_out - result.best.replay.amount_out <= _NEAR * amount_out:
            finished = _with_least_input(search, result, amount_out)
        following = state.next_amount(amount, result, finished)
        if result and not result.is_complete:
            raise SearchTimeUp
        if following is None:
            break
        search = search_for(following)


def _near_search(search_for: Callable[[int], RouteSearch], amount: int, amount_out: int) -> RouteSearch:
    """Return the search for an input whose solution, before rounding, brings about `amount_out`.

    The inputs start at `amount`, whose search is returned where solutions lead nowhere.
    """
    first = search = search_for(amount)
    known: Solution | None = None
    with suppress(SearchTimeUp):
        for _ in range(_ESTIMATES):
            solution = search.solve(known)
            if solution is None or solution.residual > MAX_RESIDUAL or solution.value <= 0.0:
                break
            if abs(solution.value - amount_out) <= _ESTIMATE_TOLERANCE * amount_out:
                return search
            rise = _rise(solution.value, solution.prices[search.spec.source] * amount / solution.value)
            following = _extrapolate(amount, solution.value, rise, amount_out)
            if not max(1.0, amount / _MAX_GROWTH) <= following < min(AMOUNT_LIMIT, amount * _MAX_GROWTH):
                break
            known = solution if _is_similar(int(following), amount) else None
            amount = int(following)
            search = search_for(amount)
        else:
            return search
    return first


def _is_similar(amount: int, other: int) -> bool:
    """Return whether a search starts from the solution for another amount."""
    return abs(amount - other) <= _SIMILAR * amount


class _InputSearch:
    """The bracket of the least input: above `short`, which brought `short_output`, and below `excess`, which is too
    large for any route."""

    def __init__(self, problem: RoutingProblem, amount_out: int, close: float = _CLOSE) -> None:
        """A route whose own input is within the part `close` of its least input ends the search."""
        self._problem, self.amount_out, self._close = problem, amount_out, close
        self.best: SearchResult | None = None
        self.short = self.short_output = 0
        self.excess = AMOUNT_LIMIT
        self._growth = 1.0
        self._plateau_steps_tried = 0
        self._max_input_cache: int | None = None
        self._tried = set[int]()

    def next_amount(self, amount: int, result: SearchResult | None, finished: SearchResult | None) -> int | None:
        """Return the input to try after `amount`; None where nothing better is expected.

        `result` is that of `amount`, `finished` the same finished in integers if it came near.
        """
        guess = self._guess(amount, result)
        delivered = result.best.replay.amount_out if result else 0
        self.best = _cheaper(self.best, finished)
        if delivered < self.amount_out and amount > self.short and (self.best or delivered >= self.short_output):
            self.short, self.short_output = amount, max(delivered, self.short_output)
        if self.best:
            return self._next_below(self.best.best.amount_in, amount, result)
        if not delivered:
            self.excess = min(self.excess, amount if self.short_output else self._max_input())
        if self._plateau_steps_tried > len(_PLATEAU_STEPS):
            return None
        following = guess if guess < self.excess else _midpoint(self.short, self.excess)
        return following if following > self.short else None

    def _next_below(self, enough: int, amount: int, result: SearchResult | None) -> int | None:
        """Return the input to try after `amount`, once the input `enough` suffices; None to stop.

        Where more input brings next to nothing, the rounding of shares decides, and the gap is halved.
        """
        if enough > _WIDE * self.short and not _STEEP < _elasticity(result, amount) < _ABSURD:
            return _midpoint(self.short, enough)
        if abs(enough - amount) <= self._close * amount or enough in self._tried:
            return None
        self._tried.add(enough)
        return enough

    def _max_input(self) -> int:
        """Return an upper bound on the input that the pools can take."""
        if self._max_input_cache is None:
            problem = self._problem
            spec = problem.spec
            bound = max_input(problem.graph, spec.endpoints, spec.max_hops, check=spec.check)
            self._max_input_cache = int(min(bound, AMOUNT_LIMIT))
        return self._max_input_cache

    def _guess(self, amount: int, result: SearchResult | None) -> int:
        """Return the input that is expected to bring the requested output, after `result` for `amount`."""
        delivered = result.best.replay.amount_out if result else 0
        little = _LITTLE * min(self.amount_out - delivered, delivered)
        is_flat = result is None or delivered - self.short_output <= little
        if is_flat and max(delivered, self.short_output) < _PLATEAU * self.amount_out:
            self._growth *= _MAX_GROWTH
            return int(min(amount * self._growth, 2.0**256))
        if result is None or is_flat:
            self._plateau_steps_tried += 1
            step = _PLATEAU_STEPS[min(self._plateau_steps_tried, len(_PLATEAU_STEPS)) - 1]
            return int(max(amount, self.short) * step) + 1
        elasticity = _elasticity(result, amount)
        if self.short_output and (amount > _APART * self.short or elasticity > _ABSURD):
            rise = max(0.0, (amount / delivered - self.short / self.short_output) / (amount - self.short))
        else:
            rise = _rise(delivered, elasticity)
        max_guess = amount * (_NEAR_GROWTH if delivered > _MOSTLY * self.amount_out else _MAX_GROWTH)
        guess = min(_extrapolate(amount, delivered, rise, self.amount_out), max_guess)
        min_growth = _FLAT_GROWTH if self.short_output and elasticity < _FLAT else _MIN_GROWTH
        return int(max(guess, amount * min_growth)) + 1


def _elasticity(result: SearchResult | None, amount: int) -> float:
    """Return the marginal rate at the result of `amount` divided by the average rate; 0.0 without a result."""
    if result is None:
        return 0.0
    return result.prices[result.problem.spec.source] * amount / result.best.replay.amount_out


def _rise(delivered: float, elasticity: float) -> float:
    """Return the rise of input / output per unit of input, at an output and an elasticity there."""
    return max(0.0, (1.0 - elasticity) / delivered)


def _extrapolate(amount: int, delivered: float, rise: float, amount_out: int) -> float:
    """Return the input that would bring `amount_out` if the pools together were one constant-product pool.

    For such a pool, input / output is linear in the input. For a whole market it is nearly so, from tiny orders to
    those that drain the pools. Infinite if no input would.
    """
    left = 1.0 - rise * amount_out
    return (amount / delivered - rise * amount) * amount_out / left if left > 0.0 else inf


def _midpoint(low: int, high: int) -> int:
    """Return the middle of the two, geometric where they are far apart."""
    return isqrt(low * high) if 0 < 2 * low < high else (low + high) // 2


def _cheaper(result: SearchResult | None, other: SearchResult | None) -> SearchResult | None:
    found = [result for result in (result, other) if result]
    return min(found, key=lambda result: result.best.amount_in, default=None)


def _with_least_input(search: RouteSearch, result: SearchResult, amount_out: int) -> SearchResult | None:
    """Return `result` with the least input of its route for `amount_out`; None if the route cannot reach it."""
    best, single = result.best, result.best_single_path
    slope = result.prices.get(result.problem.spec.source, 0.0)
    found = least_input(search.scorer, best.route, amount_out, best.amount_in, best.replay, slope)
    if found is None:
        return None
    amount, replay = found
    single = search.scorer.score_if_accepted(single.route, amount) if single else None
    return result._replace(best=search.scorer.score_replay(best.route, amount, replay), best_single_path=single)
