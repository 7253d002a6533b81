"""Clients of a real Redis server over TCP, TLS and a Unix socket; their errors name the server without its password."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import tomllib
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import cast

import pytest

from swapcli.core.encoding.redis_url import RedisUrl
from swapcli.core.errors import ConfigError, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.state.feed import redis_client
from swapcli.state.feed.redis_client import open_async_redis, open_redis, parse_redis_url, translate_redis_errors
from tests.support.redis_server import CERTIFICATE, RedisServer, free_ports, run_redis
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]


def error_of(server: RedisUrl, timeout_s: float = 1.0) -> UpstreamError:
    """Return the error of a command; both kinds of client raise the same."""

    async def echo() -> None:
        async with open_async_redis(server, timeout_s) as client:
            with translate_redis_errors(server):
                await client.echo("hello")

    with (
        pytest.raises(UpstreamError) as caught,
        translate_redis_errors(server),
        open_redis(server, timeout_s) as client,
    ):
        client.echo("hello")
    with pytest.raises(UpstreamError) as caught_async:
        asyncio.run(echo())
    assert (type(caught.value), caught.value.message) == (type(caught_async.value), caught_async.value.message)
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.details}"
    assert server.shown in caught.value.message
    return caught.value


def echo(server: RedisUrl) -> bytes:
    """Return what the server of both kinds of client echoes."""

    async def echo_async() -> bytes:
        async with open_async_redis(server, 5.0) as client:
            return cast(bytes, await client.echo(b"\x00\xff"))

    with open_redis(server, 5.0) as client:
        assert client.echo(b"\x00\xff") == asyncio.run(echo_async())
    return asyncio.run(echo_async())


def test_each_transport_reaches_the_server(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    for url in (redis_server.url, redis_server.tls_url, redis_server.unix_url):
        assert echo(RedisUrl.parse(url)) == b"\x00\xff"


def test_a_wrong_password_is_reported(redis_server: RedisServer) -> None:
    error = error_of(redis_server.server._replace(password="hunter2"))
    assert isinstance(error, UpstreamRejected)
    assert "password" in error.message
    assert isinstance(error_of(redis_server.server._replace(password=None)), UpstreamRejected)


def test_the_code_of_a_refused_command_is_reported(redis_server: RedisServer) -> None:
    server = redis_server.server
    with (
        open_redis(server, 1.0) as client,
        pytest.raises(UpstreamRejected, match=r"returned the error NOGROUP$"),
        translate_redis_errors(server),
    ):
        client.xreadgroup("no group", "nobody", {"no stream": ">"})


def test_a_certificate_of_an_unknown_authority_is_rejected(redis_server: RedisServer) -> None:
    error = error_of(RedisUrl.parse(redis_server.tls_url))
    assert isinstance(error, Unreachable)
    assert "does not have a trusted certificate for its host name" in error.message
    assert error.hint is not None
    assert "SSL_CERT_FILE" in error.hint


def test_a_server_that_is_away_is_reported() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        error = error_of(RedisUrl("127.0.0.1", closed.getsockname()[1], password="hunter2"))
    assert isinstance(error, Unreachable)
    assert isinstance(error_of(RedisUrl(socket_path="/nowhere/redis.sock")), Unreachable)


def test_a_server_that_does_not_answer_is_reported_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = error_of(RedisUrl("127.0.0.1", silent.getsockname()[1]), timeout_s=0.05)
    assert isinstance(error, UpstreamTimeout)


REFUSALS = {
    "-LOADING Redis is loading the dataset in memory": (Unreachable, "is still loading its data"),
    "-MOVED 3999 127.0.0.1:6381": (UpstreamRejected, "is part of a Redis Cluster"),
    "-ASK 3999 127.0.0.1:6381": (UpstreamRejected, "is part of a Redis Cluster"),
    "-TRYAGAIN Multiple keys request during rehashing of slot": (UpstreamRejected, "returned the error"),
    "-CROSSSLOT Keys in request don't hash to the same slot": (UpstreamRejected, "is part of a Redis Cluster"),
    "-MISCONF Redis is configured to save RDB snapshots": (UpstreamRejected, "cannot save its data"),
    "-ERR user hunter2 is odd": (UpstreamRejected, "returned the error ERR"),
    "-WRONGPASS invalid username-password pair": (UpstreamRejected, "rejects the user name or password"),
}


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_refusal_is_explained(reply: str) -> None:
    """The replies are those that need a cluster, or a moment, of a real server."""

    def answer() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    while connection.recv(65_536):
                        connection.sendall(f"{reply}\r\n".encode())

    with socket.create_server(("127.0.0.1", 0)) as listener:
        Thread(target=answer, daemon=True).start()
        error = error_of(RedisUrl("127.0.0.1", listener.getsockname()[1]))
        listener.shutdown(socket.SHUT_RDWR)
    kind, words = REFUSALS[reply]
    assert isinstance(error, kind)
    assert words in error.message


def test_a_cluster_is_named() -> None:
    with run_redis("--cluster-enabled", "yes") as redis:
        assert "is part of a Redis Cluster" in error_of_get(redis.server).message
        assert "is part of a Redis Cluster" in error_of(redis.server._replace(database=1)).message


def error_of_get(server: RedisUrl) -> UpstreamError:
    """Return the error of a command with a key."""
    with (
        pytest.raises(UpstreamError) as caught,
        translate_redis_errors(server),
        open_redis(server, 1.0) as client,
    ):
        client.get("swapcli:key")
    return caught.value


def test_a_missing_database_is_reported(redis_server: RedisServer) -> None:
    error = error_of(redis_server.server._replace(database=999))
    assert "has no database with this number" in error.message


def test_a_sentinel_is_not_the_server_that_it_watches(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    file = tmp_path / "sentinel.conf"
    file.write_text(f"port {port}\nbind 127.0.0.1\nsentinel monitor primary 127.0.0.1 1 1\n")
    process = subprocess.Popen(["redis-server", str(file), "--sentinel"], stdout=subprocess.DEVNULL, cwd=tmp_path)
    try:
        server = RedisUrl("127.0.0.1", port)
        until(lambda: "cannot reach" not in error_of_get(server).message)
        error = error_of_get(server)
    finally:
        process.kill()
        process.wait()
    assert "does not support a command that swapcli needs" in error.message
    assert error.hint is not None
    assert "not its Sentinel" in error.hint


def test_the_hint_names_the_package_as_its_extra_does() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (package,) = extras["redis"]
    assert redis_client.INSTALL.hint == f"pip install '{package}'"


def test_an_invalid_address_names_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"^service\.state_url: expected a Redis URL$") as caught:
        parse_redis_url("redis://:hunter2@host:port", "service.state_url")
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.details}"
