"""Connections to Redis or Valkey. No other module loads the optional package `redis`.

A client connects when it sends its first command, and reconnects after a failure. Nothing is retried, because the
caller decides when to use the server again. Errors become `UpstreamError`s that name the server without its
credentials.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import (
    ConfigError,
    InvalidUpstreamResponse,
    Unreachable,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
)

if TYPE_CHECKING:
    from redis import Redis as Redis
    from redis.asyncio import Redis as AsyncRedis
    from redis.client import PubSub as PubSub

_PROTOCOL = 2
"""RESP2: version 3 adds a round trip to each connection, and nothing that is used here."""
_CLIENT_NAME = "swapcli"
_ERROR_CODE = re.compile(r"[A-Z]{3,20}\b")
INSTALL = ConfigError("Redis needs the Python package redis, which is not installed", hint="pip install 'redis>=8,<9'")


def parse_redis_url(url: str, key: str) -> RedisUrl:
    """Parse the URL in the setting or option `key`. Raises `ConfigError`, whose message does not repeat the URL."""
    try:
        return RedisUrl.parse(url)
    except ValueError:
        raise ConfigError(f"{key}: expected a Redis URL", hint="for example redis://redis.example:6379/0") from None


def require_redis() -> None:
    """Raise `ConfigError` if the package `redis` is not installed."""
    if find_spec("redis") is None:
        raise INSTALL


def open_redis(server: RedisUrl, timeout_s: float) -> Redis:
    """Return a synchronous client. `timeout_s` limits connecting and each response, so it must exceed the time that a
    blocking read waits.

    Raises `ConfigError` if the package is not installed.
    """
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ModuleNotFoundError:
        raise INSTALL from None
    return redis.Redis(**_options(server, timeout_s), retry=Retry(NoBackoff(), 0))


def open_async_redis(server: RedisUrl, timeout_s: float) -> AsyncRedis:
    """Return an asynchronous client for one event loop. Otherwise the same as `open_redis`."""
    try:
        from redis import asyncio
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    except ModuleNotFoundError:
        raise INSTALL from None
    return asyncio.Redis(**_options(server, timeout_s), retry=Retry(NoBackoff(), 0))


def _options(server: RedisUrl, timeout_s: float) -> dict[str, Any]:
    place: dict[str, Any] = (
        {"unix_socket_path": server.socket_path}
        if server.socket_path
        else {"host": server.host, "port": server.port, "ssl": server.uses_tls}
    )
    return place | {
        "db": server.database,
        "username": server.username,
        "password": server.password,
        "socket_timeout": timeout_s,
        "socket_connect_timeout": timeout_s,
        "protocol": _PROTOCOL,
        "client_name": _CLIENT_NAME,
        "driver_info": None,
    }


@contextmanager
def translate_redis_errors(server: RedisUrl) -> Iterator[None]:
    """Translate errors raised in the context, by the package `redis` or by unusable values, to `UpstreamError`s."""
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError, UnicodeError) as error:
        raise classify_redis_error(error, server) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        shown = server.shown
        raise InvalidUpstreamResponse(f"{shown} returned an unexpected value", details={"server": shown}) from None


def classify_redis_error(error: Exception, server: RedisUrl) -> UpstreamError:
    """Return an error that explains why a command failed. Its message repeats no text from the server or the client."""
    from redis import exceptions

    shown, details = server.shown, {"server": server.shown}
    if isinstance(error, exceptions.TimeoutError | TimeoutError):
        return UpstreamTimeout(f"{shown} did not respond in time", details=details)
    if isinstance(error, exceptions.BusyLoadingError):
        return Unreachable(f"{shown} is still loading its data", details=details)
    rejection = _find_rejection(error)
    if rejection is not None:
        problem, hint = rejection
        return UpstreamRejected(f"{shown} {problem}", hint=hint, details=details)
    if _has_untrusted_certificate(error):
        return Unreachable(
            f"{shown} does not have a trusted certificate for its host name",
            hint="SSL_CERT_FILE names a file with the certificate of your own authority",
            details=details,
        )
    if isinstance(error, exceptions.ConnectionError | OSError | UnicodeError):
        return Unreachable(f"cannot reach {shown}", hint="check that a Redis server is running", details=details)
    code = _ERROR_CODE.match(str(error))  # such as WRONGTYPE or MISCONF: the rest may repeat the request
    return UpstreamRejected(f"{shown} returned the error {code[0] if code else 'ERR'}", details=details)


def _find_rejection(error: Exception) -> tuple[str, str | None] | None:
    """Return why a server rejects a command, and a hint; None for other reasons, or without a response."""
    from redis import exceptions

    cluster_errors = (exceptions.ClusterError, exceptions.AskError, exceptions.ClusterCrossSlotError)
    by_class: tuple[tuple[type[Exception] | tuple[type[Exception], ...], tuple[str, str | None]], ...] = (
        (exceptions.AuthenticationError, _WRONG_PASSWORD),
        (exceptions.AuthenticationWrongNumberOfArgsError, _WRONG_PASSWORD),
        ((exceptions.NoPermissionError, exceptions.AuthorizationError), _NO_RIGHT),
        (exceptions.ReadOnlyError, ("is a read-only replica", _USE_PRIMARY)),
        (exceptions.MasterDownError, ("is a replica without a primary server", _USE_PRIMARY)),
        (exceptions.OutOfMemoryError, ("is out of memory", None)),
        (cluster_errors, _IN_CLUSTER),
    )
    for classes, rejection in by_class:
        if isinstance(error, classes):
            return rejection
    if isinstance(error, exceptions.ResponseError):
        return next((rejection for words, rejection in _BY_WORDS if words in str(error)), None)
    return None


def _has_untrusted_certificate(error: BaseException) -> bool:
    from ssl import SSLCertVerificationError

    cause = error.__cause__ or error.__context__
    return isinstance(error, SSLCertVerificationError) or (cause is not None and _has_untrusted_certificate(cause))


_WRONG_PASSWORD: Final = ("rejects the user name or password", None)
_NO_RIGHT: Final = (
    "does not allow this user to run all the commands that swapcli needs",
    "see swapcli help scale for the rights it needs",
)
_USE_PRIMARY: Final = "use the primary server"
_IN_CLUSTER: Final = (
    "is part of a Redis Cluster, which swapcli does not support",
    "use a server outside a cluster: a single server is enough",
)
_BY_WORDS: Final[tuple[tuple[str, tuple[str, str | None]], ...]] = (
    ("cluster mode", _IN_CLUSTER),
    (
        "WRONGTYPE",
        (
            "has values of a different type under swapcli's keys",
            "delete the keys that begin with swapcli:, or use a different database",
        ),
    ),
    ("DB index is out of range", ("has no database with this number", None)),
    ("NOREPLICAS", ("rejects writes, because too few replicas follow it", None)),
    ("MISCONF", ("rejects writes, because it cannot save its data", None)),
    (
        "unknown command",
        (
            "does not support a command that swapcli needs",
            "use Redis 6.2 or later, or Valkey; give the server's URL, not its Sentinel's",
        ),
    ),
)
"""Words in errors that have no class of their own, with the problem and the hint."""
