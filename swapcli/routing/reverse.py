"""Exact output: the least input whose replayed output reaches what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from swapcli.errors import PoolError
from swapcli.model.pool import Pool
from swapcli.model.route import Route
from swapcli.routing.replay import replay
from swapcli.routing.search import Outcome, Search

_ROUNDS = 40
_CLOSE = 1e-7
_MOST_GROWTH = 8.0
_AMOUNT_LIMIT = 1 << 256


def route_for_output(search_for: Callable[[int], Search], wanted: int) -> Outcome | None:
    """The search's route for the least input that delivers `wanted`, with that input; None when no input does."""
    near = _search_near(search_for, wanted)
    if near is None:
        return None
    search = search_for(near.found.amount_in)
    amount = least_input(search.pools, near.found.route, wanted, near.found.amount_in)
    found = search.replayed(near.found.route, amount) if amount is not None else None
    if amount is None or found is None:
        return None
    single = search.replayed(near.single.route, amount) if near.single else None
    return replace(near, found=found, single=single)


def _search_near(search_for: Callable[[int], Search], wanted: int) -> Outcome | None:
    """The outcome for an input that delivers about `wanted`.

    Output is concave in the input and its slope is the source's price, so Newton's method takes a few rounds.
    """
    problem = search_for(1).problem
    value = problem.zero.value(problem.task.source)
    amount = max(1, int(wanted / value)) if value > 0.0 else 0
    last: Outcome | None = None
    for _ in range(_ROUNDS):
        outcome = search_for(amount).best() if 0 < amount < _AMOUNT_LIMIT else None
        if outcome is None:
            return last
        last = outcome
        missing = wanted - outcome.found.replay.amount_out
        change = missing / outcome.prices[problem.task.source]
        following = max(1, int(min(amount + change, amount * _MOST_GROWTH + 1)))
        if abs(missing) <= _CLOSE * wanted or following == amount:
            return outcome
        amount = following
    return last


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
