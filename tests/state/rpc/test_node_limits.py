"""Limits of nodes are found by backing off, kept to, remembered, and relaxed slowly."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.state.rpc.node_limits import LearnedLimit, NodeLimits
from swapcli.state.rpc.node_limits_file import NodeLimitsFile
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.node.responses import NUMBER, answer, echo_calls
from tests.chain.node.server import CHAIN_ID, SECRET, Pauses, Server, limits_requests, serving

ECHOED = [call.calldata for call in echo_calls(400)]
HOUR_S = 3_600.0
MAX_SIZE = 131_072


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as running:
        yield running


def read_sizes(limit: LearnedLimit, true_limit: int, requests: int, now_s: float = 0.0) -> list[int]:
    """Send requests of the full size to a node with that limit; return the sizes that it rejected."""
    rejected = []
    for _ in range(requests):
        size = limit.size
        if size > true_limit:
            limit.reject(size, now_s=now_s)
            rejected.append(size)
        else:
            limit.accept(size, now_s=now_s)
    return rejected


@given(st.integers(1, MAX_SIZE), st.integers(1, 12))
def test_a_limit_is_found_in_few_rejections(true_limit: int, grow_after: int) -> None:
    limit = LearnedLimit(4_096, 1, MAX_SIZE, grow_after=grow_after)
    assert len(read_sizes(limit, true_limit, 400)) <= 24
    assert true_limit * 0.7 - 1 <= limit.size <= true_limit
    assert read_sizes(limit, true_limit, 1_000) == []


@given(st.integers(1, 4_096), st.integers(1, MAX_SIZE))
def test_a_limit_that_rises_is_found_within_hours(before: int, after: int) -> None:
    limit = LearnedLimit(4_096, 1, MAX_SIZE, grow_after=8)
    read_sizes(limit, before, 400)
    for hour in range(1, 20):
        rejected = read_sizes(limit, max(before, after), 400, hour * HOUR_S)
        assert len(rejected) <= 5, "relaxed slowly"
    assert limit.size >= 0.7 * max(before, after) - 1


def test_many_events_in_some_blocks_do_not_limit_others() -> None:
    """The range becomes small where it has to, and as wide as before later."""
    limit = LearnedLimit(4_096, 1, MAX_SIZE, grow_after=8, is_constant=False)
    read_sizes(limit, 10_000, 100)
    before = limit.size
    assert 7_000 <= before <= 10_000
    read_sizes(limit, 50, 30)
    assert limit.size <= 50
    assert len(read_sizes(limit, 10_000, 200)) <= 3
    assert limit.size >= 0.7 * before


def node_at(server: Server, folder: Path | None = None) -> RpcNode:
    url = f"http://user:{SECRET}@127.0.0.1:{server.server_port}/{SECRET}?key={SECRET}"
    file = NodeLimitsFile(folder / "limits.json") if folder else None
    return RpcNode([RpcEndpoint(url, "first")], CHAIN_ID, NodePolicy(limits_file=file))


@pytest.mark.slow
def test_requests_a_second_are_learned_and_remembered(server: Server, tmp_path: Path) -> None:
    rejections: list[int] = []
    server.always = limits_requests(40, rejections)
    with closing(node_at(server, tmp_path)) as node:
        assert node.call_many(echo_calls(60), NUMBER) == ECHOED[:60]
        learned = node.limits.requests_per_s.value
    assert 10 <= learned <= 40
    assert 1 <= len(rejections) <= 6
    rejections.clear()
    time.sleep(1.0)
    with closing(node_at(server, tmp_path)) as node:
        assert node.limits.requests_per_s.value == learned
        assert node.call_many(echo_calls(45), NUMBER) == ECHOED[:45]
    # A busy machine may delay some requests until others catch up with them.
    assert len(rejections) <= 1, "the limit applies from the first request on"


def test_a_single_quote_need_not_wait_for_a_learned_rate() -> None:
    limits, pauses = NodeLimits(burst=20), Pauses()
    limits.restore({"requests_per_s": [2.0, 4.0, 0.0]})
    for _ in range(4):
        assert limits.max_requests > 2
        limits.pause_before(5, pauses, 10.0)
    assert pauses == []
    limits.pause_before(2, pauses, 10.0)
    limits.pause_before(2, pauses, 10.0)
    assert [round(each, 1) for each in pauses] == [1.0]
    assert limits.max_requests == 2


def test_the_largest_batch_is_remembered(server: Server, tmp_path: Path) -> None:
    server.max_requests = 30
    with closing(node_at(server, tmp_path)) as node:
        assert node.call_many(echo_calls(100), NUMBER) == ECHOED[:100]
    server.exchanges.clear()
    with closing(node_at(server, tmp_path)) as node:
        assert node.call_many(echo_calls(100), NUMBER) == ECHOED[:100]
    assert max(server.exchanges) <= 30


def test_limits_are_written_before_the_node_is_closed(server: Server, tmp_path: Path) -> None:
    server.max_requests = 30
    file = tmp_path / "limits.json"
    with closing(node_at(server, tmp_path)) as node:
        for calls, is_written in ((1, False), (100, True)):
            node.call_many(echo_calls(calls), NUMBER)
            assert file.exists() == is_written
        written = file.read_text()
        server.max_requests = 5
        node.call_many(echo_calls(100), NUMBER)
        assert file.read_text() == written, "not more often than every ten seconds"
    assert file.read_text() != written


def test_the_file_holds_no_part_of_the_url(server: Server, tmp_path: Path) -> None:
    server.max_requests = 30
    with closing(node_at(server, tmp_path)) as node:
        node.call_many(echo_calls(100), NUMBER)
    text = (tmp_path / "limits.json").read_text()
    assert json.loads(text)["nodes"]
    for secret in (SECRET, "127.0.0.1", str(server.server_port), "user"):
        assert secret not in text


def test_nodes_without_limits_write_no_file(server: Server, tmp_path: Path) -> None:
    with closing(node_at(server, tmp_path)) as node:
        node.call_many(echo_calls(100), NUMBER)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b'{"nodes": 3}',
        b'{"nodes": {"k": 3}}',
        b"[" * 100_000,
        b" " * (2 << 20),
        None,
    ],
)
def test_a_damaged_file_is_replaced(server: Server, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "limits.json"
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    server.max_requests = 30
    with closing(node_at(server, tmp_path)) as node:
        assert node.call_many(echo_calls(100), NUMBER) == ECHOED[:100]
    if content is not None:
        assert json.loads(file.read_bytes())["nodes"]
    assert [each.name for each in tmp_path.iterdir()] == ["limits.json"]


def test_any_remembered_values_are_safe() -> None:
    rng = Random("limits")
    values: list[object] = [None, True, "5", [], {}, -1, 0, 0.5, 1, 3, 10.0, 1e308, 10**400, float("inf"), float("nan")]
    for _ in range(2_000):
        names = ("requests_per_s", "batch_requests", "log_blocks", "aggregate_calls", "else")
        limits = NodeLimits()
        limits.restore({name: rng.choices(values, k=rng.choice((0, 2, 3, 3, 3))) for name in names})
        assert 1 <= limits.max_requests <= 200
        assert 1 <= limits.log_blocks.size <= MAX_SIZE
        assert 12 <= limits.aggregate_calls.size <= 400
        limits.log_blocks.accept(limits.log_blocks.size, now_s=1e9)
        limits.log_blocks.reject(limits.log_blocks.size, now_s=1e9)
        assert 1 <= limits.log_blocks.size <= MAX_SIZE


def test_two_programs_keep_what_the_other_has_learned(tmp_path: Path) -> None:
    file = NodeLimitsFile(tmp_path / "limits.json")
    first, second = file.load("http://a/"), file.load("http://b/")
    first.log_blocks.reject(4_096, now_s=0.0)
    second.log_blocks.reject(1_000, now_s=0.0)
    file.save({"http://a/": first})
    file.save({"http://b/": second})
    assert [file.load(f"http://{name}/").log_blocks.size for name in "abc"] == [2_048, 500, 4_096]
