"""The ways in which a node, or what is between us and it, fails; and what may be said of them."""

from __future__ import annotations

import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from random import Random
from typing import NamedTuple

from swapcli.chain.rpc_node import RpcNode
from swapcli.errors import (
    ChainReorganized,
    InvalidUpstreamResponse,
    Unreachable,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
)
from tests.chain import proxy as faults
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.server import SECRET, SHOWN, Fault, Pauses, breaks_off, drips, hangs_up, says

TIMEOUT_S = 10.0
LATE_S = 0.6
HTML = b"<html><body>502 Bad Gateway</body></html>"
NOWHERE = "0x" + "77" * 20
"""Where no contract is."""
REPEATED = f"unknown key {SECRET} at http://user-{SECRET}:{SECRET}@h/v2/{SECRET} and /v2/{SECRET}?key={SECRET}"


class Mode(NamedTuple):
    """A way to fail. `lasting` are the ends that reading may come to while it lasts, None being that all is read.

    `passing` are those where it passes before the last attempt is made.
    """

    name: str
    fault: Callable[[Random], Fault]
    lasting: tuple[type[UpstreamError] | None, ...]
    passing: tuple[type[UpstreamError] | None, ...] = (None,)
    timeout_s: float = TIMEOUT_S


def always(fault: Fault) -> Callable[[Random], Fault]:
    return lambda _: fault


def refusing(share: float, code: int, message: str) -> Callable[[Random], Fault]:
    return lambda rng: faults.refuses_some(rng, share, code, message)


MODES = (
    Mode("passes on", always(faults.passes_on), (None,)),
    Mode("hangs up", always(hangs_up), (Unreachable,)),
    Mode("breaks off at once", always(breaks_off), (InvalidUpstreamResponse,)),
    Mode("breaks off midway", always(faults.breaks_off_midway), (InvalidUpstreamResponse,)),
    Mode("cuts the body off", always(faults.cuts_off), (InvalidUpstreamResponse,)),
    Mode("answers too late", always(faults.late(3 * LATE_S)), (UpstreamTimeout,), timeout_s=LATE_S),
    Mode("drips", always(drips), (UpstreamTimeout,), timeout_s=LATE_S),
    Mode("too many requests", always(says(429)), (UpstreamRejected,)),
    Mode("too many requests, come later", always(says(429, Retry_After="2")), (UpstreamRejected,)),
    Mode("status 500", always(says(500, REPEATED.encode())), (UpstreamRejected,)),
    Mode("status 502", always(says(502, HTML)), (UpstreamRejected,)),
    Mode("status 503", always(says(503, b"", Retry_After="soon")), (UpstreamRejected,)),
    Mode("status 403", always(says(403, REPEATED.encode())), (UpstreamRejected,), (None, UpstreamRejected)),
    Mode("HTML", always(says(200, HTML)), (InvalidUpstreamResponse,)),
    Mode("an empty batch", always(says(200, b"[]")), (InvalidUpstreamResponse,)),
    Mode("nothing", always(says(200, b"")), (InvalidUpstreamResponse,)),
    Mode("refuses all for now", refusing(1.0, -32_005, "project rate limit exceeded"), (UpstreamRejected,)),
    Mode("refuses some for now", refusing(0.3, -32_603, "Internal error"), (None, UpstreamRejected)),
    Mode("refuses for good", refusing(1.0, -32_000, REPEATED), (UpstreamRejected,), (None, UpstreamRejected)),
    Mode("refuses some for good", refusing(0.1, -32_000, "no"), (None, UpstreamRejected), (None, UpstreamRejected)),
    Mode("some are null", lambda rng: faults.nulls_some(rng, 0.3), (None, InvalidUpstreamResponse, ChainReorganized)),
    Mode("all are null", lambda rng: faults.nulls_some(rng, 1.0), (InvalidUpstreamResponse,)),
    Mode("leaves some out", lambda rng: faults.drops_some(rng, 0.3), (None, InvalidUpstreamResponse)),
    Mode("in any order", faults.reorders, (None,)),
    Mode("twice", faults.duplicates, (None,)),
    Mode("another chain", always(faults.moves_to(1)), (InvalidUpstreamResponse,), (None, InvalidUpstreamResponse)),
    Mode("no events", always(faults.without("eth_getLogs")), (UpstreamRejected,)),
    Mode("events of few blocks", always(faults.limits_logs(30)), (None,)),
    Mode("some blocks behind", always(faults.stale(2)), (None,)),
    Mode("sometimes behind", always(faults.every(2, faults.stale(2))), (None,)),
    Mode("another time behind", always(faults.every(3, faults.stale(1))), (None,)),
)
MIXED = tuple(mode for mode in MODES if mode.timeout_s == TIMEOUT_S)
"""Those that take no time."""


@contextmanager
def asking(url: str, timeout_s: float = TIMEOUT_S) -> Iterator[RpcNode]:
    """The test chain's node at `url`, without real pauses."""
    with closing(RpcNode(url, shown=SHOWN, chain_id=CHAIN_ID, timeout_s=timeout_s, pause=Pauses())) as node:
        yield node


def checked(error: UpstreamError) -> type[UpstreamError]:
    """Its kind, of those that everybody may see.

    It is said in one plain sentence that names the node, and nowhere shows anything that nobody may see.
    """
    assert SHOWN in error.message
    assert error.message.isprintable()
    assert len(error.message) < 220
    assert not set("<>{}\n") & set(error.message)
    assert "Error" not in error.message
    told = "".join(traceback.format_exception(error))
    for text in (error.message, error.hint or "", str(error.details), repr(error), str(error.args), told):
        check_shown(text)
    return next(kind for kind in type(error).__mro__ if kind.__module__ == UpstreamError.__module__)


def check_shown(text: str) -> None:
    """Nothing in it that nobody may see."""
    assert SECRET not in text
    assert b64encode(SECRET.encode()).decode().rstrip("=") not in text
