"""Exact output: the least input whose replayed output reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.replay import replay
from swapcli.routing.search import Outcome, Search

_ROUNDS = 40
_NEAR = 2e-2  # of what is wanted: routes found for such outputs are tried for the exact one
_CLOSE = 1e-7
_MOST_GROWTH = 8.0
_AMOUNT_LIMIT = 1 << 256


def route_for_output(search_for: Callable[[int], Search], wanted: int) -> Outcome | None:
    """The route that delivers `wanted` for the least input found, with that input; None when no input does.

    Output is concave in the input and its slope is the source's price, so Newton's method takes a few rounds. Every
    route on the way that comes near is finished in integers.
    """
    problem = search_for(1).problem
    value = problem.zero.value(problem.task.source)
    amount = max(1, int(wanted / value)) if value > 0.0 else 0
    best: Outcome | None = None
    for _ in range(_ROUNDS):
        search = search_for(amount)
        outcome = search.best() if 0 < amount < _AMOUNT_LIMIT else None
        if outcome is None:
            break
        missing = wanted - outcome.found.replay.amount_out
        if abs(missing) <= _NEAR * wanted:
            best = _cheaper(best, _finished(search, outcome, wanted))
        change = missing / outcome.prices[problem.task.source]
        following = max(1, int(min(amount + change, amount * _MOST_GROWTH + 1)))
        if abs(missing) <= _CLOSE * wanted or following == amount:
            break
        amount = following
    return best


def _cheaper(one: Outcome | None, other: Outcome | None) -> Outcome | None:
    found = [outcome for outcome in (one, other) if outcome]
    return min(found, key=lambda outcome: outcome.found.amount_in, default=None)


def _finished(search: Search, outcome: Outcome, wanted: int) -> Outcome | None:
    """`outcome` with its route's least input for `wanted`."""
    amount = least_input(search.pools, outcome.found.route, wanted, outcome.found.amount_in)
    found = search.replayed(outcome.found.route, amount) if amount is not None else None
    if amount is None or found is None:
        return None
    single = search.replayed(outcome.single.route, amount) if outcome.single else None
    return outcome._replace(found=found, single=single)


def least_input(pools: Mapping[str, Pool], route: Route, wanted: int, near: int) -> int | None:
    """The least input with which `route` replays to at least `wanted`, searched around `near`; None when none does."""
    short, enough = _bracket(pools, route, wanted, near)
    if enough is None:
        return None
    while enough - short > 1:
        middle = (short + enough) // 2
        if _delivers(pools, route, middle) >= wanted:
            enough = middle
        else:
            short = middle
    return enough


def _bracket(pools: Mapping[str, Pool], route: Route, wanted: int, near: int) -> tuple[int, int | None]:
    """An input that falls short (0 does) and one that is enough, close to `near`."""
    step = max(1, near >> 30)
    if _delivers(pools, route, near) >= wanted:
        enough, short = near, near - step
        while short > 0 and _delivers(pools, route, short) >= wanted:
            enough, step = short, step * 4
            short -= step
        return max(0, short), enough
    short, enough = near, near + step
    while _delivers(pools, route, enough) < wanted:
        short, step = enough, step * 4
        enough += step
        if enough >= min(_AMOUNT_LIMIT, near << 8):
            return short, None
    return short, enough


def _delivers(pools: Mapping[str, Pool], route: Route, amount_in: int) -> int:
    """Output of the replay; 0 where it reverts."""
    if amount_in <= 0:
        return 0
    try:
        return replay(pools, route, amount_in).amount_out
    except PoolError:
        return 0
