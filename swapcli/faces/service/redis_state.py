"""State that services on several machines share on a Redis server: rate-limit buckets, quotas, open streams, the usage
of keys, and issued V1 routes.

| key | content |
|---|---|
| `swapcli:limit:{CLASS}:{DIGEST OF THE CLIENT}` | a bucket: its tokens, and their time on the server's clock |
| `swapcli:quota:{ID OF THE KEY}:{DAY OR MONTH}` | the used requests of the quota |
| `swapcli:streams:{DIGEST OF THE CLIENT}` | its open streams, each until its lease ends on the server's clock |
| `swapcli:usage:{DAY}` | `{ID}:requests`, `:rejections`, `:cpu_us` and `:last_s` of each key |
| `swapcli:usage-batch:{BATCH}` | that the batch was added; it is sent again if the response is lost |
| `swapcli:route:{DIGEST}` | when a route was issued, in Unix milliseconds |

While the server does not respond, callers use the state of their own process. A background task tries the server every
`RETRY_S`, so that no request waits for a server that is known to be down. A Redis key with an unexpected type of
content counts as absent.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from itertools import islice
from random import SystemRandom
from typing import TypeVar

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError
from swapcli.core.records import NamedTuple
from swapcli.faces.service.issued_routes import RouteTimes
from swapcli.faces.service.key_plans import DAY_S, QuotaUse
from swapcli.faces.service.key_usage import KEPT_DAYS, DayKey, UsageCounts
from swapcli.faces.service.rate_limits import LimitedClient, RateLimitState, RequestClass, limit_state
from swapcli.faces.service.shared_memory import digest_key
from swapcli.state.feed.redis_client import open_async_redis, open_redis, translate_redis_errors
from swapcli.state.tracing import span

T = TypeVar("T")

TIMEOUT_S = 0.25
"""Time limit for a response: a hundred times the usual time within a data centre. If the server hangs, requests are
delayed by this time."""
_ATTEMPTS = 8
"""Number of timeouts for which a thread waits for the event loop. Two attempts, including connecting, take less."""
RETRY_S = 1.0
"""The longest pause between two attempts. Each pause is random and at least half of it, because many services may try
at once."""
_RANDOM = SystemRandom()
"""A separate generator, because the state of the `random` module's functions belongs to the program that imports
swapcli."""
ROUTE_LIFE_S = 3_600
"""Routes are remembered for an hour, or for twice the time in which they are fresh. Routes posted later are checked by
replaying them."""

_MAX_BATCH = 256
"""Maximum number of requests in one run of the script, which takes about 2 microseconds per request and blocks the
server."""
STREAM_LEASE_S = 5.0
"""Time after which the streams of a killed process stop counting. A process renews its leases every `RETRY_S`."""
_BATCH_LIFE_S = 3_600

_QUOTA_USED_UP = 2

_PROBE = LimitedClient("probe", RequestClass.HEALTH, 1)
"""A test key whose bucket shows whether the server can do what requests need."""

_TAKE = """
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local results = {}
for index = 1, #KEYS / 2 do
  local bucket, counter = KEYS[2 * index - 1], KEYS[2 * index]
  local limit, period = tonumber(ARGV[4 * index - 3]), tonumber(ARGV[4 * index - 2])
  local quota, ends = tonumber(ARGV[4 * index - 1]), ARGV[4 * index]
  local tokens = limit
  local before, at = string.match(redis.call('MGET', bucket)[1] or '', '^([%d.e-]+) ([%d.e+]+)$')
  before, at = tonumber(before or ''), tonumber(at or '')
  if before and at then
    tokens = math.max(0, math.min(limit, before + math.max(0, now - at) * limit / period))
  end
  local allowed, used = 0, 0
  if tokens >= 1 then
    allowed = 1
    tokens = tokens - 1
    if quota > 0 then
      used = tonumber(string.match(redis.call('MGET', counter)[1] or '', '^%d+$') or '0')
      if used < quota then
        used = used + 1
        redis.call('SET', counter, string.format('%.0f', used), 'EXAT', ends)
      else
        allowed = 2
      end
    end
  end
  redis.call('SET', bucket, string.format('%.17g %.17g', tokens, now), 'PX', 1000 * period + 1000)
  results[3 * index - 2] = allowed
  results[3 * index - 1] = string.format('%.17g', tokens)
  results[3 * index] = string.format('%.0f', used)
end
return results
"""
"""Takes a token from each bucket, and then a request from the quota, in the same way as `RateLimiter.take`. For each
client, KEYS has its bucket and its counter. ARGV has its limit, the seconds of its period, and its quota with the time
when its counter ends, or 0 without a quota. The first result is 2 if only the quota is used up. MGET returns nothing
for a key of another type. A bucket that was not used for its period is full."""

_GIVE_BACK = """
if tonumber(string.match(redis.call('MGET', KEYS[1])[1] or '', '^%d+$') or '0') > 0 then
  redis.call('DECR', KEYS[1])
end
return 1
"""

_STREAMS = """
local time = redis.call('TIME')
local now = 1000 * tonumber(time[1]) + math.floor(tonumber(time[2]) / 1000)
local limit, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
for index, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key)['ok']
  if kind ~= 'zset' and kind ~= 'none' then
    redis.call('DEL', key)
  end
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if limit >= 0 and redis.call('ZCARD', key) >= limit then
    return 0
  end
  redis.call('ZADD', key, now + lease, ARGV[index + 2])
  redis.call('PEXPIRE', key, lease)
end
return 1
"""
"""Opens a stream for a client that is below the limit. With the limit -1, renews any number of streams."""

_ADD_USAGE = f"""
if redis.call('SET', KEYS[1], 1, 'NX', 'EX', {_BATCH_LIFE_S}) then
  for index = 2, #KEYS do
    local at = 5 * (index - 2) + 1
    local id = ARGV[at]
    redis.pcall('HINCRBY', KEYS[index], id .. ':requests', ARGV[at + 1])
    redis.pcall('HINCRBY', KEYS[index], id .. ':rejections', ARGV[at + 2])
    redis.pcall('HINCRBY', KEYS[index], id .. ':cpu_us', ARGV[at + 3])
    redis.pcall('HSET', KEYS[index], id .. ':last_s', ARGV[at + 4])
    redis.pcall('EXPIRE', KEYS[index], {KEPT_DAYS * DAY_S})
  end
end
return 1
"""


class StateFigures(NamedTuple):
    """Whether the server's last response succeeded, how many exchanges failed, and how many requests this process
    decided without it.

    Exchanges include those of the background task that tries the server.
    """

    is_connected: bool
    failures: int
    limit_fallbacks: int
    route_fallbacks: int


class StreamLease(NamedTuple):
    """An open stream: its client's key on the server, and the stream's name under that key."""

    key: str
    stream: str
    is_refused: bool = False


class _Waiting(NamedTuple):
    """A request waiting for its token."""

    client: LimitedClient
    result: asyncio.Future[RateLimitState | None]


class RedisState:
    """The shared state on `server`. `on_change` is called with the reason when the server fails, and when it works
    again.

    All exchanges run on the event loop of `connect`. Call the rate-limit methods on this loop, and the route-time
    methods from other threads, which wait for the loop. Raises `ConfigError` if the Redis package is not installed.
    """

    def __init__(
        self,
        server: RedisUrl,
        on_change: Callable[[UpstreamError | None], object],
        *,
        retry_s: float = RETRY_S,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._server, self._on_change, self._retry_s, self._timeout_s = server, on_change, retry_s, timeout_s
        self._client = open_async_redis(server, timeout_s)
        self._take_script = self._client.register_script(_TAKE)
        self._give_back_script = self._client.register_script(_GIVE_BACK)
        self._streams_script = self._client.register_script(_STREAMS)
        self._usage_script = self._client.register_script(_ADD_USAGE)
        self._leases: set[StreamLease] = set()
        self._tasks: set[asyncio.Task[object]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[_Waiting] = []
        self._sender: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._is_connected = True
        self._failures = self._limit_fallbacks = self._route_fallbacks = 0

    @property
    def figures(self) -> StateFigures:
        """The state of the server, and the counts of failures since the start of the process."""
        return StateFigures(self._is_connected, self._failures, self._limit_fallbacks, self._route_fallbacks)

    async def connect(self) -> None:
        """Try the server, so that a problem is reported at start-up, and keep trying until `close`."""
        self._loop = asyncio.get_running_loop()
        await self._try_server()
        self._watcher = self._loop.create_task(self._watch())

    async def close(self) -> None:
        """Close the connections."""
        self._loop = None
        for task in (self._watcher, self._sender):
            if task is not None:
                task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=self._timeout_s)
        await self._client.aclose()

    async def _watch(self) -> None:
        while self._loop is not None:  # a client may swallow a cancellation
            await asyncio.sleep(_RANDOM.uniform(0.5, 1.0) * self._retry_s)
            await self._try_server()
            for leases in _batched([*self._leases], _MAX_BATCH):
                await self._exchange(partial(self._lease_streams, leases, -1))

    async def _try_server(self) -> None:
        """Do the same as a request, on a different connection than waiting requests."""
        try:
            await self._run(lambda: self._take_tokens([_PROBE]))
        except UpstreamError as error:
            self._record_failure(error)
        except Exception as error:  # the task must survive defects of the client, too
            self._record_failure(
                InvalidUpstreamResponse(f"an internal error in the Redis client ({type(error).__name__})")
            )
        else:
            self._record_success()

    # --- rate limits

    async def take(self, client: LimitedClient) -> RateLimitState | None:
        """Take a token from a client's bucket, if it has one. Return None if the server does not respond.

        Requests that arrive during an exchange share the next one.
        """
        result: RateLimitState | None = None
        if self._is_connected:
            loop = asyncio.get_running_loop()
            waiting = _Waiting(client, loop.create_future())
            self._waiting.append(waiting)
            if self._sender is None:
                self._sender = loop.create_task(self._send_batches())
            with span("Redis"):
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
        keys: list[str] = []
        arguments: list[int] = []
        for each in clients:
            bucket = f"swapcli:limit:{each.request_class}:{digest_key(each.name).hex()}"
            quota = each.quota
            keys += [bucket, bucket if quota is None else _quota_key(quota)]
            arguments += [
                each.limit,
                each.period_s,
                quota.requests if quota else 0,
                quota.ends_s + DAY_S if quota else 0,
            ]
        results = await self._take_script(keys=keys, args=arguments)
        if not isinstance(results, list):
            raise TypeError
        return [
            limit_state(
                client,
                float(tokens),
                is_allowed=bool(is_allowed),
                is_quota_left=is_allowed != _QUOTA_USED_UP,
                quota_used=int(used),
            )
            for client, is_allowed, tokens, used in zip(
                clients, results[::3], results[1::3], results[2::3], strict=True
            )
        ]

    def give_back(self, quota: QuotaUse) -> None:
        """Return a request to a quota, in the background."""
        self._spawn(lambda: self._give_back_script(keys=[_quota_key(quota)]))

    # --- streams and usage of keys

    async def open_stream(self, client: str, limit: int) -> StreamLease | None:
        """Count one more open stream of a client, until `close_stream` is called. Return None if the server does not
        respond.

        A lease with `is_refused` is not counted, because the client already has `limit` streams.
        """
        lease = StreamLease(f"swapcli:streams:{digest_key(client).hex()}", secrets.token_hex(8))
        is_open = await self._exchange(partial(self._lease_streams, [lease], limit))
        if is_open is None:
            return None
        if not is_open:
            return lease._replace(is_refused=True)
        self._leases.add(lease)
        return lease

    def close_stream(self, lease: StreamLease) -> None:
        """Stop counting a stream, in the background."""
        self._leases.discard(lease)
        self._spawn(lambda: self._client.zrem(lease.key, lease.stream))

    async def _lease_streams(self, leases: Sequence[StreamLease], limit: int) -> bool:
        arguments: list[int | str] = [limit, int(STREAM_LEASE_S * 1000), *(each.stream for each in leases)]
        return bool(await self._streams_script(keys=[each.key for each in leases], args=arguments))

    async def add_usage(self, batch: str, counts: Mapping[DayKey, UsageCounts]) -> str | None:
        """Same as `UsageStorage.add_usage`."""
        # Quotas are separate counters; a continuing request has no time of last use yet.
        ended = ((day_key, each) for day_key, each in counts.items() if each.requests)
        for number, entries in enumerate(_batched(ended, _MAX_BATCH)):
            keys = [f"swapcli:usage-batch:{batch}:{number}", *(_usage_key(day) for (day, _), _ in entries)]
            values: list[int | str] = []
            for (_, key_id), each in entries:
                values += [key_id, each.requests, each.rejections, each.cpu_us, each.last_s]
            script = partial(self._usage_script, keys=keys, args=values)
            if await self._exchange(script) is None:
                return f"{self._server.shown} does not respond"
        return None

    def _spawn(self, command: Callable[[], Awaitable[object]]) -> None:
        task = asyncio.get_running_loop().create_task(self._exchange(command))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- issued routes

    def route_times(self, own: RouteTimes, life_s: int) -> RouteTimes:
        """Return the route times shared by all services, each kept for `life_s`. `own` has the route times of this
        process."""
        return _RedisRouteTimes(self, own, life_s)

    def set_route_time(self, digest: bytes, now_ms: int, life_s: int) -> None:
        """Record the time of a route, if the server responds."""
        self._run_on_loop(lambda: self._client.set(_route_key(digest), now_ms, ex=life_s))

    def find_route_time(self, digest: bytes) -> int | None:
        """Return the time of a route, or None if it is unknown or the server does not respond."""
        found = self._run_on_loop(lambda: self._client.mget(_route_key(digest)))  # see `_TAKE`
        try:
            return int(found[0]) if isinstance(found, list) else None
        except (IndexError, TypeError, ValueError):
            return None

    def _run_on_loop(self, command: Callable[[], Awaitable[object]]) -> object:
        """Return the result of a command from a different thread than the loop's; None if the server does not
        respond."""
        result: object = None
        loop = self._loop
        if loop is not None and self._is_connected:
            exchange = asyncio.run_coroutine_threadsafe(self._exchange(command), loop)
            with span("Redis"), suppress(TimeoutError, CancelledError):  # the loop is ending
                result = exchange.result(_ATTEMPTS * self._timeout_s)
            exchange.cancel()
        self._route_fallbacks += result is None
        return result

    # --- the server

    async def _exchange(self, command: Callable[[], Awaitable[T]]) -> T | None:
        """Return the result of a command; None if the server does not respond."""
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
    """Times on the server, and in the process in case the server does not respond."""

    def __init__(self, state: RedisState, own: RouteTimes, life_s: int) -> None:
        self._state, self._own, self._life_s = state, own, life_s

    def set(self, digest: bytes, now_ms: int) -> None:
        """Same as `RouteTimes.set`."""
        self._own.set(digest, now_ms)
        self._state.set_route_time(digest, now_ms, self._life_s)

    def get(self, digest: bytes) -> int | None:
        """Same as `RouteTimes.get`: the latest known time."""
        times = (self._own.get(digest), self._state.find_route_time(digest))
        return max((each for each in times if each is not None), default=None)


def _batched(values: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the values in lists; `itertools.batched` only exists since Python 3.12."""
    iterator = iter(values)
    while batch := list(islice(iterator, size)):
        yield batch


def _quota_key(quota: QuotaUse) -> str:
    return f"swapcli:quota:{quota.name}"


def _usage_key(day: int) -> str:
    return f"swapcli:usage:{day}"


def read_usage(server: RedisUrl, days: Iterable[int]) -> dict[DayKey, UsageCounts]:
    """Return the usage of keys on `days`. Raises `UpstreamError`, and `ConfigError` if the Redis package is not
    installed."""
    found: dict[DayKey, UsageCounts] = {}
    with translate_redis_errors(server), open_redis(server, _ATTEMPTS * TIMEOUT_S) as client:
        days = [*days]
        pipeline = client.pipeline(transaction=False)
        for day in days:
            pipeline.hgetall(_usage_key(day))
        for day, fields in zip(days, pipeline.execute(), strict=True):
            for name, value in fields.items():
                key_id, _, field = name.decode().partition(":")
                counts = found.get((day, key_id), UsageCounts())
                if field in UsageCounts._fields:
                    found[day, key_id] = counts._replace(**{field: int(value)})
    return found


def _route_key(digest: bytes) -> str:
    return f"swapcli:route:{digest.hex()}"
