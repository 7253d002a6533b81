"""Routes that were found on other state: each competes, replayed exactly, with what a search has found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from swapcli.model.order import Order
from swapcli.model.route import Route
from swapcli.routing.search.problem import Banned
from swapcli.routing.search.route_search import Found, Outcome, Search
from swapcli.routing.solver.newton import Solution


class Candidate(NamedTuple):
    """A route, and the input in base units that it was found for."""

    route: Route
    amount_in: int

    @property
    def pools(self) -> frozenset[str]:
        """Keys of the pools that the route uses."""
        return frozenset(swap.pool for segment in self.route.segments for hop in segment.hops for swap in hop)


def is_better(order: Order, found: Found, other: Found | None, by: float = 0.0) -> bool:
    """Return whether `found` is better than `other` by more than the part `by` of its amount.

    Output net of gas counts, or for an order in reverse the input.
    """
    if other is None:
        return True
    if order.reverse:
        return found.amount_in < other.amount_in * (1.0 - by)
    return found.net > other.net + by * other.replay.amount_out


def with_candidates(
    order: Order, outcome: Outcome | None, candidates: Iterable[Candidate], search_for: Callable[[int], Search]
) -> Outcome | None:
    """Return `outcome` with the best of its route and `candidates`, of which those count whose pools are all there."""
    for candidate in candidates:
        search = search_for(candidate.amount_in if order.reverse else order.amount)
        found = _replayed(order, candidate, search) if candidate.pools <= search.pools.keys() else None
        if found and is_better(order, found, outcome.found if outcome else None):
            outcome = outcome._replace(found=found) if outcome else _outcome(search, found)
    return outcome


def _replayed(order: Order, candidate: Candidate, search: Search) -> Found | None:
    if not order.reverse:
        return search.replayed(candidate.route, order.amount)
    from swapcli.routing.exact_output import least_input

    amount = least_input(search.pools, candidate.route, order.amount, candidate.amount_in)
    return search.replayed(candidate.route, amount) if amount is not None else None


def _outcome(search: Search, found: Found) -> Outcome:
    """Return an outcome where no search had one: spot prices certify it, since any prices do."""
    problem = search.problem
    index = problem.graph.token_index
    tokens = {index[token] for step in found.replay.steps for token in (step.token_in, step.token_out)}
    prices = {token: problem.spot.value(token) for token in tokens}
    priced = {token: price for token, price in prices.items() if price > 0.0} | {problem.task.target: 1.0}
    return Outcome(problem, found, None, Solution(priced, [], found.net, 1.0, 0), Banned())
