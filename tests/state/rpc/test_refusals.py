"""What every known wording of a refusal means, and that no reply at all leads to a loop, a storm or a wrong result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import UpstreamError, UpstreamRejected
from swapcli.state.rpc.json_rpc_client import JsonRpcClient, RpcRequest
from swapcli.state.rpc.node_limits import NodeLimits
from swapcli.state.rpc.refusals import (
    TREATMENTS,
    Attempt,
    Refusal,
    classify_error,
    classify_status,
    refusal_of,
    requested_pause_s,
)
from swapcli.state.rpc.rpc_connection import RpcResponse, redact
from tests.chain.node.server import Pauses
from tests.examples import examples, few_rows, generator

CALL, RANGE, BLOCK_LOGS = Attempt("eth_call"), Attempt("eth_getLogs", is_divisible=True), Attempt("eth_getLogs")
AGGREGATE = Attempt("eth_call", is_divisible=True)
BLOCK, CHAIN_ID, BATCH = Attempt("eth_getBlockByNumber"), Attempt("eth_chainId"), Attempt(batch_requests=9)
FELTS, EVENTS = Attempt("starknet_call"), Attempt("starknet_getEvents")

RESULTS = [
    (3, "execution reverted: K", CALL),  # geth
    (-32_000, "execution reverted", CALL),
    (-32_015, "VM execution error.", CALL),  # nethermind
    (-32_015, "Reverted 0x", CALL),
    (-32_000, "Execution reverted", CALL),  # besu
    (-32_003, "EVM error: OutOfGas", CALL),  # reth
    (-32_000, "out of gas", CALL),
    (-32_000, "invalid opcode: opcode 0xfe not defined", CALL),
    (-32_000, "stack underflow (0 <=> 1)", CALL),
    (-32_000, "invalid jump destination", CALL),
    (-32_000, "Bad instruction", CALL),
    (40, "Contract error", FELTS),
    (20, "Contract not found", FELTS),
    (21, "Requested entrypoint does not exist in the contract", FELTS),
]
TRANSIENT = [
    (-32_602, "Block requested not found. Request might be querying historical state that is not available.", CALL),
    (-32_603, "invalid block height: 1234", CALL),  # HyperEVM
    (-32_019, "block is out of range", CALL),  # proxyd
    (-32_000, "missing trie node 0ab1 (path ) state 0x1 is not available", CALL),  # geth
    (-32_000, "historical state 0ab1 is not available", CALL),
    (-32_000, "header not found", CALL),
    (-32_000, "header for hash not found", CALL),
    (-32_001, "Unknown block", CALL),  # erigon, besu
    (-32_000, "block not found: 0x10", CALL),
    (-32_000, "state already pruned", CALL),
    (4_444, "pruned history unavailable", CALL),
    (-32_000, "world state unavailable", CALL),  # besu
    (-32_002, "No state available for block 0x12", CALL),  # nethermind
    (-32_011, "no backends available for method", CALL),
    (-32_011, "no backend is currently healthy to serve traffic", BATCH),
    (-32_010, "backend offline", CALL),
    (-32_013, "backend returned an invalid response", CALL),
    (-32_018, "backend is currently not healthy to serve traffic", BLOCK),
    (-32_603, "Internal JSON-RPC error.", CALL),
    (-32_603, "internal server error", CHAIN_ID),
    (19, "Temporary internal error. Please retry, trace-id: 7", CALL),  # drpc
    (12, "Can't route your request to suitable provider", CALL),
    (-32_000, "service unavailable", CHAIN_ID),
    (-32_000, "Unable to complete request at this time.", CALL),
    (-32_000, "something that are new", CALL),
    (-32_602, "something that are new", BLOCK),
    (503, "something", CHAIN_ID),
    (-32_000, "block range extends beyond current head block", RANGE),  # geth, reth
    (24, "Block not found", FELTS),
    (-32_603, "Internal error", RANGE),
]
RATE = [
    (-32_005, "project ID request rate exceeded", CALL),  # Infura
    (-32_005, "limit exceeded", CHAIN_ID),
    (-32_005, "daily request count exceeded, request rate limited", RANGE),
    (-32_007, "you've reached the limit of 15 calls per second", CALL),  # QuickNode
    (-32_007, "50/second request limit reached - reduce calls per second or upgrade your account", RANGE),
    (-32_016, "over rate limit", CALL),  # Base
    (-32_017, "sender is over rate limit", CALL),
    (-32_012, "backend is over capacity", CALL),
    (-32_029, "too many requests", CALL),
    (-32_090, "Too many requests, reason: call rate limit exhausted, retry in 10s", CALL),
    (429, "Your app has exceeded its compute units per second capacity.", CALL),  # Alchemy
    (-32_000, "Your app has exceeded its compute units per second capacity.", RANGE),
    (-32_000, "exceeded maximum RPS", CALL),
    (-32_000, "too many concurrent requests", CALL),
    (-32_000, "capacity exceeded", CALL),
    (-32_001, "rate limit exceeded", CALL),
    (-32_001, "usage limit exceeded", CALL),  # 1rpc
    (15, "Too many request, try again later", CALL),  # drpc
    (-32_000, "request throttled", CALL),
    (-32_016, "over rate limit", BATCH),
    (-32_005, "rate limit reached", BATCH),
]
TIMEOUTS = [
    (30, "Request timeout on the free tier, please upgrade your tier to the paid one", CALL),  # drpc
    (-32_002, "request timed out", CALL),
    (-32_000, "execution aborted (timeout = 5s)", CALL),  # geth
    (-32_000, "execution aborted (timeout = 5s)", AGGREGATE),
    (-32_000, "context deadline exceeded", CALL),
    (-32_005, "query timeout exceeded", RANGE),  # Infura
    (-32_603, "request timed out", RANGE),
    (-32_015, "gateway timeout", CALL),  # proxyd
    (-32_000, "Query timeout exceeded. Consider reducing your block range.", RANGE),
    (30, "Request timeout on the free tier", BATCH),
]
NOT_SERVED = [
    (-32_601, "the method eth_call does not exist/is not available", CALL),
    (-32_000, "The method eth_call is not supported.", CALL),
    (-32_004, "this method is not supported", CALL),
    (-32_601, "rpc method is not whitelisted", RANGE),
    (-32_601, "Method not found", FELTS),
    (-32_000, "eth_getLogs is disabled: method disabled", BLOCK_LOGS),
    (-32_052, "API key is not allowed to access method", CALL),  # Ankr
    (-32_000, "Unauthorized: you must authenticate your request with an API key", CALL),  # Ankr
    (-32_000, "invalid project id", CALL),
    (-32_002, "archive requests require a paid plan: please upgrade your plan", CALL),
]
GONE = [
    (4_444, "pruned history unavailable", RANGE),
    (4_444, "pruned history unavailable", BLOCK_LOGS),
    (4_444, "pruned history unavailable", BLOCK),
    (-32_701, "History has been pruned for this block. To remove this error, use an archive node.", RANGE),
    (-32_000, "history has been pruned for block 17", BLOCK_LOGS),
    (-32_000, "requested block is pruned", RANGE),
]
WIDE_RANGES = [
    (-32_602, "query returned more than 10000 results"),
    (-32_005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."),  # Infura
    (-32_005, "limit exceeded"),
    (
        -32_600,
        "You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, ...",
    ),  # Alchemy
    (-32_600, "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range."),
    (-32_602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range"),
    (-32_614, "eth_getLogs is limited to a 10,000 range"),  # QuickNode
    (-32_000, "eth_getLogs is limited to a 10,000 range"),
    (35, "ranges over 10000 blocks are not supported on freetier"),  # drpc
    (-32_000, "exceed maximum block range: 5000"),  # BNB Chain
    (-32_602, "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range"),
    (-32_000, "block range is too wide"),
    (-32_000, "Block range limit exceeded. See more details at ..."),
    (-32_062, "Block range is too large"),  # Ankr
    (-32_000, "query exceeds max block range 100000"),  # reth
    (-32_000, "query exceeds max results 20000, retry with the range 1-2"),  # reth
    (-32_000, "Exceeded max range limit for eth_getLogs: 1000"),
    (-32_000, "requested too many blocks from 0 to 16777216, maximum is set to 2048"),  # avalanche
    (-32_000, "logs matched by query exceeds limit of 10000"),
    (-32_008, "response is too big"),
    (-32_020, "backend response too large"),  # proxyd
    (-32_000, "response size should not greater than 10000000 bytes"),
    (-32_000, "please limit the query to at most 1000 blocks"),
    (-32_000, "Please specify fewer addresses or narrow the block range"),
    (-32_602, "invalid block range"),
    (-32_000, "too many logs: more than 20000 logs"),
    (-32_000, "words that are new"),
    (0, ""),
]
TOO_LARGE = [
    *[(code, message, RANGE) for code, message in WIDE_RANGES],
    (31, "Batch of more than 3 requests are not allowed on free tier", BATCH),  # drpc
    (-32_014, "too many RPC calls in batch request", BATCH),  # proxyd
    (-32_600, "batch too large", BATCH),  # geth
    (-32_600, "Restricted JSON RPC method", BATCH),  # Monad
    (-32_601, "batches are not supported", BATCH),
    (-32_000, "words that are new", BATCH),
    (-32_021, "request body too large", CALL),
    (-32_000, "Request entity too large", CALL),
    (-32_000, "call exceeds the gas limit", AGGREGATE),
    (31, "Requested page size is too big", EVENTS),  # Starknet
]
OTHER = [
    (-32_602, "invalid params", CHAIN_ID),
    (-32_602, "too many arguments, want at most 2", CALL),  # geth
    (-32_000, "words that are new", CHAIN_ID),
    (-32_000, "words that are new", BLOCK_LOGS),
    (33, "The supplied continuation token is invalid or unknown", EVENTS),
]
KNOWN = [
    (kind, *each)
    for kind, table in (
        (Refusal.RESULT, RESULTS),
        (Refusal.TRANSIENT, TRANSIENT),
        (Refusal.RATE, RATE),
        (Refusal.TIMEOUT, TIMEOUTS),
        (Refusal.NOT_SERVED, NOT_SERVED),
        (Refusal.GONE, GONE),
        (Refusal.TOO_LARGE, TOO_LARGE),
        (Refusal.OTHER, OTHER),
    )
    for each in table
]


@pytest.mark.parametrize(
    ("kind", "code", "message", "attempt"), few_rows(KNOWN, 60), ids=[f"{k}: {c} {m}" for k, c, m, _ in KNOWN]
)
def test_every_known_wording_has_one_meaning(kind: Refusal, code: int, message: str, attempt: Attempt) -> None:
    assert classify_error(code, message, attempt) is kind


ALONE = Attempt("eth_call")
STATUSES = [
    (Refusal.RATE, 429, "", ALONE),
    (Refusal.RATE, 429, "", BATCH),
    (Refusal.RATE, 403, "error code: 1015 - you are being rate limited", ALONE),
    (Refusal.RATE, 200, "Too many requests from this IP", ALONE),
    (Refusal.TRANSIENT, 500, "Internal Server Error", ALONE),
    (Refusal.TRANSIENT, 502, "Bad Gateway", BATCH),
    (Refusal.TRANSIENT, 503, "", ALONE),
    (Refusal.TIMEOUT, 504, "", ALONE),
    (Refusal.TIMEOUT, 408, "", ALONE),
    *[(Refusal.EDGE, status, "", ALONE) for status in (*range(520, 525), 530)],
    *[(Refusal.EDGE, status, "", ALONE) for status in (301, 302, 307, 308)],
    (Refusal.EDGE, 200, "Attention Required!", ALONE),
    (Refusal.NOT_SERVED, 200, "This endpoint has been discontinued.", ALONE),
    (Refusal.NOT_SERVED, 401, "who are you", ALONE),
    (Refusal.NOT_SERVED, 403, "error code: 1010", ALONE),
    (Refusal.NOT_SERVED, 404, "", ALONE),
    (Refusal.NOT_SERVED, 405, "", ALONE),
    (Refusal.NOT_SERVED, 501, "", ALONE),
    (Refusal.TOO_LARGE, 413, "", ALONE),
    *[(Refusal.TOO_LARGE, status, "", BATCH) for status in (400, 404, 405, 413, 415, 422, 501)],
    (Refusal.TOO_LARGE, 403, "Restricted JSON RPC method", BATCH),
    (Refusal.NOT_SERVED, 403, "", BATCH),
    (Refusal.OTHER, 400, "Bad Request", ALONE),
]


@pytest.mark.parametrize(("kind", "status", "words", "attempt"), STATUSES)
def test_a_status_counts_where_there_is_no_json_rpc(kind: Refusal, status: int, words: str, attempt: Attempt) -> None:
    assert classify_status(status, words, attempt) is kind


def test_every_kind_has_one_treatment_and_known_wordings() -> None:
    assert set(TREATMENTS) == set(Refusal)
    assert {kind for kind, *_ in KNOWN} | {kind for kind, *_ in STATUSES} == set(Refusal)
    assert [kind for kind in Refusal if not TREATMENTS[kind].goes_on] == [Refusal.RESULT, Refusal.GONE]
    assert not any(each.for_good and each.is_repeated for each in TREATMENTS.values())


@pytest.mark.parametrize(
    ("message", "data", "pause_s"),
    [
        ("call rate limit exhausted, retry in 10s", None, 10.0),
        ("Too many requests. Try again in 250ms", None, 0.25),
        ("please wait 2 min", None, 120.0),
        ("project ID request rate exceeded", {"rate": {"backoff_seconds": 30}}, 30.0),
        ("over rate limit", {"rate": {"backoff_seconds": "soon"}}, 0.0),
        ("over rate limit", {"rate": {"backoff_seconds": float("nan")}}, 0.0),
        ("over rate limit", "0x", 0.0),
        ("retry in 99999999999999999999s", None, 0.0),
    ],
)
def test_a_pause_that_a_node_asks_for_is_read(message: str, data: object, pause_s: float) -> None:
    assert requested_pause_s(message, data) == pause_s


class ScriptedConnection:
    """Answers each exchange with the next of `replies`, and counts exchanges and requests."""

    redacted_url = "node.example"

    def __init__(self, replies: Iterator[RpcResponse | UpstreamError]) -> None:
        self._replies = replies
        self.requests: list[int] = []

    def exchange(self, body: bytes, timeout_s: float) -> RpcResponse:
        del timeout_s
        content = json.loads(body)
        self.requests.append(len(content) if isinstance(content, list) else 1)
        reply = next(self._replies)
        if isinstance(reply, UpstreamError):
            raise reply
        return reply

    def redact(self, words: str) -> str:
        return redact(words, ())

    def close(self) -> None:
        """Nothing is open."""


def random_json(rng: Random, depth: int = 0) -> Any:
    keys = ["id", "jsonrpc", "result", "error", "code", "message", "data", "rate", "backoff_seconds"]
    words = ["", "batch too large", "over rate limit", "header not found", "0x1", "retry in 1e9 s", "\0\n<b>", "7"]
    scalars = [None, True, 0, -1, 1.5, 3, 31, 429, -32_005, 4_444, 10**30, float("inf"), *words]
    if depth > 3 or rng.random() < 0.4:
        return rng.choice(scalars)
    if rng.random() < 0.3:
        return [random_json(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(keys): random_json(rng, depth + 1) for _ in range(rng.randrange(5))}


def random_replies(rng: Random) -> Iterator[RpcResponse]:
    while True:
        status = rng.choice([200, 200, 200, 201, 207, 301, 400, 403, 404, 413, 429, 500, 503, 520, 599, 0, -1])
        content = random_json(rng)
        if rng.random() < 0.3:
            content = [random_json(rng) for _ in range(rng.randrange(30))]
        yield RpcResponse(status, content, rng.choice([0, 0, 3, 10**9]), rng.choice(["", "<title>x", "a\nb"]))


def check_ends(client: JsonRpcClient, requests: list[RpcRequest], *, has_next: bool) -> None:
    """Check that there is a result for each request, or one error that says what it means."""
    failure: UpstreamError | None = None
    try:
        assert len(client.send(requests, has_next=has_next)) == len(requests)
    except UpstreamError as error:
        failure = error
    if failure:
        assert failure.message.isprintable()
        assert len(failure.message) < 220
        assert refusal_of(failure) is not None


MAX_EXCHANGES = 60
"""For 21 requests: each may take four attempts before the next one makes progress, and a batch is halved five times."""


@pytest.mark.fuzz
def test_any_reply_ends_in_results_or_one_error() -> None:
    requests = [RpcRequest("eth_call", (), is_divisible=at % 2 == 0) for at in range(20)] + [
        RpcRequest("eth_getLogs", ())
    ]
    for seed in range(examples(100, full=1_000, fuzz=3_000)):
        rng = generator(f"replies {seed}")
        connection = ScriptedConnection(random_replies(rng))
        pauses = Pauses()
        client = JsonRpcClient(connection, 1.0, 4, pauses, NodeLimits())
        check_ends(client, rng.sample(requests, rng.randrange(1, 22)), has_next=rng.random() < 0.5)
        assert len(connection.requests) <= MAX_EXCHANGES, seed
        assert all(pause_s <= 10.0 for pause_s in pauses), seed


@pytest.mark.parametrize(
    ("kind", "code", "message", "attempt"), few_rows(KNOWN, 40), ids=[f"{k}: {c} {m}" for k, c, m, _ in KNOWN]
)
def test_no_refusal_is_repeated_without_end(kind: Refusal, code: int, message: str, attempt: Attempt) -> None:
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": code, "message": message}}

    def replies() -> Iterator[RpcResponse]:
        while True:
            yield RpcResponse(200, error)

    connection = ScriptedConnection(replies())
    client = JsonRpcClient(connection, 1.0, 4, Pauses(), NodeLimits())
    request = RpcRequest(attempt.method or "eth_chainId", (), is_divisible=attempt.is_divisible)
    count = attempt.batch_requests
    if kind is Refusal.RESULT:
        assert client.send([request]) != []
        return
    with pytest.raises(UpstreamRejected) as caught:
        client.send([request] * count)
    if count == 1:
        assert refusal_of(caught.value) is kind
        allowed = 1 if not TREATMENTS[kind].is_repeated or (kind is Refusal.TIMEOUT and attempt.is_divisible) else 4
        assert len(connection.requests) <= allowed
    assert len(connection.requests) <= 8
