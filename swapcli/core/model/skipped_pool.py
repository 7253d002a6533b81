"""Pools skipped because their code fails: a fault in one pool affects only that pool.

Anyone can create a pool, and a family or a reader can have a defect. So an exception in the code of one pool skips that
pool, and the pool and the reason are shown. Errors of the node or of the whole request do not skip pools.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.encoding.text import single_line
from swapcli.core.errors import Cancelled, InvalidUpstreamResponse, SwapcliError, UncomputableSwap, UpstreamError
from swapcli.core.records import NamedTuple

_MAX_REASON: Final = 200
"""The number of characters shown of an exception's message, which may contain data from a contract."""


class SkippedPool(NamedTuple):
    """A skipped pool: its key, the `amm_name` of its protocol, and the exception that its code raised."""

    key: str
    protocol: str
    reason: str


def pass_request_errors(error: Exception) -> None:
    """Raise the error unless it concerns only one pool. A failed node, a disconnected client or full memory concerns
    more."""
    is_of_node = isinstance(error, UpstreamError) and not isinstance(error, InvalidUpstreamResponse)
    if is_of_node or isinstance(error, (Cancelled, MemoryError)):
        raise error


def fault_reason(error: Exception) -> str:
    """Return the reason for skipping a pool after an exception in its code, such as "ValueError: math domain error".

    Raises the error unless it concerns only one pool.
    """
    pass_request_errors(error)
    if isinstance(error, UncomputableSwap):
        return str(error.details["reason"])
    if isinstance(error, SwapcliError):
        return error.message
    message = single_line(str(error)[:_MAX_REASON])
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
