"""The least input of a fixed route for a requested output, found by replaying the route in integers."""

from __future__ import annotations

from swapcli.core.errors import PoolError
from swapcli.core.model.quote import Route
from swapcli.core.routing.replay import KnownSwaps, Replay, execute, flatten
from swapcli.core.routing.search.scored_route import RouteScorer
from swapcli.core.routing.solver.roots import least_integer

AMOUNT_LIMIT = 1 << 256  # above every uint256


def least_input(
    scorer: RouteScorer,
    route: Route,
    amount_out: int,
    first_guess: int,
    first_replay: Replay | None = None,
    slope: float = 0.0,
) -> tuple[int, Replay] | None:
    """Return the smallest input for which `route` replays to at least `amount_out`, with its replay; None if there is
    none.

    `scorer` has the pools and executes the route; the search starts around `first_guess`, whose replay and marginal
    rate may be given as `first_replay` and `slope`. Calls the scorer's check once per replay.
    """
    replays = _Replays(scorer, route)
    if first_replay:
        replays.by_input[first_guess] = first_replay
    amount = least_integer(replays.amount_out, amount_out, first_guess, AMOUNT_LIMIT, replays.estimate_jump, slope)
    replay = replays.by_input.get(amount) if amount is not None else None
    return (amount, replay) if amount is not None and replay else None


class _Replays:
    """The replays of one route, by input; None if the route reverts."""

    def __init__(self, scorer: RouteScorer, route: Route) -> None:
        self._scorer, self._swaps = scorer, flatten(route, scorer.execution)
        self._known_swaps = KnownSwaps()
        self.by_input: dict[int, Replay | None] = {}

    def amount_out(self, amount_in: int) -> int:
        """Return the output of the route for `amount_in`; 0 if it reverts."""
        if amount_in not in self.by_input:
            self._scorer.spec.check()
            self.by_input[amount_in] = self._execute(amount_in)
        replay = self.by_input[amount_in]
        return replay.amount_out if replay else 0

    def estimate_jump(self, low: int, high: int) -> int | None:
        """Return about the smallest input, between two, at which the output jumps; None if it is not found."""
        from swapcli.core.routing.output_jumps import estimate_jump

        before, after = self.by_input.get(low), self.by_input.get(high)
        return estimate_jump(self._scorer.pools, (low, before), (high, after)) if before and after else None

    def _execute(self, amount_in: int) -> Replay | None:
        if amount_in <= 0:
            return None
        try:
            return execute(self._scorer.pools, self._swaps, amount_in, self._scorer.execution, self._known_swaps)
        except PoolError:
            return None
