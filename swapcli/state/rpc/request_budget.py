"""Limit the HTTP requests for the reads of one block, over all nodes. Includes connections that keep to the limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Final

from swapcli.core.errors import RequestBudgetSpent, UpstreamTimeout
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.rpc_connection import RpcResponse

UNLIMITED: Final = 1_000_000  # more than a run sends


class RequestBudget:
    """A limit of `max_requests` requests in `window_s` seconds. Any thread may use it.

    Retries and hedged requests count like all others, so a node that rejects requests is not queried repeatedly.
    """

    def __init__(
        self, max_requests: int = UNLIMITED, window_s: float = 0.0, monotonic_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_requests, self._window_s, self._monotonic_s = max_requests, window_s, monotonic_s
        self._lock = Lock()
        self._sent = 0
        self._started_s: float | None = None

    @property
    def sent(self) -> int:
        """The number of requests since the last `start`."""
        return self._sent

    @property
    def left(self) -> int:
        """The number of requests that may still be sent."""
        return max(self._max_requests - self._sent, 0)

    def start(self, pause: Callable[[float], object] = time.sleep) -> None:
        """Begin the reads of a new block, with all requests allowed again. Within the window, the old count continues.

        If too few requests are left within the window, `pause` is first called with the remaining seconds.
        """
        now_s = self._monotonic_s()
        if self._started_s is not None and now_s - self._started_s < self._window_s:
            if 2 * self.left >= self._max_requests:
                return
            pause(self._window_s - (now_s - self._started_s))
        self._started_s, self._sent = self._monotonic_s(), 0

    def allow(self, max_requests: int) -> None:
        """Allow `max_requests` requests from now on, regardless of earlier ones."""
        self._max_requests, self._sent, self._started_s = max_requests, 0, self._monotonic_s()

    def spend(self, redacted_url: str) -> None:
        """Count one request. Raises `RequestBudgetSpent` if no requests are left."""
        with self._lock:
            if self._sent >= self._max_requests:
                raise RequestBudgetSpent(
                    f"this quote has used its {self._max_requests} requests to public nodes such as {redacted_url}",
                    hint="try again in a moment, or set your own node with --rpc-url",
                    details={"requests": self._max_requests},
                )
            self._sent += 1


class BudgetedConnection:
    """An `RpcConnection` whose requests count towards `budget`.

    `abandon` may be called from any thread. It ends the exchange in progress, and every later exchange fails.
    """

    def __init__(self, inner: HttpConnection, budget: RequestBudget) -> None:
        self._inner, self._budget = inner, budget
        self._is_abandoned = False

    @property
    def redacted_url(self) -> str:
        """Same as `RpcConnection.redacted_url`."""
        return self._inner.redacted_url

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Same as `RpcConnection.exchange`. Raises `RequestBudgetSpent`."""
        self._check_in_use()
        self._budget.spend(self.redacted_url)
        response = self._inner.exchange(body, timeout_s)
        if self._is_abandoned:
            self._inner.close()
        self._check_in_use()
        return response

    def redact(self, words: str) -> str:
        """Same as `RpcConnection.redact`."""
        return self._inner.redact(words)

    def abandon(self) -> None:
        """End the exchange in progress, if there is one."""
        self._is_abandoned = True
        self._inner.abort()

    def close(self) -> None:
        """Same as `RpcConnection.close`."""
        self._inner.close()

    def _check_in_use(self) -> None:
        if self._is_abandoned:
            raise UpstreamTimeout(f"a different node responded before {self.redacted_url}")


class RenewableConnection:
    """An `RpcConnection` that forwards to the connection `current`, which `renew` replaces. `connect` opens a new
    connection."""

    def __init__(self, connect: Callable[[], BudgetedConnection]) -> None:
        self._connect = connect
        self.current = connect()

    @property
    def redacted_url(self) -> str:
        """Same as `RpcConnection.redacted_url`."""
        return self.current.redacted_url

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        """Same as `RpcConnection.exchange`. Raises `RequestBudgetSpent`."""
        return self.current.exchange(body, timeout_s)

    def redact(self, words: str) -> str:
        """Same as `RpcConnection.redact`."""
        return self.current.redact(words)

    def renew(self) -> None:
        """Abandon the current connection. The next exchange opens another."""
        abandoned, self.current = self.current, self._connect()
        abandoned.abandon()

    def close(self) -> None:
        """Same as `RpcConnection.close`."""
        self.current.close()
