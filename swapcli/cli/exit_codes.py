"""Errors as exit statuses: the one table."""

from __future__ import annotations

from collections.abc import Iterable

from swapcli import errors

OK = 0
INTERNAL = 1
USAGE = 2
NO_ROUTE = 3
INTERRUPTED = 130

STATUS: dict[type[errors.SwapcliError], int] = {
    errors.InvalidInput: USAGE,
    errors.NoRoute: NO_ROUTE,
    errors.PoolError: NO_ROUTE,
    errors.IntegratorError: 4,
    errors.UpstreamError: 5,
    errors.StaleError: 6,
    errors.SimulationError: 7,
    errors.UnsafeSwap: 7,
    errors.UnhealthyError: 8,
    errors.RateLimited: 75,
    errors.Cancelled: INTERRUPTED,
}
"""The branches of the error tree; an error takes the status of its branch."""

MEANING: dict[int, str] = {
    OK: "done",
    INTERNAL: "a defect of swapcli",
    USAGE: "wrong usage, or input that is not valid",
    NO_ROUTE: "no route between the tokens",
    4: "an API key or an integrator rule",
    5: "a node or another service failed",
    6: "a route, or the state behind it, is too old",
    7: "a simulation or a balance check failed, or the price impact is too high",
    8: "not healthy",
    75: "rate limited: try again later",
    INTERRUPTED: "interrupted",
}


def status_of(error: BaseException) -> int:
    """The exit status that an error ends the process with; anything not raised on purpose is a defect."""
    return next((STATUS[base] for base in type(error).__mro__ if base in STATUS), INTERNAL)


def worst(statuses: Iterable[int]) -> int:
    """The status of a whole batch: a defect before wrong input before a missing route; the lowest that is not 0."""
    return min((status for status in statuses if status), default=OK)
