"""The ways in which a node or its connection fails, and checks of the resulting errors."""

from __future__ import annotations

import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from random import Random
from typing import NamedTuple

from swapcli.core.errors import (
    ChainReorganized,
    InvalidUpstreamResponse,
    Unreachable,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
)
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain import proxy as failures
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.server import SECRET, SHOWN, Failure, Pauses, breaks_off, drips, hangs_up, says

TIMEOUT_S = 10.0
LATE_S = 0.6
HTML = b"<html><body>502 Bad Gateway</body></html>"
NOWHERE = "0x" + "77" * 20
"""An address without a contract."""
REPEATED = f"unknown key {SECRET} at http://user-{SECRET}:{SECRET}@h/v2/{SECRET} and /v2/{SECRET}?key={SECRET}"


class FailureMode(NamedTuple):
    """One way for a node to fail, with the errors that a read may end in (None: the read succeeds).

    `outcomes_if_permanent` apply while the failure lasts, `outcomes_if_temporary` if it ends before the last attempt.
    """

    name: str
    build: Callable[[Random], Failure]
    outcomes_if_permanent: tuple[type[UpstreamError] | None, ...]
    outcomes_if_temporary: tuple[type[UpstreamError] | None, ...] = (None,)
    timeout_s: float = TIMEOUT_S


def always(failure: Failure) -> Callable[[Random], Failure]:
    return lambda _: failure


def refusing(share: float, code: int, message: str) -> Callable[[Random], Failure]:
    return lambda rng: failures.refuses_some(rng, share, code, message)


MODES = (
    FailureMode("passes on", always(failures.passes_on), (None,)),
    FailureMode("hangs up", always(hangs_up), (Unreachable,)),
    FailureMode("breaks off at once", always(breaks_off), (InvalidUpstreamResponse,)),
    FailureMode("breaks off midway", always(failures.breaks_off_midway), (InvalidUpstreamResponse,)),
    FailureMode("cuts the body off", always(failures.cuts_off), (InvalidUpstreamResponse,)),
    FailureMode("answers too late", always(failures.late(3 * LATE_S)), (UpstreamTimeout,), timeout_s=LATE_S),
    FailureMode("drips", always(drips), (UpstreamTimeout,), timeout_s=LATE_S),
    FailureMode("too many requests", always(says(429)), (UpstreamRejected,)),
    FailureMode("too many requests, come later", always(says(429, Retry_After="2")), (UpstreamRejected,)),
    FailureMode("status 500", always(says(500, REPEATED.encode())), (UpstreamRejected,)),
    FailureMode("status 502", always(says(502, HTML)), (UpstreamRejected,)),
    FailureMode("status 503", always(says(503, b"", Retry_After="soon")), (UpstreamRejected,)),
    FailureMode("status 403", always(says(403, REPEATED.encode())), (UpstreamRejected,), (None, UpstreamRejected)),
    FailureMode("HTML", always(says(200, HTML)), (InvalidUpstreamResponse,)),
    FailureMode("an empty batch", always(says(200, b"[]")), (InvalidUpstreamResponse,)),
    FailureMode("nothing", always(says(200, b"")), (InvalidUpstreamResponse,)),
    FailureMode("refuses all for now", refusing(1.0, -32_005, "project rate limit exceeded"), (UpstreamRejected,)),
    FailureMode("refuses some for now", refusing(0.3, -32_603, "Internal error"), (None, UpstreamRejected)),
    FailureMode("refuses for good", refusing(1.0, -32_000, REPEATED), (UpstreamRejected,), (None, UpstreamRejected)),
    FailureMode(
        "refuses some for good", refusing(0.1, -32_000, "no"), (None, UpstreamRejected), (None, UpstreamRejected)
    ),
    FailureMode(
        "some are null", lambda rng: failures.nulls_some(rng, 0.3), (None, InvalidUpstreamResponse, ChainReorganized)
    ),
    FailureMode("all are null", lambda rng: failures.nulls_some(rng, 1.0), (InvalidUpstreamResponse,)),
    FailureMode("leaves some out", lambda rng: failures.drops_some(rng, 0.3), (None, InvalidUpstreamResponse)),
    FailureMode("in any order", failures.reorders, (None,)),
    FailureMode("twice", failures.duplicates, (None,)),
    FailureMode(
        "another chain", always(failures.moves_to(1)), (InvalidUpstreamResponse,), (None, InvalidUpstreamResponse)
    ),
    FailureMode("no events", always(failures.without("eth_getLogs")), (UpstreamRejected,), (None, UpstreamRejected)),
    FailureMode("events of few blocks", always(failures.limits_logs(30)), (None,)),
    FailureMode("some blocks behind", always(failures.stale(2)), (None,)),
    FailureMode("sometimes behind", always(failures.every(2, failures.stale(2))), (None,)),
    FailureMode("another time behind", always(failures.every(3, failures.stale(1))), (None,)),
)
FAST_MODES = tuple(mode for mode in MODES if mode.timeout_s == TIMEOUT_S)
"""Modes without a delay."""


@contextmanager
def connect_without_pauses(url: str, timeout_s: float = TIMEOUT_S) -> Iterator[RpcNode]:
    """Connect to the test chain's node at `url`; retries do not sleep."""
    with closing(RpcNode([RpcEndpoint(url, SHOWN)], CHAIN_ID, NodePolicy(timeout_s=timeout_s, pause=Pauses()))) as node:
        yield node


def check_error(error: UpstreamError) -> type[UpstreamError]:
    """Return the public error class; check that the message is one sentence, names the node and shows no secret."""
    assert SHOWN in error.message
    assert error.message.isprintable()
    assert len(error.message) < 220
    assert not set("<>{}\n") & set(error.message)
    assert "Error" not in error.message
    trace = "".join(traceback.format_exception(error))
    for text in (error.message, error.hint or "", str(error.details), repr(error), str(error.args), trace):
        check_secrets_hidden(text)
    return next(kind for kind in type(error).__mro__ if kind.__module__ == UpstreamError.__module__)


def check_secrets_hidden(text: str) -> None:
    """Check that the text has no secret in it."""
    assert SECRET not in text
    assert b64encode(SECRET.encode()).decode().rstrip("=") not in text
