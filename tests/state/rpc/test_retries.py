"""Temporary failures are retried, permanent ones are not, and no message shows a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from swapcli.core.errors import UpstreamRejected
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import ATTEMPTS
from tests.chain.node.responses import ECHO, NUMBER, TOPIC, answer, echo_calls
from tests.chain.node.server import SECRET, SHOWN, Handler, Refused, Server, node_of, serving


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


def test_a_refusal_is_shown_without_the_key(server: Server) -> None:
    def refusing(_: dict[str, Any]) -> object:
        raise Refused(-32_000, f"user {SECRET} may not ask /{SECRET}?key={SECRET}: no credit")

    server.answering = refusing
    with node_of(server) as node, pytest.raises(UpstreamRejected) as caught:
        node.read_head()
    assert caught.value.message == f"{SHOWN} rejected eth_chainId: user … may not ask /…?key=…: no credit"


@pytest.mark.parametrize(
    ("url", "words", "shown"),
    [
        ("http://h/v2/key-of-mine", "key-of-mine is spent", "… is spent"),
        ("http://h/v2/key%2Bof%2Bmine", "key+of+mine, key%2Bof%2Bmine", "…, …"),
        ("http://me:pass%20word@h/", "no such pass word", "no such …"),
        ("http://h/?apikey=abc+def%21", "abc def!, abc+def%21", "…, …"),
        ("http://h/v2/abc", "the v2 of abc\n at\x00 once", "the v2 of abc at once"),
        ("http://h/", "see https://h/some/where now", "see now"),
    ],
)
def test_no_part_of_a_url_that_may_be_a_key_is_shown(url: str, words: str, shown: str) -> None:
    assert HttpConnection(url, SHOWN).redact(words) == shown


def test_an_error_status_with_full_results_keeps_the_batch_size(server: Server) -> None:
    def as_bad_request(handler: Handler) -> bool:
        handler.answer(server.answer(handler.requests), 400)
        return True

    server.always = as_bad_request
    with node_of(server) as node:
        assert node.call_many(echo_calls(3), NUMBER) == [call.calldata for call in echo_calls(3)]
    assert server.exchanges == [3]


@pytest.mark.parametrize("method", ["eth_chainId", "eth_gasPrice", "eth_call", "eth_getLogs", "latest"])
def test_an_unexpected_null_is_requested_again(server: Server, method: str) -> None:
    requested: list[str] = []

    def knows_nothing_yet(request: dict[str, Any]) -> object:
        requested.append(request["params"][0] if request["params"] == ["latest", False] else request["method"])
        return None if requested[-1] == method and requested.count(method) == 1 else answer(request)

    server.answering = knows_nothing_yet
    with node_of(server) as node:
        assert node.read_head().block.number == NUMBER
        assert node.call(ECHO, b"\1", NUMBER) == b"\1"
        assert len(node.read_logs(LogFilter((ECHO,), (TOPIC,), 5, 6))) == 3
    assert requested.count(method) == 2


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (429, "Your app has exceeded its capacity"),
        (-32_000, "exceeded its compute units per second capacity"),
        (-32_005, "project ID request rate exceeded"),
        (-32_016, "over rate limit"),
        (-32_007, "50/second request limit reached"),
        (-32_603, "Internal JSON-RPC error, internal server error"),
        (-32_000, "service unavailable"),
    ],
)
def test_temporary_refusals_are_retried(server: Server, code: int, message: str) -> None:
    def refusing(_: dict[str, Any]) -> object:
        raise Refused(code, message)

    server.answering = refusing
    with node_of(server) as node, pytest.raises(UpstreamRejected, match="rejected eth_"):
        node.read_head()
    assert len(server.exchanges) == ATTEMPTS


@pytest.mark.parametrize("missing", [0, 1, ATTEMPTS - 1, ATTEMPTS])
def test_a_block_the_node_announced_is_requested_again(server: Server, missing: int) -> None:
    requested: list[str] = []

    def some_are_behind(request: dict[str, Any]) -> object:
        requested.append(request["params"][0] if request["params"] else "")
        return None if 0 < requested.count(hex(NUMBER)) <= missing else answer(request)

    server.answering = some_are_behind
    with node_of(server) as node:
        node.read_head()
        assert (node.read_block(NUMBER) is None) == (missing == ATTEMPTS)
        assert requested.count(hex(NUMBER)) == min(missing + 1, ATTEMPTS)
        before = len(requested)
        assert node.read_block(NUMBER + 1) is None
        assert len(requested) == before + 1, "it may not know a later block"
