"""A network's feed on a Redis server: a stream of entries, the newest snapshot, and the lease of the current writer.

| key `swapcli:feed:{NETWORK}:` | content |
|---|---|
| `blocks` | a stream with one entry for each published block; its field `data` is an entry of `swap-feed/1` |
| `snapshot` | a hash: `data` is a snapshot, `id` the entry of the stream after which it was made, `written` when |
| `state` | a hash: `writer` and `token` of who may write, `listener` if it subscribes as below; `last`, `block` and |
|         | `hash`: the id of the newest entry, the number of its block, and the hash of the market after it; |
|         | `block_hash`: the hash of its block, empty if it is unknown |
| `lease` | the writer, as long as it has shown that it lives |
| `request` | exists while a reader misses an entry, and waits for a new snapshot |

Each writer has a random name. A writer that takes the lease gets the next token, and every script that
writes compares both. So a writer that was replaced cannot write any more, however late its command arrives. Scripts are
atomic.

A writer subscribes to the channel `writer:{NAME}`, to which nothing is ever published. When its process ends, however
it does, its connection closes, and the server sees that the channel has no subscriber any more: another writer then
takes over without waiting for the end of the lease. The lease ends for one whose machine has vanished or that was
paused, and for users that may not subscribe.
"""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from secrets import token_hex
from typing import TYPE_CHECKING, Final, cast

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import InvalidUpstreamResponse, Unreachable, UpstreamError, UpstreamRejected
from swapcli.core.records import NamedTuple
from swapcli.state.feed.redis_client import open_redis, translate_redis_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swapcli.state.feed.redis_client import PubSub, Redis

LEASE_S: Final = 15.0
"""Time after which another writer replaces one that has stopped but still has a connection."""
MAX_ENTRIES: Final = 20_000
"""Entries that the stream keeps if no snapshot trims it."""
START: Final = "0-0"
_REQUEST_S: Final = 60
"""Time after which a request for a snapshot expires: its reader repeats it."""

_IS_WRITER = """
local function is_writer(state, name, token)
  local known = redis.call('HMGET', state, 'writer', 'token')
  return known[1] == name and known[2] == token
end
"""
_ACQUIRE = """
local holder = redis.call('GET', KEYS[2])
if holder and holder ~= ARGV[1] then
  if redis.call('HGET', KEYS[1], 'listener') ~= holder then return {'STANDBY'} end
  local subscribers = redis.pcall('PUBSUB', 'NUMSUB', ARGV[5] .. holder)
  if subscribers[2] ~= 0 then return {'STANDBY'} end
end
local newest = redis.call('HMGET', KEYS[1], 'block', 'last', 'hash', 'block_hash')
local block = tonumber(newest[1] or '')
if block and block > tonumber(ARGV[3]) then return {'BEHIND'} end
local token = (tonumber(redis.call('HGET', KEYS[1], 'token') or '') or 0) % 2^52 + 1
token = string.format('%.0f', token)
redis.call('HSET', KEYS[1], 'writer', ARGV[1], 'token', token, 'listener', ARGV[4])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
local written, time = tonumber(redis.call('HGET', KEYS[4], 'written') or ''), redis.call('TIME')
local age = written and string.format('%.3f', time[1] + time[2] / 1000000 - written) or ''
return {'OK', token, newest[2] or '', newest[3] or '', newest[1] or '', newest[4] or '', age}
"""
_RENEW = f"""{_IS_WRITER}
if not is_writer(KEYS[1], ARGV[1], ARGV[2]) then return {{'REPLACED'}} end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
local subscribers = redis.pcall('PUBSUB', 'NUMSUB', ARGV[4] .. ARGV[1])
return {{'OK', tostring(redis.call('EXISTS', KEYS[5])), tostring(subscribers[2] or 0)}}
"""
_RELEASE = f"""{_IS_WRITER}
if not is_writer(KEYS[1], ARGV[1], ARGV[2]) then return {{'REPLACED'}} end
redis.call('DEL', KEYS[2])
return {{'OK'}}
"""
_APPEND = f"""{_IS_WRITER}
if not is_writer(KEYS[1], ARGV[1], ARGV[2]) then return {{'REPLACED'}} end
if redis.call('HGET', KEYS[1], 'last') ~= ARGV[4] then return {{'LOST'}} end
local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[8], '*', 'data', ARGV[7])
redis.call('HSET', KEYS[1], 'last', id, 'block', ARGV[5], 'hash', ARGV[6], 'block_hash', ARGV[9])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
return {{'OK', tostring(redis.call('EXISTS', KEYS[5])), id}}
"""
_BEGIN = f"""{_IS_WRITER}
if not is_writer(KEYS[1], ARGV[1], ARGV[2]) then return {{'REPLACED'}} end
redis.call('DEL', KEYS[5])
local before = redis.call('HGET', KEYS[4], 'id')
local id = redis.call('XADD', KEYS[3], 'MAXLEN', '~', ARGV[7], '*', 'data', ARGV[6])
local time = redis.call('TIME')
redis.call('HSET', KEYS[4], 'id', id, 'data', ARGV[8], 'written', time[1] .. '.' .. time[2])
redis.call('HSET', KEYS[1], 'last', id, 'block', ARGV[4], 'hash', ARGV[5], 'block_hash', ARGV[9])
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[3])
if before then redis.call('XTRIM', KEYS[3], 'MINID', before) end
return {{'OK', '0', id}}
"""
_SNAPSHOT = f"""{_IS_WRITER}
if not is_writer(KEYS[1], ARGV[1], ARGV[2]) then return {{'REPLACED'}} end
local last = redis.call('HGET', KEYS[4], 'id')
local time = redis.call('TIME')
redis.call('HSET', KEYS[4], 'id', ARGV[3], 'data', ARGV[4], 'written', time[1] .. '.' .. time[2])
if last then redis.call('XTRIM', KEYS[3], 'MINID', last) end
redis.call('DEL', KEYS[5])
return {{'OK'}}
"""


class WriteResult(StrEnum):
    """The server's response to a write."""

    OK = "OK"
    STANDBY = "STANDBY"
    """Another writer has the lease."""
    BEHIND = "BEHIND"
    """A later block has been published already."""
    REPLACED = "REPLACED"
    """Another writer has taken over, or the server has lost its data."""
    LOST = "LOST"
    """The newest entry is not the last one that this writer added."""


class NewestEntry(NamedTuple):
    """The id of the feed's newest entry, and the hash of the market after that entry.

    A writer also receives the entry's block, the block's hash (empty if unknown), and the age of the snapshot.
    """

    id: str
    state_hash: str
    block: int | None = None
    block_hash: str = ""
    snapshot_age_s: float | None = None


class SnapshotVersion(NamedTuple):
    """The version of a snapshot: the entry after which it was made, and the time. A damaged snapshot may be replaced by
    one made after the same entry."""

    id: str
    written: bytes | None


class StreamEntry(NamedTuple):
    """An entry of the stream. `data` is None if the entry has none."""

    id: str
    data: bytes | None


class _Feed:
    """The keys of a network's feed, and a client that opens with the first command."""

    def __init__(self, server: RedisUrl, network: str, timeout_s: float) -> None:
        self.server, self._timeout_s = server, timeout_s
        prefix = f"swapcli:feed:{{{network}}}:"
        self._state, self._lease, self._blocks, self._snapshot, self._requested, self._channels = (
            f"{prefix}{name}" for name in ("state", "lease", "blocks", "snapshot", "request", "writer:")
        )
        self._opened: Redis | None = None

    @property
    def _client(self) -> Redis:
        if self._opened is None:
            self._opened = open_redis(self.server, self._timeout_s)
        return self._opened

    def close(self) -> None:
        """Close the connections. Any thread may call this, which ends a waiting command."""
        if self._opened is not None:
            with suppress(Exception):
                self._opened.connection_pool.disconnect()


class FeedWriter(_Feed):
    """Writes the feed of a network. Use it in one thread only. All methods raise `UpstreamError`."""

    def __init__(self, server: RedisUrl, network: str, timeout_s: float, *, lease_s: float = LEASE_S) -> None:
        super().__init__(server, network, timeout_s)
        self._name, self._token = token_hex(16), ""
        self._lease_ms = max(1, round(lease_s * 1000))
        self._subscription: PubSub | None = None
        self._may_subscribe = True
        self.is_snapshot_requested = False
        """Whether a reader was waiting for a snapshot at this writer's last write."""

    @property
    def channel(self) -> str:
        """The channel to which this writer alone subscribes while it is alive."""
        return self._channels + self._name

    def acquire(self, block: int) -> tuple[WriteResult, NewestEntry | None]:
        """Acquire the writer's lease, unless another writer is alive or the feed has reached a later block than
        `block`.

        The returned entry is None if the feed is empty.
        """
        self._may_subscribe = True
        self._subscribe()
        listener = self._name if self._subscription else ""
        result, *words = self._run(_ACQUIRE, self._name, self._lease_ms, block, listener, self._channels)
        if not words:
            return WriteResult(result), None
        self._token, entry_id, state_hash, number, block_hash, age = words
        if not entry_id:
            return WriteResult(result), None
        age_s = float(age) if age else None
        newest = NewestEntry(entry_id, state_hash, int(number) if number.isdecimal() else None, block_hash, age_s)
        return WriteResult(result), newest

    def renew(self) -> WriteResult:
        """Renew the lease, to show that this writer is alive."""
        result, subscribers = self._write(_RENEW, self._lease_ms, self._channels)
        if subscribers == "0":
            self._unsubscribe()  # the next command subscribes again
        return result

    def release(self) -> WriteResult:
        """Give up the lease, so that another writer does not have to wait for it to expire."""
        return WriteResult(self._run(_RELEASE, self._name, self._token)[0])

    def append(
        self, data: bytes, block: int, state_hash: str, after: str, block_hash: str = ""
    ) -> tuple[WriteResult, str]:
        """Append `data` as the entry after `after`. Return the result and the new entry's id, empty if nothing was
        appended."""
        return self._write(_APPEND, self._lease_ms, after, block, state_hash, data, MAX_ENTRIES, block_hash)

    def begin(
        self, data: bytes, block: int, state_hash: str, snapshot: bytes, block_hash: str = ""
    ) -> tuple[WriteResult, str]:
        """Append an entry after the newest one, and set the snapshot made after it. Return the same as `append`."""
        return self._write(_BEGIN, self._lease_ms, block, state_hash, data, MAX_ENTRIES, snapshot, block_hash)

    def set_snapshot(self, data: bytes, entry_id: str) -> WriteResult:
        """Replace the snapshot with one made after the entry `entry_id`. Drop the entries before the previous
        snapshot."""
        return WriteResult(self._run(_SNAPSHOT, self._name, self._token, entry_id, data)[0])

    def close(self) -> None:
        """Same as `_Feed.close`."""
        self._unsubscribe()
        super().close()

    def _subscribe(self) -> None:
        """Open the connection that shows the server that this process lives, if this user may subscribe."""
        if self._subscription is not None or not self._may_subscribe:
            return
        self._subscription = self._client.pubsub()  # type: ignore[no-untyped-call]
        try:
            with translate_redis_errors(self.server):
                self._subscription.subscribe(self.channel)
                self._may_subscribe = self._subscription.get_message(timeout=self._timeout_s) is not None
        except UpstreamRejected:
            self._may_subscribe = False
        except UpstreamError:
            self._unsubscribe()
            raise
        if not self._may_subscribe:
            self._unsubscribe()

    def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            with suppress(Exception):
                subscription.close()

    def _write(self, script: str, *words: str | bytes | int) -> tuple[WriteResult, str]:
        """Run one of the writer's scripts. Return its result, and the data added to it."""
        self._subscribe()
        result, *rest = self._run(script, self._name, self._token, *words)
        self.is_snapshot_requested = rest[:1] == ["1"]
        return WriteResult(result), "".join(rest[1:])

    def _run(self, script: str, *words: str | bytes | int) -> list[str]:
        keys = (self._state, self._lease, self._blocks, self._snapshot, self._requested)
        try:
            with translate_redis_errors(self.server):
                answer = cast("list[bytes]", self._client.eval(script, len(keys), *keys, *words))
                result, *rest = (each.decode(errors="replace") for each in answer)
                return [WriteResult(result), *rest]
        except Unreachable:
            self._unsubscribe()  # that connection ended with the server
            raise


class FeedReader(_Feed):
    """Reads the feed of a network. Use it in one thread only. All methods raise `UpstreamError`."""

    def read_snapshot(self) -> StreamEntry | None:
        """Return the current snapshot, with the id of the entry after which it was made; None if there is no
        snapshot."""
        with translate_redis_errors(self.server):
            entry_id, data = cast("list[bytes | None]", self._client.hmget(self._snapshot, "id", "data"))
            return None if entry_id is None or data is None else StreamEntry(_parse_id(entry_id), data)

    def read_snapshot_version(self) -> SnapshotVersion | None:
        """Return the version of the current snapshot; None if there is no snapshot."""
        with translate_redis_errors(self.server):
            entry_id, written = cast("list[bytes | None]", self._client.hmget(self._snapshot, "id", "written"))
            return None if entry_id is None else SnapshotVersion(_parse_id(entry_id), written)

    def request_snapshot(self) -> None:
        """Ask the writer for a new snapshot. Does nothing if this user may not write to the server."""
        with suppress(UpstreamRejected), translate_redis_errors(self.server):
            self._client.set(self._requested, "1", ex=_REQUEST_S)

    def read_newest(self) -> NewestEntry | None:
        """Return the feed's newest entry; None if there has never been one, or if the server has lost its data."""
        with translate_redis_errors(self.server):
            entry_id, state_hash = cast("list[bytes | None]", self._client.hmget(self._state, "last", "hash"))
            return (
                None
                if entry_id is None
                else NewestEntry(_parse_id(entry_id), (state_hash or b"").decode(errors="replace"))
            )

    def read_entries(self, after: str, limit: int, wait_s: float = 0.0) -> list[StreamEntry]:
        """Return up to `limit` entries after the entry with the id `after`. If there are none, wait up to `wait_s` for
        one."""
        block_ms = round(wait_s * 1000) or None
        with translate_redis_errors(self.server):
            answer = self._client.xread({self._blocks: after}, count=limit, block=block_ms)
            streams = cast("Sequence[tuple[bytes, list[tuple[bytes, dict[bytes, bytes]]]]]", answer or ())
            return [
                StreamEntry(_parse_id(entry_id), fields.get(b"data"))
                for _, found in streams
                for entry_id, fields in found
            ]


def is_before(first: str, second: str) -> bool:
    """Return whether the entry with the id `first` was added before the one with the id `second`."""
    return _numbers(first) < _numbers(second)


def _numbers(entry_id: str) -> list[int]:
    return [int(part) for part in entry_id.split("-")]


def _parse_id(entry_id: bytes) -> str:
    """Return the id as text. Raises `InvalidUpstreamResponse` if it is invalid."""
    parts = entry_id.split(b"-")
    if len(parts) != 2 or not all(part.isdigit() and len(part) <= 20 for part in parts):
        raise InvalidUpstreamResponse("the feed has an entry whose id is invalid")
    return entry_id.decode()
