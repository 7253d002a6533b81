"""The reasons why the service rejects a request or a connection: its limits, each with its own count in the metrics."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TypeVar

from swapcli.core.errors import SwapcliError

E = TypeVar("E", bound=SwapcliError)


class RefusalReason(StrEnum):
    """A limit of the service. The value is the label "reason" in the metric swapcli_refusals_total."""

    CONNECTIONS = "connections"
    """All connections are busy. Status 503, or a reset connection beyond a few such responses."""
    METRICS_CONNECTIONS = "metrics_connections"
    """All connections to the metrics port are busy. Same handling as `CONNECTIONS`."""
    IDLE_EVICTED = "idle_evicted"
    """An idle connection was closed to make room for a new one."""
    HEAD_EVICTED = "head_evicted"
    """A connection with an unfinished head made room for a new one. Status 503."""
    BODY_EVICTED = "body_evicted"
    """A connection with an unfinished body made room for a new one. Status 503."""
    HEAD_SIZE = "head_size"
    """The head is too large. Status 431."""
    HEAD_SYNTAX = "head_syntax"
    """The request is not HTTP, or does not have exactly one Host header. Status 400."""
    HEAD_TIMEOUT = "head_timeout"
    """The head did not arrive in time. Status 408. Connections on which no head has begun are just closed."""
    BODY_SIZE = "body_size"
    """The body is too large. Status 413."""
    BODY_TIMEOUT = "body_timeout"
    """The body did not arrive in time. Status 408."""
    RESPONSE_UNREAD = "response_unread"
    """The client is not reading its responses. The connection is reset."""
    API_KEY = "api_key"
    """The API key is unknown or revoked. Status 401."""
    KEY_MISSING = "key_missing"
    """The service requires a key, and the request has none. Status 401."""
    KEY_EXPIRED = "key_expired"
    """The plan of the key has ended. Status 401."""
    KEY_NETWORK = "key_network"
    """The key's plan does not contain the network. Status 403."""
    REQUEST_RATE = "request_rate"
    """The client has sent too many requests in the period. Status 429."""
    QUOTA = "quota"
    """The key has used up its quota for the day or month. Status 429."""
    CLIENT_STREAMS = "client_streams"
    """A client has too many open streams. Status 429."""
    STREAMS = "streams"
    """All clients together have too many open streams. Status 503."""
    QUEUE = "queue"
    """The queue has no room for the client, or another client has taken the order's place. Status 503."""
    EXPECTED_WAIT = "expected_wait"
    """The order is not expected to start in time. Status 503."""
    WAIT = "wait"
    """The order did not start in time. Status 503."""
    INTERRUPTED = "interrupted"
    """The order was interrupted by an order whose search is stuck. Status 503."""
    STOPPING = "stopping"
    """The service accepts no further requests. Status 503."""


OnRefusal = Callable[[RefusalReason], object]
"""Called on the event loop once for each refused connection. For rejected requests, `refused` adds the reason to the
error."""


def ignore_refusal(_reason: RefusalReason) -> None:
    """Ignore a refusal. This is the default for a server that does not count refusals."""


def refused(reason: RefusalReason, error: E) -> E:
    """Return `error` with the reason for rejecting a request. The reason is counted and logged when the request
    ends."""
    error.details["refusal"] = reason
    return error


def refusal_of(error: SwapcliError) -> RefusalReason | None:
    """Return the reason that `refused` added to an error, or None for any other error."""
    reason = error.details.get("refusal")
    return reason if isinstance(reason, RefusalReason) else None
