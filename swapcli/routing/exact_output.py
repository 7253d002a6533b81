"""Exact output: the least input whose replayed output reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isqrt
from typing import NamedTuple

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.replay import FlatSwap, execute, flatten
from swapcli.routing.search.problem import Problem, SearchTimeUp
from swapcli.routing.search.route_search import Outcome, Search
from swapcli.routing.solver.liquidity_bound import most_sold
from swapcli.routing.solver.newton import Check, unwatched

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


def route_for_output(search_for: Callable[[int], Search], wanted: int, first: int = 1) -> Outcome | Shortfall:
    """The route that delivers `wanted` for the least input found, with that input. `first` is about what it may be.

    Every route found that comes near is finished in integers: its own least input for `wanted`. The next search is for
    that input, until nothing gets cheaper.
    """
    problem = search_for(first).problem
    value = problem.spot.value(problem.task.source)
    amount = max(1, int(wanted / value)) if value > 0.0 else 0
    hunt = _Hunt(problem, wanted)
    try:
        _search_inputs(search_for, hunt, amount)
    except SearchTimeUp:
        hunt.best = hunt.best._replace(is_complete=False) if hunt.best else None
    return hunt.best or Shortfall(hunt.brought)


def _search_inputs(search_for: Callable[[int], Search], hunt: _Hunt, amount: int) -> None:
    """Let `hunt` see what comes of one input after the other, from `amount` on. Raises `SearchTimeUp`."""
    left, wanted = _ROUNDS, hunt.wanted
    while left > 0 and 0 < amount < _AMOUNT_LIMIT:
        left = min(left - 1, _MORE_ROUNDS) if hunt.best else left - 1
        search = search_for(amount)
        outcome = search.best()
        finished = None
        if outcome and wanted - outcome.found.replay.amount_out <= _NEAR * wanted:
            finished = _finished(search, outcome, wanted)
        following = hunt.following(amount, outcome, finished)
        if outcome and not outcome.is_complete:
            raise SearchTimeUp
        if following is None:
            break
        amount = following


class _Hunt:
    """Where the least input may be: above `short`, which brought `brought`, and below `excess`, which no route took."""

    def __init__(self, problem: Problem, wanted: int) -> None:
        self._problem, self.wanted = problem, wanted
        self.best: Outcome | None = None
        self.short = self.brought = 0
        self.excess = _AMOUNT_LIMIT
        self._growth = 1.0
        self._futile = 0
        self._most: int | None = None
        self._tried = set[int]()

    def following(self, amount: int, outcome: Outcome | None, finished: Outcome | None) -> int | None:
        """The input to try after `amount`, which had `outcome`, `finished` in integers if it came near; None where
        nothing better is to be expected."""
        guess = self._guess(amount, outcome)
        delivered = outcome.found.replay.amount_out if outcome else 0
        self.best = _cheaper(self.best, finished)
        if delivered < self.wanted and amount > self.short and (self.best or delivered >= self.brought):
            self.short, self.brought = amount, max(delivered, self.brought)
        if self.best:
            return self._below(self.best.found.amount_in, amount, outcome)
        if not delivered:
            self.excess = min(self.excess, amount if self.brought else self._limit())
        if self._futile > len(_PLATEAU_STEPS):
            return None
        following = guess if guess < self.excess else _middle(self.short, self.excess)
        return following if following > self.short else None

    def _below(self, enough: int, amount: int, outcome: Outcome | None) -> int | None:
        """The input to try after `amount`, which had `outcome`, once `enough` is known to be enough.

        Where more input brings next to nothing, how well the percents fall decides, and the gap is halved.
        """
        if enough > _WIDE * self.short and not _STEEP < _elasticity(outcome, amount) < _ABSURD:
            return _middle(self.short, enough)
        if abs(enough - amount) <= _CLOSE * amount or enough in self._tried:
            return None
        self._tried.add(enough)
        return enough

    def _limit(self) -> int:
        """About the most that the pools can take."""
        if self._most is None:
            problem = self._problem
            most = most_sold(problem.graph, problem.task.ends, problem.task.max_hops, check=problem.task.check)
            self._most = int(min(most, _AMOUNT_LIMIT))
        return self._most

    def _guess(self, amount: int, outcome: Outcome | None) -> int:
        """The input that would bring the wanted output if all pools together were one of constant product.

        For such a pool input / output is a line over the input, and for a whole market it is close to one, from a
        vanishing order to one that drains the pools.
        """
        delivered = outcome.found.replay.amount_out if outcome else 0
        is_flat = outcome is None or delivered - self.brought <= _LITTLE * min(self.wanted - delivered, delivered)
        if is_flat and max(delivered, self.brought) < _PLATEAU * self.wanted:
            self._growth *= _MAX_GROWTH
            return int(min(amount * self._growth, 2.0**256))
        if outcome is None or is_flat:
            self._futile += 1
            return int(max(amount, self.short) * _PLATEAU_STEPS[min(self._futile, len(_PLATEAU_STEPS)) - 1]) + 1
        cost = amount / delivered
        elasticity = _elasticity(outcome, amount)
        if self.brought and (amount > _APART * self.short or elasticity > _ABSURD):
            rise = (cost - self.short / self.brought) / (amount - self.short)
        else:
            rise = (1.0 - elasticity) / delivered
        rise = max(rise, 0.0)
        start, left = cost - rise * amount, 1.0 - rise * self.wanted
        most = amount * (_NEAR_GROWTH if delivered > _MOSTLY * self.wanted else _MAX_GROWTH)
        guess = min(start * self.wanted / left, most) if left > 0.0 else most
        least = _FLAT_GROWTH if self.brought and elasticity < _FLAT else _MIN_GROWTH
        return int(max(guess, amount * least)) + 1


def _elasticity(outcome: Outcome | None, amount: int) -> float:
    """The marginal rate at the outcome of `amount` as a part of the average one; 0.0 without an outcome."""
    if outcome is None:
        return 0.0
    return outcome.prices[outcome.problem.task.source] * amount / outcome.found.replay.amount_out


def _middle(low: int, high: int) -> int:
    """Between the two, in orders of magnitude where they are far apart."""
    return isqrt(low * high) if 0 < 2 * low < high else (low + high) // 2


def _cheaper(one: Outcome | None, other: Outcome | None) -> Outcome | None:
    found = [outcome for outcome in (one, other) if outcome]
    return min(found, key=lambda outcome: outcome.found.amount_in, default=None)


def _finished(search: Search, outcome: Outcome, wanted: int) -> Outcome | None:
    """`outcome` with its route's least input for `wanted`."""
    amount = least_input(search.pools, outcome.found.route, wanted, outcome.found.amount_in, search.task.check)
    found = search.replayed(outcome.found.route, amount) if amount is not None else None
    if amount is None or found is None:
        return None
    single = search.replayed(outcome.single.route, amount) if outcome.single else None
    return outcome._replace(found=found, single=single)


def least_input(
    pools: Mapping[str, Pool], route: Route, wanted: int, near: int, check: Check = unwatched
) -> int | None:
    """The least input with which `route` replays to at least `wanted`, searched around `near`; None when none does.

    Asks `check` once a replay.
    """

    swaps = flatten(route)

    def suffices(amount_in: int) -> bool:
        check()
        return _delivered(pools, swaps, amount_in) >= wanted

    short, enough = _bracket(suffices, near)
    if enough is None:
        return None
    while enough - short > 1:
        middle = (short + enough) // 2
        if suffices(middle):
            enough = middle
        else:
            short = middle
    return enough


def _bracket(suffices: Callable[[int], bool], near: int) -> tuple[int, int | None]:
    """An input that falls short (0 does) and one that is enough, close to `near`."""
    step = max(1, near >> 30)
    if suffices(near):
        enough, short = near, near - step
        while short > 0 and suffices(short):
            enough, step = short, step * 4
            short -= step
        return max(0, short), enough
    short, enough = near, near + step
    while not suffices(enough):
        short, step = enough, step * 4
        enough += step
        if enough >= min(_AMOUNT_LIMIT, near << 8):
            return short, None
    return short, enough


def _delivered(pools: Mapping[str, Pool], swaps: Sequence[FlatSwap], amount_in: int) -> int:
    """Output of the replay; 0 where it reverts."""
    if amount_in <= 0:
        return 0
    try:
        return execute(pools, swaps, amount_in).amount_out
    except PoolError:
        return 0
