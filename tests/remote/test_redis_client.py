"""Clients of a real Redis server over TCP, TLS and a Unix socket; their errors name the server without its password."""

from __future__ import annotations

import asyncio
import socket
from typing import cast

import pytest

from swapcli.encoding.redis_url import RedisUrl
from swapcli.errors import ConfigError, Unreachable, UpstreamError, UpstreamRejected, UpstreamTimeout
from swapcli.remote.redis_client import open_async_redis, open_redis, parse_redis_url, translate_redis_errors
from tests.support.redis_server import CERTIFICATE, RedisServer


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
    with open_redis(server, 1.0) as client:
        client.set("a list?", "no")
        with (
            pytest.raises(UpstreamRejected, match=r"answered with the error WRONGTYPE$"),
            translate_redis_errors(server),
        ):
            client.llen("a list?")


def test_a_certificate_of_an_unknown_authority_is_rejected(redis_server: RedisServer) -> None:
    assert isinstance(error_of(RedisUrl.parse(redis_server.tls_url)), Unreachable)


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


def test_an_invalid_address_names_the_setting() -> None:
    with pytest.raises(ConfigError, match=r"^service.state_url: expected the address") as caught:
        parse_redis_url("redis://:hunter2@host:port", "service.state_url")
    assert "hunter2" not in f"{caught.value} {caught.value.hint} {caught.value.details}"
