"""The exit statuses of all errors."""

from __future__ import annotations

from collections.abc import Iterable

from swapcli.core import errors

OK = 0
INTERNAL = 1
USAGE = 2
NO_ROUTE = 3
UNSAFE = 7
IO_ERROR = 74
"""The status `EX_IOERR` from sysexits.h."""
INTERRUPTED = 130

STATUS: dict[type[errors.SwapcliError], int] = {
    errors.InvalidInput: USAGE,
    errors.NoRoute: NO_ROUTE,
    errors.PoolError: NO_ROUTE,
    errors.IntegratorError: 4,
    errors.UpstreamError: 5,
    errors.StaleError: 6,
    errors.SimulationError: UNSAFE,
    errors.UnsafeSwap: UNSAFE,
    errors.UnhealthyError: 8,
    errors.InputOutputError: IO_ERROR,
    errors.RateLimited: 75,
    errors.Cancelled: INTERRUPTED,
}
"""The exit status of each branch of the error tree."""

MEANING: dict[int, str] = {
    OK: "done",
    INTERNAL: "internal error: a bug in swapcli",
    USAGE: "wrong usage or invalid input",
    NO_ROUTE: "no route between the tokens",
    4: "missing or invalid API key, or an invalid integrator option",
    5: "a node or a service failed, or had no real prices for a transaction",
    6: "a route, its state or a plan is too old, or the next part is not due yet",
    UNSAFE: "failed simulation or balance check, high price impact, or a dangerous payload",
    8: "not healthy",
    IO_ERROR: "input/output error, such as a full disk",
    75: "rate limited: try again later",
    INTERRUPTED: "interrupted",
}


def status_of(error: BaseException) -> int:
    """Return the exit status of an error. An error of an unknown class counts as internal."""
    return next((STATUS[base] for base in type(error).__mro__ if base in STATUS), INTERNAL)


def status_of_code(code: str) -> int:
    """Return the exit status of an error code in JSON. An unknown code counts as internal."""
    branches = list(STATUS)
    while branches:
        branch = branches.pop()
        if branch.code == code:
            return next(STATUS[base] for base in branch.__mro__ if base in STATUS)
        branches += branch.__subclasses__()
    return INTERNAL


def worst(statuses: Iterable[int]) -> int:
    """Return the exit status of a batch: the lowest nonzero one, so that internal errors come first."""
    return min((status for status in statuses if status), default=OK)
