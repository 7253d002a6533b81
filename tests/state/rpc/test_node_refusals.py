"""The refusals of real nodes, on loopback: a second attempt or a second node answers, and few requests are sent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from swapcli.core.errors import Unreachable, UpstreamError, UpstreamRejected
from swapcli.state.connect_failure import USER_AGENT
from swapcli.state.rpc.node import LogFilter
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.node.responses import NUMBER, TOPIC, answer, echo_calls
from tests.chain.node.server import CHAIN_ID, Failure, Handler, Pauses, Refused, Server, hangs_up, says, serving
from tests.examples import few
from tests.support.loopback_server import http_response, loopback_server, respond_with, server_tls

ECHOED = [call.calldata for call in echo_calls(9)]
MAX_EXCHANGES = 12
"""Of one read of the head and of nine calls on one node: two attempts at each, and batches of one at worst."""


@pytest.fixture
def servers() -> Iterator[list[Server]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving(answer)) for _ in range(3)]


def node_at(servers: list[Server], reported: list[str] | None = None) -> RpcNode:
    urls = [f"http://127.0.0.1:{server.server_port}/" for server in servers]
    spares = [RpcEndpoint(url, f"node {at}") for at, url in enumerate(urls[1:], 2)]
    report: Callable[[str], object] = bool if reported is None else reported.append
    return RpcNode(
        [RpcEndpoint(urls[0], "node 1"), *spares], CHAIN_ID, NodePolicy(timeout_s=5.0, pause=Pauses(), report=report)
    )


def refuses(code: int, message: str, *methods: str) -> Failure:
    """Refuse these methods, `eth_call` if there are none."""

    def failure(handler: Handler) -> bool:
        passed = iter(handler.server.answer([r for r in handler.requests if r["method"] not in (methods or CALLS)]))
        error = {"code": code, "message": message}
        handler.answer_all(
            [
                {"jsonrpc": "2.0", "id": request["id"], "error": error}
                if request["method"] in (methods or CALLS)
                else next(passed)
                for request in handler.requests
            ]
        )
        return True

    return failure


CALLS = ("eth_call",)


def refuses_batches(most: int, status: int, body: bytes) -> Failure:
    """Refuse batches of more than `most` requests."""

    def failure(handler: Handler) -> bool:
        if len(handler.requests) <= most:
            return False
        handler.send(body, status)
        return True

    return failure


def hangs_up_on_batches(handler: Handler) -> bool:
    return hangs_up(handler) if len(handler.requests) > 3 else False


def changes_ids(change: Callable[[int], object]) -> Failure:
    def failure(handler: Handler) -> bool:
        answers = handler.server.answer(handler.requests)
        handler.answer_all([each | {"id": change(each["id"])} for each in answers])
        return True

    return failure


def requires_user_agent(handler: Handler) -> bool:
    if handler.headers.get("User-Agent") == USER_AGENT:
        return False
    handler.send(b"error code: 1010", 403)
    return True


BATCH_OF_3 = b'{"id":null,"jsonrpc":"2.0","error":{"message":"Batch of more than 3 requests","code":31}}'
NO_BATCH = b'{"jsonrpc":"2.0","error":{"code":-32600,"message":"Restricted JSON RPC method"}}'
RATE = b'{"code":-32016,"message":"over rate limit"}'

PASSING: dict[str, Failure] = {
    "behind": refuses(-32_602, "Block requested not found. Request might be querying historical state"),
    "invalid height": refuses(-32_603, f"invalid block height: {NUMBER}"),
    "out of range": refuses(-32_019, "block is out of range"),
    "trie node": refuses(-32_000, "missing trie node 0a (path )"),
    "no backend": refuses(-32_011, "no backends available for method", "eth_call", "eth_getBlockByNumber"),
    "timeout": refuses(30, "Request timeout on the free tier, please upgrade your tier to the paid one"),
    "timed out": refuses(-32_002, "request timed out"),
    "calls a second": refuses(-32_007, "you've reached the limit of 15 calls per second"),
    "rate": refuses(-32_016, "over rate limit"),
    "new words": refuses(-32_000, "words that are new"),
    "bare error": says(429, RATE),
    "whole batch": says(200, b'[{"jsonrpc":"2.0","id":null,"error":{"code":-32011,"message":"no backends"}}]'),
    **{f"status {status}": says(status, b"<html>Sorry</html>") for status in (500, 502, 503, 520, 522, 524, 530)},
    "HTML": says(200, b"<!DOCTYPE html><title>Attention Required!</title>"),
    "hangs up": hangs_up,
}
LASTING: dict[str, Failure] = {
    "unsupported": refuses(-32_000, "The method eth_call is not supported."),
    "plan": refuses(-32_000, "archive state needs a paid plan"),
    "discontinued": says(200, b'{"error":"This endpoint has been discontinued."}'),
    "status 401": says(401, b"who?"),
    "status 403": says(403, b"error code: 1010"),
    "redirect": says(308, b"", Location="/real"),
    "quota": says(429, b'{"error":"Too many requests from this IP"}'),
}
ADAPTING: dict[str, Failure] = {
    **{f"batch of 3, status {status}": refuses_batches(3, status, BATCH_OF_3) for status in (200, 400, 403, 413, 500)},
    **{f"no batch, status {status}": refuses_batches(1, status, NO_BATCH) for status in (401, 403, 404, 405, 503)},
    **{f"batch of 3, text {status}": refuses_batches(3, status, b"Sorry") for status in (400, 405, 413, 500, 502)},
    "hangs up on batches": hangs_up_on_batches,
    "ids as text": changes_ids(str),
    "ids as floats": changes_ids(float),
    "User-Agent": requires_user_agent,
}


def read(node: RpcNode) -> None:
    """Read the head and nine calls, and check the results."""
    assert node.read_head().block.number == NUMBER
    assert node.call_many(echo_calls(9), NUMBER) == ECHOED


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING)
def test_what_passes_is_asked_again_of_a_single_node(servers: list[Server], failure: Failure) -> None:
    servers[0].failures = [failure] * 2
    with closing(node_at(servers[:1])) as node:
        read(node)
    assert len(servers[0].exchanges) <= 5
    assert node.limits.batch_requests.size >= 9, "the size of the batch was not the reason"


@pytest.mark.parametrize("failure", ADAPTING.values(), ids=ADAPTING)
def test_a_single_node_is_read_in_its_own_way(servers: list[Server], failure: Failure) -> None:
    servers[0].always = failure
    with closing(node_at(servers[:1])) as node:
        read(node)
        before = len(servers[0].exchanges)
        read(node)
    assert len(servers[0].exchanges) - before <= MAX_EXCHANGES, "the limit is learned"


REFUSALS = PASSING | LASTING | ADAPTING


@pytest.mark.parametrize("failure", few(REFUSALS.values(), 20), ids=REFUSALS)
@pytest.mark.parametrize("good", few([0, 1, 2], 1))
def test_one_good_node_among_three_answers(servers: list[Server], failure: Failure, good: int) -> None:
    for at, server in enumerate(servers):
        server.always = None if at == good else failure
    reported: list[str] = []
    with closing(node_at(servers, reported)) as node:
        read(node)
        after_first = sum(len(server.exchanges) for server in servers)
        read(node)
    assert len(reported) <= 2
    assert after_first <= 2 * MAX_EXCHANGES
    assert sum(len(server.exchanges) for server in servers) - after_first <= MAX_EXCHANGES


def test_a_node_that_does_not_serve_a_method_keeps_the_others(servers: list[Server]) -> None:
    servers[0].always = refuses(-32_601, "the method eth_call does not exist/is not available")
    servers[1].always = refuses(-32_601, "method not found", "eth_getLogs")
    logs = LogFilter((), (TOPIC,), 5, 6)
    with closing(node_at(servers[:2])) as node:
        read(node)
        node.read_logs(logs)
        before = [len(server.exchanges) for server in servers[:2]]
        for _ in range(3):
            node.call_many(echo_calls(2), NUMBER)
            node.read_logs(logs)
    sent = [len(server.exchanges) - count for server, count in zip(servers, before, strict=False)]
    assert sent == [3, 3], "each gets only what it serves"


def test_history_that_is_gone_is_final_at_once(servers: list[Server]) -> None:
    servers[0].always = refuses(4_444, "pruned history unavailable", "eth_getLogs")
    with (
        closing(node_at(servers[:2])) as node,
        pytest.raises(UpstreamRejected, match=r"^node 1 rejected eth_\w+: pruned"),
    ):
        node.read_logs(LogFilter((), (TOPIC,), 1, 9))
    assert (len(servers[0].exchanges), servers[1].exchanges) == (1, [])


def test_a_wide_range_stays_and_a_single_block_goes_on(servers: list[Server]) -> None:
    servers[0].always = refuses(-32_000, "words that are new", "eth_getLogs")
    with closing(node_at(servers[:2])) as node:
        with pytest.raises(UpstreamRejected, match=r"^node 1 rejected eth_getLogs"):
            node.read_logs(LogFilter((), (TOPIC,), 5, 6))
        assert (len(servers[0].exchanges), servers[1].exchanges) == (1, [])
        servers[1].answering = lambda request: [] if request["method"] == "eth_getLogs" else answer(request)
        assert node.read_logs(LogFilter((), (TOPIC,), 6, 6)) == []
    assert len(servers[0].exchanges) == 2


def test_a_node_of_a_different_chain_is_named_wherever_it_stands(servers: list[Server]) -> None:
    servers[0].always = refuses(-32_601, "the method eth_call does not exist/is not available")
    servers[1].answering = lambda request: "0x1" if request["method"] == "eth_chainId" else answer(request)
    each = r"^node 1 rejected eth_call: the method .*; node 2 is a node of a different chain$"
    with closing(node_at(servers[:2])) as node:
        for _ in range(2):  # the second time, node 2 is the first to try
            with pytest.raises(UpstreamRejected, match=each):
                node.call_many(echo_calls(2), NUMBER)


def test_if_all_reject_the_words_of_each_are_shown(servers: list[Server]) -> None:
    for at, server in enumerate(servers, 1):
        server.always = refuses(-32_000, f"words of node {at}")
    each = (
        "^" + "; ".join(rf"node {at} rejected eth_\w+: words of node {at}" for at in range(1, len(servers) + 1)) + "$"
    )
    with closing(node_at(servers)) as node:
        for _ in range(2):
            with pytest.raises(UpstreamRejected, match=each):
                node.call_many(echo_calls(2), NUMBER)
    assert sum(len(server.exchanges) for server in servers) <= 2 * 3 * 2 + 2


def test_a_spare_with_wrong_data_is_not_believed(servers: list[Server]) -> None:
    """A node of another chain answers everything, and nothing of it counts."""
    servers[0].always = refuses(-32_000, "The method eth_call is not supported.")
    servers[1].answering = lambda request: "0x1" if request["method"] == "eth_chainId" else "0xbad0"
    with closing(node_at(servers)) as node:
        read(node)
    assert servers[1].exchanges == [1]


def refuse_calls(code: int, message: str) -> Callable[[dict[str, Any]], object]:
    def answering(request: dict[str, Any]) -> object:
        if request["method"] == "eth_call":
            raise Refused(code, message)
        return answer(request)

    return answering


def test_a_revert_is_a_result_on_the_first_node(servers: list[Server]) -> None:
    servers[0].answering = refuse_calls(3, "execution reverted: no")
    with closing(node_at(servers[:2])) as node:
        assert node.call_many(echo_calls(2), NUMBER) == [None, None]
    assert servers[1].exchanges == []


def failure_of(url: str) -> UpstreamError:
    with (
        closing(RpcNode([RpcEndpoint(url, "a node")], 1, NodePolicy(timeout_s=5.0, pause=Pauses()))) as node,
        pytest.raises(UpstreamError) as caught,
    ):
        node.read_head()
    return caught.value


def test_the_cause_of_a_failed_connection_is_named(servers: list[Server]) -> None:
    port = servers[0].server_port
    failure = failure_of(f"https://127.0.0.1:{port}")
    assert (failure.message, failure.hint) == (
        "the TLS handshake with a node failed",
        "try http:// instead of https://",
    )
    with loopback_server(respond_with(http_response(200, json.dumps({})))) as server:
        unused = server.url
    assert failure_of(unused).message == "a node refuses connections"
    failure = failure_of("https://no-such-host.invalid")
    assert isinstance(failure, Unreachable)
    assert failure.message == "the host name of a node cannot be resolved"
    with loopback_server(respond_with(b"\x15\x03\x01\x00\x02\x02\x46")) as server:
        failure = failure_of(server.url)
        assert failure.message == "a node uses TLS, not plain HTTP"
        assert len(server.exchanges) == 1


def test_an_untrusted_certificate_is_named() -> None:
    with loopback_server(respond_with(b""), server_tls("loopback.pem")) as server:
        failure = failure_of(server.url)
    assert failure.message.startswith("the certificate of a node is not trusted: ")
    assert failure.hint == "add a certificate authority with SSL_CERT_FILE"
