"""State that services on several machines share on a Redis server: the buckets of rate limits, and issued V1 routes.

| key | content |
|---|---|
| `swapcli:limit:{CLASS}:{DIGEST OF THE CLIENT}` | a bucket: its tokens, and their time on the server's clock |
| `swapcli:route:{DIGEST}` | when a route was issued, in Unix milliseconds |

While the server does not answer, callers use the state of their own process. A background task tries it
every `RETRY_S`, so that no request waits for a server that is known to be away. A key with content of another kind
counts as absent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from random import uniform
from typing import TypeVar

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError
from swapcli.core.records import NamedTuple
from swapcli.faces.service.issued_routes import RouteTimes
from swapcli.faces.service.rate_limits import LimitedClient, RateLimitState, RequestClass, limit_state
from swapcli.faces.service.shared_memory import digest_key
from swapcli.state.feed.redis_client import open_async_redis, translate_redis_errors

T = TypeVar("T")

TIMEOUT_S = 0.25
"""Time for an answer, a hundred times what one takes within a data centre. It delays requests when the server hangs."""
_MAX_WAIT_S = 8 * TIMEOUT_S
"""Time after which a thread no longer waits for the event loop: two attempts that connect take less."""
RETRY_S = 1.0
"""The longest pause between two attempts; each is random from half of it on, as many services may try at once."""
ROUTE_LIFE_S = 3_600
"""Routes are known for an hour, or for twice the time in which they are fresh: later posts are checked by a replay."""

_MAX_BATCH = 256
"""Requests in one run of the script, which takes about 2 microseconds for each and blocks the server."""
_BUCKET_LIFE_MS = 61_000
"""A bucket that was not used for a minute is full."""

_PROBE = LimitedClient("probe", RequestClass.HEALTH, 1)
"""Its bucket shows whether the server does for a request what it has to do."""

_TAKE = f"""
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local results = {{}}
for index, key in ipairs(KEYS) do
  local limit = tonumber(ARGV[index])
  local tokens = limit
  local before, at = string.match(redis.call('MGET', key)[1] or '', '^([%d.e-]+) ([%d.e+]+)$')
  before, at = tonumber(before or ''), tonumber(at or '')
  if before and at then
    tokens = math.max(0, math.min(limit, before + math.max(0, now - at) * limit / 60))
  end
  local allowed = 0
  if tokens >= 1 then
    allowed = 1
    tokens = tokens - 1
  end
  redis.call('SET', key, string.format('%.17g %.17g', tokens, now), 'PX', {_BUCKET_LIFE_MS})
  results[2 * index - 1] = allowed
  results[2 * index] = string.format('%.17g', tokens)
end
return results
"""
"""Takes a token from each bucket, as `RateLimiter.take` does. KEYS are the buckets, ARGV their limits a minute. MGET
returns nothing for a key of another type."""


class StateFigures(NamedTuple):
    """Whether the server answered last, how many exchanges failed, and for how many requests the process decided.

    Exchanges include those of the task that tries the server.
    """

    is_connected: bool
    failures: int
    limit_fallbacks: int
    route_fallbacks: int


class _Waiting(NamedTuple):
    """A request that waits for its token."""

    client: LimitedClient
    result: asyncio.Future[RateLimitState | None]


class RedisState:
    """The shared state on `server`. `on_change` is called when it fails, with the reason, and when it works again.

    All exchanges run on the event loop of `connect`. Rate limits are for this loop; route times are for other threads,
    which wait for it. Raises `ConfigError` without the package.
    """

    def __init__(
        self, server: RedisUrl, on_change: Callable[[UpstreamError | None], object], *, retry_s: float = RETRY_S
    ) -> None:
        self._server, self._on_change, self._retry_s = server, on_change, retry_s
        self._client = open_async_redis(server, TIMEOUT_S)
        self._take_script = self._client.register_script(_TAKE)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[_Waiting] = []
        self._sender: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._is_connected = True
        self._failures = self._limit_fallbacks = self._route_fallbacks = 0

    @property
    def figures(self) -> StateFigures:
        """What has happened since the start of the process."""
        return StateFigures(self._is_connected, self._failures, self._limit_fallbacks, self._route_fallbacks)

    async def connect(self) -> None:
        """Try the server, so that a problem shows at the start, and from now on until `close`."""
        self._loop = asyncio.get_running_loop()
        await self._try_server()
        self._watcher = self._loop.create_task(self._watch())

    async def close(self) -> None:
        """Close the connections."""
        self._loop = None
        for task in (self._watcher, self._sender):
            if task is not None:
                task.cancel()
        await self._client.aclose()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(uniform(0.5, 1.0) * self._retry_s)
            await self._try_server()

    async def _try_server(self) -> None:
        """Do what a request does, on another connection than a request that waits."""
        try:
            await self._run(lambda: self._take_tokens([_PROBE]))
        except UpstreamError as error:
            self._record_failure(error)
        except Exception as error:  # the task must survive defects of the client, too
            self._record_failure(InvalidUpstreamResponse(f"a defect in the client of Redis ({type(error).__name__})"))
        else:
            self._record_success()

    # --- rate limits

    async def take(self, client: LimitedClient) -> RateLimitState | None:
        """Take a token from the bucket of a client, if it has one; None if the server does not answer.

        Requests that arrive during an exchange share the next one.
        """
        result: RateLimitState | None = None
        if self._is_connected:
            loop = asyncio.get_running_loop()
            waiting = _Waiting(client, loop.create_future())
            self._waiting.append(waiting)
            if self._sender is None:
                self._sender = loop.create_task(self._send_batches())
            result = await waiting.result
        self._limit_fallbacks += result is None
        return result

    async def _send_batches(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:_MAX_BATCH], self._waiting[_MAX_BATCH:]
                waiting = [each for each in batch if not each.result.done()]  # some clients may have disconnected
                try:
                    states = await self._take_batch([each.client for each in waiting])
                except Exception as error:  # a defect must not leave requests waiting
                    for each in waiting:
                        if not each.result.done():
                            each.result.set_exception(error)
                    continue
                for each, state in zip(waiting, states, strict=True):
                    if not each.result.done():
                        each.result.set_result(state)
        finally:
            self._sender = None

    async def _take_batch(self, clients: Sequence[LimitedClient]) -> Sequence[RateLimitState | None]:
        states = await self._exchange(lambda: self._take_tokens(clients))
        return [None] * len(clients) if states is None else states

    async def _take_tokens(self, clients: Sequence[LimitedClient]) -> list[RateLimitState]:
        keys = [f"swapcli:limit:{each.request_class}:{digest_key(each.name).hex()}" for each in clients]
        results = await self._take_script(keys=keys, args=[each.limit for each in clients])
        if not isinstance(results, list):
            raise TypeError
        return [
            limit_state(client, float(tokens), is_allowed=bool(is_allowed))
            for client, is_allowed, tokens in zip(clients, results[::2], results[1::2], strict=True)
        ]

    # --- issued routes

    def route_times(self, own: RouteTimes, life_s: int) -> RouteTimes:
        """Return times of routes that are known to all services for `life_s`; `own` has those of this process."""
        return _RedisRouteTimes(self, own, life_s)

    def set_route_time(self, digest: bytes, now_ms: int, life_s: int) -> None:
        """Record the time of a route, if the server answers."""
        self._run_on_loop(lambda: self._client.set(_route_key(digest), now_ms, ex=life_s))

    def find_route_time(self, digest: bytes) -> int | None:
        """Return the time of a route; None if it is unknown, or if the server does not answer."""
        found = self._run_on_loop(lambda: self._client.mget(_route_key(digest)))  # see `_TAKE`
        try:
            return int(found[0]) if isinstance(found, list) else None
        except (IndexError, TypeError, ValueError):
            return None

    def _run_on_loop(self, command: Callable[[], Awaitable[object]]) -> object:
        """Return the result of a command from another thread than the loop's; None if the server does not answer."""
        result: object = None
        loop = self._loop
        if loop is not None and self._is_connected:
            exchange = asyncio.run_coroutine_threadsafe(self._exchange(command), loop)
            with suppress(TimeoutError, CancelledError):  # the loop ends
                result = exchange.result(_MAX_WAIT_S)
            exchange.cancel()
        self._route_fallbacks += result is None
        return result

    # --- the server

    async def _exchange(self, command: Callable[[], Awaitable[T]]) -> T | None:
        """Return the result of a command; None if the server does not answer."""
        if self._is_connected:
            try:
                try:
                    result = await self._run(command)
                except Unreachable:  # the server may have closed an idle connection
                    result = await self._run(command)
            except UpstreamError as error:
                self._record_failure(error)
            else:
                self._record_success()
                return result
        return None

    async def _run(self, command: Callable[[], Awaitable[T]]) -> T:
        with translate_redis_errors(self._server):
            return await command()

    def _record_failure(self, error: UpstreamError) -> None:
        self._failures += 1
        if self._is_connected:
            self._is_connected = False
            self._on_change(error)

    def _record_success(self) -> None:
        if not self._is_connected:
            self._is_connected = True
            self._on_change(None)


class _RedisRouteTimes:
    """Times on the server, and in the process for when the server does not answer."""

    def __init__(self, state: RedisState, own: RouteTimes, life_s: int) -> None:
        self._state, self._own, self._life_s = state, own, life_s

    def set(self, digest: bytes, now_ms: int) -> None:
        """As `RouteTimes.set`."""
        self._own.set(digest, now_ms)
        self._state.set_route_time(digest, now_ms, self._life_s)

    def get(self, digest: bytes) -> int | None:
        """As `RouteTimes.get`: the latest time that is known."""
        times = (self._own.get(digest), self._state.find_route_time(digest))
        return max((each for each in times if each is not None), default=None)


def _route_key(digest: bytes) -> str:
    return f"swapcli:route:{digest.hex()}"
