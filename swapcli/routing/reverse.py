"""Exact output: the least input whose replayed output reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.replay import FlatSwap, execute, flatten
from swapcli.routing.search import Outcome, Search
from swapcli.routing.solver import Check, unwatched

_ROUNDS = 16
_MORE_ROUNDS = 6  # once an input is known that is enough
_NEAR = 2e-2  # of what is wanted: routes found for such outputs are tried for the exact one
_CLOSE = 1e-7
_NARROW = 1e-6  # of the input: between one that falls short and one that is enough there is nothing left to find
_MOST_GROWTH = 8.0
_HOPELESS = 1e-3  # of what is missing: more input that brings less than this will never bring the rest
_FEW_UNITS = 1e6  # worth of an input that may bring nothing because of rounding alone
_AMOUNT_LIMIT = 1 << 256


def route_for_output(search_for: Callable[[int], Search], wanted: int) -> Outcome | None:
    """The route that delivers `wanted` for the least input found, with that input; None when no input does.

    Output is concave in the input and its slope is the source's price, so Newton's method takes a few rounds; where
    the output moves in steps, the gap between what falls short and what is enough is halved. Every route on the way
    that comes near is finished in integers.
    """
    problem = search_for(1).problem
    value = problem.spot.value(problem.task.source)
    amount = max(1, int(wanted / value)) if value > 0.0 else 0
    hunt = _Hunt(wanted, value)
    left = _ROUNDS
    while left > 0 and 0 < amount < _AMOUNT_LIMIT:
        left = min(left - 1, _MORE_ROUNDS) if hunt.best else left - 1
        search = search_for(amount)
        outcome = search.best()
        if outcome and wanted - outcome.found.replay.amount_out <= _NEAR * wanted:
            hunt.best = _cheaper(hunt.best, _finished(search, outcome, wanted))
        following = hunt.following(amount, outcome)
        if following is None:
            break
        amount = following
    return hunt.best


class _Hunt:
    """Where the least input may still be: above `short`, which brought `brought`, and below the best one's.

    `value` is the worth of a vanishing input's unit in units of output.
    """

    def __init__(self, wanted: int, value: float) -> None:
        self.wanted, self.value = wanted, value
        self.best: Outcome | None = None
        self.short = self.brought = 0
        self.fell_short: bool | None = None

    def following(self, amount: int, outcome: Outcome | None) -> int | None:
        """The input to try after `amount`, which had `outcome`; None where nothing better is to be expected."""
        delivered = outcome.found.replay.amount_out if outcome else 0
        missing = self.wanted - delivered
        again = self.fell_short is (missing > 0)
        self.fell_short = missing > 0
        if abs(missing) <= _CLOSE * self.wanted or (missing > 0 and self._is_hopeless(amount, delivered)):
            return None
        if missing > 0 and amount > self.short:
            self.short, self.brought = amount, delivered
        slope = outcome.prices[outcome.problem.task.source] if outcome else 0.0
        most = amount * _MOST_GROWTH + 1.0
        newton = max(1, int(min(amount + missing / slope if slope > 0.0 else most, most)))
        if self.best is None:
            return newton if newton != amount else None
        high = self.best.found.amount_in
        if high - self.short <= max(1.0, _NARROW * high):
            return None
        return newton if self.short < newton < high and not again else (self.short + high) // 2

    def _is_hopeless(self, amount: int, delivered: int) -> bool:
        """Did several times the input bring next to nothing more?"""
        if self.best is not None or not self.short or amount < 2 * self.short:
            return False
        if not delivered and amount * self.value < _FEW_UNITS:
            return False
        return delivered - self.brought < _HOPELESS * (self.wanted - delivered)


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
