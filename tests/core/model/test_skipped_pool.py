"""The reason of a skipped pool, and the errors that are not a pool's."""

from __future__ import annotations

import pytest

from swapcli.core.errors import Cancelled, InvalidUpstreamResponse, PoolError, Unreachable, UpstreamRejected
from swapcli.core.model.skipped_pool import fault_reason


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("math domain error"), "ValueError: math domain error"),
        (RecursionError(), "RecursionError"),
        (KeyError("x"), "KeyError: 'x'"),
        (ValueError("two\nlines \x1b[31m"), "ValueError: two lines [31m"),
        (ValueError("x" * 5_000), f"ValueError: {'x' * 200}"),
        (PoolError("the pool is drained"), "the pool is drained"),
        (InvalidUpstreamResponse("slot0(): returned 3 bytes"), "slot0(): returned 3 bytes"),
    ],
)
def test_the_reason_names_the_exception(error: Exception, reason: str) -> None:
    assert fault_reason(error) == reason


@pytest.mark.parametrize(
    "error", [Cancelled("gone"), MemoryError(), Unreachable("no connection"), UpstreamRejected("not allowed")]
)
def test_errors_of_the_node_or_the_request_are_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        fault_reason(error)
