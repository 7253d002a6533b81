"""A node over a real socket: few round trips, and every failure is retried or is one sentence."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from time import monotonic
from typing import Any

import pytest

from swapcli.core.errors import (
    ConfigError,
    InvalidUpstreamResponse,
    Unreachable,
    UpstreamError,
    UpstreamRejected,
    UpstreamTimeout,
)
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.node import BlockHeader, ChainHead, LogFilter
from swapcli.state.rpc.rpc_node import ATTEMPTS, NodePolicy, RpcEndpoint, RpcNode
from tests.chain.node.responses import ECHO, NUMBER, OUT_OF_GAS, REVERTING, TOPIC, answer, block_json, echo_calls
from tests.chain.node.server import (
    CHAIN_ID,
    SECRET,
    SHOWN,
    Answering,
    Failure,
    Pauses,
    Refused,
    Server,
    breaks_off,
    closes_afterwards,
    drips,
    hangs_up,
    node_of,
    says,
    serving,
    stays_silent,
)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


def test_the_head_comes_with_the_gas_price_in_one_exchange(server: Server) -> None:
    with node_of(server) as node:
        assert node.read_head() == ChainHead(BlockHeader(NUMBER, f"0x{NUMBER:064x}", f"0x{NUMBER - 1:064x}", 9, 5), 7)
        assert (node.round_trips, server.exchanges) == (1, [3])


def without_gas_price(code: int, message: str) -> Answering:
    def answering(request: dict[str, Any]) -> object:
        if request["method"] == "eth_gasPrice":
            raise Refused(code, message)
        return answer(request)

    return answering


@pytest.mark.parametrize(("code", "message"), [(-32_601, "not available"), (-32_000, "method is not whitelisted")])
def test_a_head_needs_no_gas_price(server: Server, code: int, message: str) -> None:
    server.answering = without_gas_price(code, message)
    with node_of(server) as node:
        head = node.read_head()
        assert (head.block.number, node.round_trips) == (NUMBER, 2)
        with pytest.raises(UpstreamRejected, match=f"^{SHOWN} rejected eth_gasPrice: {message}$") as caught:
            _ = head.gas_price_wei
        assert "--gas-price" in str(caught.value.hint)


def test_a_node_that_is_busy_has_no_head(server: Server) -> None:
    server.answering = without_gas_price(-32_029, "rate limit exceeded")
    with node_of(server) as node, pytest.raises(UpstreamRejected, match="rejected eth_gasPrice: rate limit"):
        node.read_head()


def test_a_given_gas_price_is_not_requested(server: Server) -> None:
    server.answering = without_gas_price(-32_601, "not available")
    with closing(
        RpcNode([RpcEndpoint(f"http://127.0.0.1:{server.server_port}/", SHOWN)], CHAIN_ID, gas_price_wei=9)
    ) as node:
        assert node.read_head().gas_price_wei == 9
        assert server.exchanges == [2]


def test_a_spare_with_a_gas_price_replaces_one_without() -> None:
    with serving(without_gas_price(-32_601, "not available")) as first, serving(answer) as spare:
        urls = [f"http://127.0.0.1:{each.server_port}/" for each in (first, spare)]
        reported: list[str] = []
        spares = [RpcEndpoint(urls[1], "spare")]
        with closing(
            RpcNode([RpcEndpoint(urls[0], "first"), *spares], CHAIN_ID, NodePolicy(report=reported.append))
        ) as node:
            assert node.read_head().gas_price_wei == 7
        assert reported == ["first rejected eth_gasPrice: not available; using spare from now on"]


def test_a_block_that_is_not_there_yet_is_none(server: Server) -> None:
    with node_of(server) as node:
        assert node.read_block(NUMBER + 1) is None
        found = node.read_block(17)
        assert found is not None
        assert found.number == 17


def test_calls_are_answered_in_order_and_only_reverts_give_none(server: Server) -> None:
    with node_of(server) as node:
        calls = [*echo_calls(3), ContractCall(REVERTING, b"x"), ContractCall(OUT_OF_GAS, b"x"), ContractCall(ECHO, b"")]
        expected = [b"\0\0\0\0", b"\0\0\0\1", b"\0\0\0\2", None, None, b""]
        assert node.call_many(calls, NUMBER) == expected
        assert [node.call(call.to, call.calldata, NUMBER) for call in calls] == expected
        assert node.call_many([], NUMBER) == []


def test_many_calls_go_in_few_exchanges_over_one_connection(server: Server) -> None:
    with node_of(server) as node:
        assert node.call_many(echo_calls(450), NUMBER) == [call.calldata for call in echo_calls(450)]
        assert server.exchanges == [200, 200, 50]


@pytest.mark.parametrize(("most", "exchanges"), [(60, 5 + 2), (1, 100 + 6)])
def test_batches_shrink_to_what_the_node_takes(server: Server, most: int, exchanges: int) -> None:
    server.max_requests = most
    with node_of(server) as node:
        assert node.call_many(echo_calls(100), NUMBER) == [call.calldata for call in echo_calls(100)]
        assert len(server.exchanges) <= exchanges
        before = len(server.exchanges)
        node.call_many(echo_calls(most), NUMBER)
        assert max(server.exchanges[before:]) <= most, "the limit is remembered"


def test_events_come_in_the_order_of_the_chain(server: Server) -> None:
    with node_of(server) as node:
        logs = node.read_logs(LogFilter((ECHO,), (TOPIC,), 5, 6))
        assert [(log.block_number, log.log_index) for log in logs] == [(5, 4), (6, 0), (6, 1)]
        assert logs[0].topics == (TOPIC,)
        assert logs[0].data == b"\x12\x34"


def test_events_of_other_blocks_are_refused(server: Server) -> None:
    with (
        node_of(server) as node,
        pytest.raises(InvalidUpstreamResponse, match="events of blocks that were not requested"),
    ):
        node.read_logs(LogFilter((ECHO,), (TOPIC,), 5, 5))


def test_a_node_of_another_chain_is_refused(server: Server) -> None:
    server.answering = lambda request: "0x1" if request["method"] == "eth_chainId" else answer(request)
    with node_of(server) as node, pytest.raises(InvalidUpstreamResponse) as caught:
        node.read_head()
    assert caught.value.message == f"{SHOWN} is a node of chain 1, not of chain {CHAIN_ID}"
    assert len(server.exchanges) == 1


PASSING: list[Failure] = [
    hangs_up,
    breaks_off,
    stays_silent,
    drips,
    says(429),
    says(503),
    says(200, b"<html>"),
    says(200, b"[]"),
    says(200, b"[1]"),
    says(200, b'[{"id": 0}]'),
    says(200, b'{"id": null, "error": {"code": -32005, "message": "rate limit reached"}}'),
]


SLOW = (stays_silent, drips)


@pytest.mark.parametrize("failure", SLOW)
def test_a_node_that_times_out_is_tried_twice(server: Server, failure: Failure) -> None:
    server.failures = [failure] * ATTEMPTS
    with node_of(server, 0.2, Pauses()) as node, pytest.raises(UpstreamTimeout):
        node.call_many(echo_calls(3), NUMBER)
    assert len(server.exchanges) == 2


@pytest.mark.parametrize("failure", PASSING)
def test_temporary_failures_are_retried(server: Server, failure: Failure) -> None:
    pauses = Pauses()
    server.failures = [failure] * (1 if failure in SLOW else ATTEMPTS - 1)
    with node_of(server, 0.4, pauses) as node:
        assert node.call_many(echo_calls(3), NUMBER) == [call.calldata for call in echo_calls(3)]
    assert len(pauses) <= ATTEMPTS - 1
    assert pauses == sorted(pauses)


@pytest.mark.parametrize(
    ("failure", "kind", "sentence"),
    [
        (hangs_up, Unreachable, f"{SHOWN} closed the connection before it responded"),
        (stays_silent, UpstreamTimeout, f"{SHOWN} did not respond in time"),
        (drips, UpstreamTimeout, f"{SHOWN} did not respond in time"),
        (breaks_off, InvalidUpstreamResponse, f"{SHOWN} sent malformed or incomplete HTTP"),
        (says(503), UpstreamRejected, f"{SHOWN} responded with status 503"),
        (says(200, b"<html>"), InvalidUpstreamResponse, f"{SHOWN} responded with something other than JSON-RPC"),
        (says(200, b"[]"), InvalidUpstreamResponse, f"{SHOWN} did not respond to all requests"),
        (says(401, b"who are you"), UpstreamRejected, f"{SHOWN} responded with status 401: who are you"),
        (
            says(302, b"", Location=f"http://elsewhere.example/{SECRET}"),
            UpstreamRejected,
            f"{SHOWN} redirects to http://elsewhere.example/…; redirects are not followed",
        ),
        (
            says(429, b'{"error":"Too many requests"}'),
            UpstreamRejected,
            f"{SHOWN} responded with status 429: Too many requests",
        ),
        (says(200, b'{"error":"Discontinued."}'), UpstreamRejected, f"{SHOWN} rejected the request: Discontinued."),
    ],
)
def test_a_lasting_failure_is_one_sentence_naming_the_node(
    server: Server, failure: Failure, kind: type[UpstreamError], sentence: str
) -> None:
    server.always = failure
    with node_of(server, 0.3) as node, pytest.raises(kind) as caught:
        node.read_head()
    assert caught.value.message == sentence


def test_a_dripping_server_cannot_exceed_the_timeout(server: Server) -> None:
    server.always = drips
    started = monotonic()
    with node_of(server, 0.2) as node, pytest.raises(UpstreamTimeout):
        node.read_head()
    assert monotonic() - started < ATTEMPTS * 0.2 + 2.0


def test_retry_after_is_followed_up_to_a_limit(server: Server) -> None:
    pauses = Pauses()
    server.failures = [says(429, Retry_After="3"), says(429, Retry_After="999999"), says(429, Retry_After="soon")]
    with node_of(server, pauses=pauses) as node:
        node.read_head()
    assert pauses == [3.0, 10.0, 1.0]


def test_a_closed_idle_connection_is_reopened_without_a_pause(server: Server) -> None:
    pauses = Pauses()
    server.always = closes_afterwards
    with node_of(server, pauses=pauses) as node:
        for _ in range(3):
            node.read_head()
    assert pauses == []


def test_only_temporarily_failed_calls_are_repeated(server: Server) -> None:
    seen: list[str] = []

    def flaky(request: dict[str, Any]) -> object:
        data = request["params"][0]["data"]
        seen.append(data)
        if data == "0x00000001" and seen.count(data) == 1:
            raise Refused(-32000, "header not found")
        return data

    server.answering = flaky
    with node_of(server) as node:
        assert node.call_many(echo_calls(3), NUMBER) == [call.calldata for call in echo_calls(3)]
    assert [seen.count(data) for data in ("0x00000000", "0x00000001")] == [1, 2]


def test_a_permanent_refusal_is_reported_once_without_urls(server: Server) -> None:
    def refusing(_: dict[str, Any]) -> object:
        raise Refused(-32602, f"query returned more than 10000 results at http://x.example/{SECRET}\n see docs\x1b[0m")

    server.answering = refusing
    with node_of(server) as node, pytest.raises(UpstreamRejected) as caught:
        node.read_logs(LogFilter((), (TOPIC,), 1, 9))
    assert (
        caught.value.message
        == f"{SHOWN} rejected eth_getBlockByNumber: query returned more than 10000 results at see docs [0m"
    )
    assert len(server.exchanges) == 1


@pytest.mark.parametrize("failure", [*PASSING, says(401, b"no")])
def test_no_error_shows_the_url(server: Server, failure: Failure) -> None:
    server.always = failure
    with node_of(server, 0.3) as node, pytest.raises(UpstreamError) as caught:
        node.read_head()
    error: BaseException | None = caught.value
    assert error is not None
    assert SECRET not in f"{caught.value.message} {caught.value.hint} {caught.value.details}"
    assert SECRET not in f"{node!r} {node.redacted_url}"


@pytest.mark.parametrize("url", ["ftp://x", "node", "", "http://", "http://h:99999999/", "http://a b/", "http://h/\n"])
def test_an_invalid_url_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        RpcNode([RpcEndpoint(url, SHOWN)], 1)
    assert caught.value.message.startswith(SHOWN)


def test_credentials_of_the_url_are_sent_as_basic_auth(server: Server) -> None:
    with node_of(server) as node:
        node.read_head()
    expected = b64encode(f"user:{SECRET}".encode()).decode()
    assert server.headers[0]["Authorization"] == f"Basic {expected}"


@pytest.mark.parametrize(
    "wrong",
    [None, 5, "0x", "0xzz", "5", [], {}, {"number": "0x5"}, {**block_json(5), "hash": "0x5"}, block_json(6)],
)
def test_an_invalid_block_is_refused(server: Server, wrong: object) -> None:
    server.answering = lambda _: json.loads(json.dumps(wrong))
    with node_of(server) as node:
        if wrong is None:
            assert node.read_block(5) is None
        else:
            with pytest.raises(InvalidUpstreamResponse, match=f"^{SHOWN} responded to eth_getBlockByNumber with "):
                node.read_block(5)


@pytest.mark.parametrize(
    "wrong", [None, 5, "", "0x1", "0xzz", "12", "1234", "0X12", "0x12 34", "0x 12", "0x12 ", "0x12\t34", "0x１２", []]
)
def test_return_data_that_is_no_hex_is_refused(server: Server, wrong: object) -> None:
    server.answering = lambda _: wrong
    with (
        node_of(server) as node,
        pytest.raises(
            InvalidUpstreamResponse, match=f"^{SHOWN} (responded to eth_call with |returned nothing for eth_call)"
        ),
    ):
        node.call(ECHO, b"", NUMBER)
