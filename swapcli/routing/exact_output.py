"""Exact output: the least input whose replayed output reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from typing import NamedTuple

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.cancellation import CancelCheck, SearchTimeUp, no_cancellation
from swapcli.routing.replay import FlatSwap, execute, flatten
from swapcli.routing.search.problem import RoutingProblem
from swapcli.routing.search.route_search import RouteSearch, SearchResult
from swapcli.routing.solver.liquidity_bound import max_input
from swapcli.routing.solver.roots import least_integer

_ROUNDS = 16
_MORE_ROUNDS = 6  # once an input is known that is enough
_NEAR = 2e-2  # of the wanted output: routes found for such outputs are tried for the exact one
_CLOSE = 1e-7  # of the input: a route finished this close to the input it was found for is the best there
_MAX_GROWTH = 64.0  # of the input from one search to the next, while more of it brings more
_NEAR_GROWTH = 4.0  # once it brings most of what is wanted
_MOSTLY = 0.9
_MIN_GROWTH = 1.0001
_FLAT, _FLAT_GROWTH = 2e-3, 1.4  # elasticity below which how percents fall hides what more input brings, and a way on
_LITTLE = 1e-3  # of what is missing: an input that adds no more than this has drained the pools, if any has
_PLATEAU = 0.3  # of what is wanted: where less than this comes of much input, it is a dust pool that is drained
_PLATEAU_STEPS = (1.05, 1.2, 1.6, 2.5, 4.0)  # of the input from there on, where whole percents overflow ever more pools
_APART = 1.5  # ratio of two inputs from which their outputs tell a rate: routes are rounded to whole percents
_WIDE = 1.1  # ratio of an input that is enough to one that falls short, which leaves something to find
_STEEP = 0.05  # elasticity from which the least input of a good route is the least input
_ABSURD = 2.0  # elasticity: a marginal rate that is so far above the average is none
_AMOUNT_LIMIT = 1 << 256


class Shortfall(NamedTuple):
    """No input was found that brings the wanted output: `amount_out` is the most that one did, 0 if none did."""

    amount_out: int


def route_for_output(
    search_for: Callable[[int], RouteSearch], amount_out: int, first: int = 1
) -> SearchResult | Shortfall:
    """Return the route that delivers `amount_out` for the least input found. `first` estimates that input.

    Each route that comes near `amount_out` gets its own least input for it, found in integers. The next search is for
    that input. The search ends when no route gets cheaper.
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


def _search_inputs(search_for: Callable[[int], RouteSearch], hunt: _InputSearch, amount: int) -> None:
    """Let `hunt` see what comes of one input after the other, from `amount` on. Raises `SearchTimeUp`."""
    left, wanted = _ROUNDS, hunt.amount_out
    while left > 0 and 0 < amount < _AMOUNT_LIMIT:
        left = min(left - 1, _MORE_ROUNDS) if hunt.best else left - 1
        search = search_for(amount)
        outcome = search.run()
        finished = None
        if outcome and wanted - outcome.best.replay.amount_out <= _NEAR * wanted:
            finished = _with_least_input(search, outcome, wanted)
        following = hunt.next_amount(amount, outcome, finished)
        if outcome and not outcome.is_complete:
            raise SearchTimeUp
        if following is None:
            break
        amount = following


class _InputSearch:
    """The bracket of the least input: above `short`, which brought `short_output`, and below `excess`, which no route
    took."""

    def __init__(self, problem: RoutingProblem, wanted: int) -> None:
        self._problem, self.amount_out = problem, wanted
        self.best: SearchResult | None = None
        self.short = self.short_output = 0
        self.excess = _AMOUNT_LIMIT
        self._growth = 1.0
        self._plateau_steps_tried = 0
        self._max_input_cache: int | None = None
        self._tried = set[int]()

    def next_amount(self, amount: int, outcome: SearchResult | None, finished: SearchResult | None) -> int | None:
        """The input to try after `amount`, which had `outcome`, `finished` in integers if it came near; None where
        nothing better is to be expected."""
        guess = self._guess(amount, outcome)
        delivered = outcome.best.replay.amount_out if outcome else 0
        self.best = _cheaper(self.best, finished)
        if delivered < self.amount_out and amount > self.short and (self.best or delivered >= self.short_output):
            self.short, self.short_output = amount, max(delivered, self.short_output)
        if self.best:
            return self._next_below(self.best.best.amount_in, amount, outcome)
        if not delivered:
            self.excess = min(self.excess, amount if self.short_output else self._max_input())
        if self._plateau_steps_tried > len(_PLATEAU_STEPS):
            return None
        following = guess if guess < self.excess else _midpoint(self.short, self.excess)
        return following if following > self.short else None

    def _next_below(self, enough: int, amount: int, outcome: SearchResult | None) -> int | None:
        """The input to try after `amount`, which had `outcome`, once `take_until` is known to be enough.

        Where more input brings next to nothing, how well the percents fall decides, and the gap is halved.
        """
        if enough > _WIDE * self.short and not _STEEP < _elasticity(outcome, amount) < _ABSURD:
            return _midpoint(self.short, enough)
        if abs(enough - amount) <= _CLOSE * amount or enough in self._tried:
            return None
        self._tried.add(enough)
        return enough

    def _max_input(self) -> int:
        """About the most that the pools can take."""
        if self._max_input_cache is None:
            problem = self._problem
            most = max_input(problem.graph, problem.spec.endpoints, problem.spec.max_hops, check=problem.spec.check)
            self._max_input_cache = int(min(most, _AMOUNT_LIMIT))
        return self._max_input_cache

    def _guess(self, amount: int, outcome: SearchResult | None) -> int:
        """The input that would bring the wanted output if all pools together were one of constant product.

        For such a pool input / output is a line over the input, and for a whole market it is close to one, from a
        vanishing order to one that drains the pools.
        """
        delivered = outcome.best.replay.amount_out if outcome else 0
        is_flat = outcome is None or delivered - self.short_output <= _LITTLE * min(
            self.amount_out - delivered, delivered
        )
        if is_flat and max(delivered, self.short_output) < _PLATEAU * self.amount_out:
            self._growth *= _MAX_GROWTH
            return int(min(amount * self._growth, 2.0**256))
        if outcome is None or is_flat:
            self._plateau_steps_tried += 1
            return (
                int(max(amount, self.short) * _PLATEAU_STEPS[min(self._plateau_steps_tried, len(_PLATEAU_STEPS)) - 1])
                + 1
            )
        cost = amount / delivered
        elasticity = _elasticity(outcome, amount)
        if self.short_output and (amount > _APART * self.short or elasticity > _ABSURD):
            rise = (cost - self.short / self.short_output) / (amount - self.short)
        else:
            rise = (1.0 - elasticity) / delivered
        rise = max(rise, 0.0)
        start, left = cost - rise * amount, 1.0 - rise * self.amount_out
        most = amount * (_NEAR_GROWTH if delivered > _MOSTLY * self.amount_out else _MAX_GROWTH)
        guess = min(start * self.amount_out / left, most) if left > 0.0 else most
        least = _FLAT_GROWTH if self.short_output and elasticity < _FLAT else _MIN_GROWTH
        return int(max(guess, amount * least)) + 1


def _elasticity(outcome: SearchResult | None, amount: int) -> float:
    """The marginal rate at the outcome of `amount` as a part of the average one; 0.0 without an outcome."""
    if outcome is None:
        return 0.0
    return outcome.prices[outcome.problem.spec.source] * amount / outcome.best.replay.amount_out


def _midpoint(low: int, high: int) -> int:
    """Between the two, in orders of magnitude where they are far apart."""
    return isqrt(low * high) if 0 < 2 * low < high else (low + high) // 2


def _cheaper(one: SearchResult | None, other: SearchResult | None) -> SearchResult | None:
    found = [outcome for outcome in (one, other) if outcome]
    return min(found, key=lambda outcome: outcome.best.amount_in, default=None)


def _with_least_input(search: RouteSearch, outcome: SearchResult, amount_out: int) -> SearchResult | None:
    """`outcome` with its route's least input for `amount_out`."""
    amount = least_input(search.pools, outcome.best.route, amount_out, outcome.best.amount_in, search.spec.check)
    found = search.score_route(outcome.best.route, amount) if amount is not None else None
    if amount is None or found is None:
        return None
    single = search.score_route(outcome.best_single_path.route, amount) if outcome.best_single_path else None
    return outcome._replace(best=found, best_single_path=single)


def least_input(
    pools: Mapping[str, Pool], route: Route, amount_out: int, first_guess: int, check: CancelCheck = no_cancellation
) -> int | None:
    """The least input with which `route` replays to at least `amount_out`, searched around `near`; None when none does.

    Asks `check` once a replay.
    """

    swaps = flatten(route)

    def suffices(amount_in: int) -> bool:
        check()
        return _delivered(pools, swaps, amount_in) >= amount_out

    return least_integer(suffices, first_guess, _AMOUNT_LIMIT)


def _delivered(pools: Mapping[str, Pool], swaps: Sequence[FlatSwap], amount_in: int) -> int:
    """Output of the replay; 0 where it reverts."""
    if amount_in <= 0:
        return 0
    try:
        return execute(pools, swaps, amount_in).amount_out
    except PoolError:
        return 0
