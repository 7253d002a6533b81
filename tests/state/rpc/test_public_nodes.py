"""Public nodes as one: one good node among bad ones, in every place, and machines without a network."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import combinations
from pathlib import Path

import pytest

from swapcli.core.errors import ChainReorganized, LiveUnavailable, RequestBudgetSpent
from swapcli.core.model.network import Kind, PublicNode
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.multicall import AheadReading
from swapcli.state.rpc.node import AheadCalls
from swapcli.state.rpc.node_limits_file import NodeLimitsFile
from swapcli.state.rpc.node_records import NodeRecords
from swapcli.state.rpc.public_nodes import AnyPublicNode, PublicEndpoint, PublicRpcNode, open_public_node
from tests.examples import few
from tests.state.rpc.fake_nodes import (
    ALSO_GOOD,
    BLOCK_TIME_S,
    CHAIN_ID,
    KINDS,
    UNPROVEN,
    FakeChain,
    FakeNode,
    fake_node,
    hash_of,
    word_at,
)

TIMEOUT_S = 2.0
HEDGE_DELAY_S = 0.5
GOOD_S = 0.05
MARGIN_S = 0.35
"""For threads and servers in Python on a machine with other work."""
CONTRACT = "0x" + "12" * 20
SAMPLE = (
    ("hangs", "behind", "html", "good"),
    ("good", "another chain", "without state", "rate limited"),
    ("other hashes", "good", "closes connections", "no blocks"),
    ("stale", "TLS", "good", "no batches"),
    ("no gas price", "good"),
)


def endpoints(nodes: Sequence[FakeNode], quote_requests: int | None = None) -> list[PublicEndpoint]:
    return [PublicEndpoint(PublicNode(node.url, quote_requests=quote_requests), node.url) for node in nodes]


@contextmanager
def public(
    nodes: Sequence[FakeNode],
    records: NodeRecords | None = None,
    quote_requests: int | None = None,
    report: Callable[[str], object] = bool,
) -> Iterator[AnyPublicNode]:
    node = open_public_node(
        endpoints(nodes, quote_requests),
        kind=Kind.EVM,
        chain_id=CHAIN_ID,
        block_time_s=BLOCK_TIME_S,
        live_timeout_s=TIMEOUT_S,
        records=records,
        report=report,
    )
    try:
        yield node
    finally:
        node.close()


@contextmanager
def zoo(*kinds: str, delay_s: float = GOOD_S) -> Iterator[list[FakeNode]]:
    chain = FakeChain(time.time() - 10_000)
    with ExitStack() as stack:
        yield [stack.enter_context(fake_node(chain, kind, delay_s if kind == "good" else 0.0)) for kind in kinds]


def check_quote(nodes: Sequence[FakeNode], records: NodeRecords | None = None) -> float:
    """Read a block and state at it; return the seconds that it took."""
    reported: list[str] = []
    started_s = time.monotonic()
    with public(nodes, records, report=reported.append) as node:
        head = node.read_head()
        word = node.call(CONTRACT, b"\x01", head.block)
        host = node.host
    elapsed_s = time.monotonic() - started_s
    chain = nodes[0].chain
    assert chain.head - 1 <= head.block.number <= chain.head
    assert head.block.hash == hash_of(head.block.number)
    assert word == word_at(head.block.number)
    assert host in {each.url.split("//")[1] for each in nodes if each.kind in ("good", *ALSO_GOOD)}
    for each in nodes:
        assert each.exchanges <= 12, f"{each.kind}: {each.exchanges} requests"
    return elapsed_s


def check_zoo(kinds: Sequence[str]) -> None:
    with zoo("good") as alone:
        good_s = check_quote(alone)
    with zoo(*kinds) as nodes:
        assert check_quote(nodes) <= 2 * good_s + 2 * HEDGE_DELAY_S + MARGIN_S


@pytest.mark.parametrize("kinds", SAMPLE)
def test_one_good_node_of_four_is_enough(kinds: Sequence[str]) -> None:
    check_zoo(kinds)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("bad", [KINDS[at : at + 3] for at in range(0, len(KINDS) - 2, 3)] + [KINDS[-3:]])
def test_one_good_node_is_enough_in_every_place(bad: tuple[str, ...], place: int) -> None:
    check_zoo((*bad[:place], "good", *bad[place:]))


@pytest.mark.slow
@pytest.mark.parametrize("bad", list(combinations(KINDS, 2))[::5])
def test_a_good_node_behind_any_two_others(bad: tuple[str, ...]) -> None:
    check_zoo((*bad, "good"))


def calls_ahead(node: AnyPublicNode) -> AheadCalls:
    reading = AheadReading.of(node, [ContractCall(CONTRACT, b"\x01")], "0x" + "ca" * 20)
    return AheadCalls(reading.packed, reading.proves)


@pytest.mark.parametrize("kind", UNPROVEN)
def test_data_of_another_state_does_not_prove_a_node(kind: str) -> None:
    """The node is the first to respond, and returns data for all calls that come with the latest block."""
    with zoo(kind, "good") as nodes, public(nodes) as node:
        assert isinstance(node, PublicRpcNode)
        head, _ = node.read_head_ahead(calls_ahead(node))
        assert nodes[1].url.endswith(node.host)
        assert node.call(CONTRACT, b"\x01", head.block) == word_at(head.block.number)
        assert nodes[0].exchanges == 2, "it was asked for the state of its block, and did not have it"


def test_a_node_that_has_run_the_calls_needs_no_other_proof() -> None:
    with zoo("good", "good") as nodes, public(nodes) as node:
        assert isinstance(node, PublicRpcNode)
        node.read_head_ahead(calls_ahead(node))
        winner = next(each for each in nodes if each.url.endswith(node.host))
        assert winner.exchanges == 1


@pytest.mark.parametrize("kind", few(["html", "refused connection", "another chain", "no blocks", "stale"], 2))
def test_without_a_good_node_each_reason_is_named(kind: str) -> None:
    with zoo(kind, kind, "hangs") as nodes, public(nodes) as node:
        started_s = time.monotonic()
        with pytest.raises(LiveUnavailable) as caught:
            node.read_head()
        assert time.monotonic() - started_s < TIMEOUT_S + MARGIN_S
        assert [host for host, _ in caught.value.failures] == [each.url.split("//")[1] for each in nodes]
        assert all(reason and "http" not in reason for _, reason in caught.value.failures)
        assert not caught.value.is_network_unreachable
        assert sum(each.exchanges for each in nodes) <= 12


def test_the_next_run_starts_with_nodes_that_answered(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    with zoo("hangs", "html", "stale", "good") as nodes:
        check_quote(nodes, NodeRecords(path))
        before = [each.exchanges for each in nodes[:3]]
        elapsed_s = check_quote(nodes, NodeRecords(path))
        assert elapsed_s < HEDGE_DELAY_S
        assert sum(each.exchanges for each in nodes[:3]) <= sum(before) + 1
        text = path.read_text()
        assert "127.0.0.1" not in text


@pytest.mark.parametrize("damage", few(["", "[]", '{"nodes": 3}', "{", '{"nodes": {"x": {"failures": -1}}}', "\0"], 3))
def test_a_damaged_file_of_records_changes_nothing(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "node-limits.json"
    path.write_text(damage)
    with zoo("html", "good") as nodes:
        check_quote(nodes, NodeRecords(path))


def test_records_and_limits_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    limits = NodeLimitsFile(path).load("http://node.example/key")
    limits.batch_requests.reject(100, now_s=time.time())
    NodeLimitsFile(path).save({"http://node.example/key": limits})
    with zoo("html", "good") as nodes:
        check_quote(nodes, NodeRecords(path))
        records = NodeRecords(path)
        records.load([each.url.split("//")[1] for each in nodes])
        assert [records.record_of(each.url.split("//")[1]).failures for each in nodes] == [1, 0]
    assert NodeLimitsFile(path).load("http://node.example/key").batch_requests.size == 50


def test_what_the_winner_refuses_is_asked_of_the_next_node() -> None:
    with zoo("good", "good", delay_s=0.02) as nodes, public(nodes) as node:
        head = node.read_head()
        winner = next(each for each in nodes if each.url.endswith(node.host))
        winner.kind = "without state"
        assert node.call(CONTRACT, b"\x01", head.block) == word_at(head.block.number)
        assert not winner.url.endswith(node.host)
        winner.kind = "good"


def test_a_node_with_another_block_of_that_number_is_refused() -> None:
    with zoo("good", "good", delay_s=0.02) as nodes, public(nodes) as node:
        head = node.read_head()
        winner = next(each for each in nodes if each.url.endswith(node.host))
        other = next(each for each in nodes if each is not winner)
        winner.kind, other.kind = "html", "other hashes"
        with pytest.raises(ChainReorganized):
            node.call(CONTRACT, b"\x01", head.block)


def test_requests_stay_within_the_budget_of_a_quote() -> None:
    with zoo("good") as nodes, public(nodes, quote_requests=5) as node:
        head = node.read_head()
        for _ in range(node.requests_left):
            node.call(CONTRACT, b"\x01", head.block)
        with pytest.raises(RequestBudgetSpent):
            node.call(CONTRACT, b"\x01", head.block)
        assert nodes[0].exchanges == 5


def test_retries_and_hedges_count_in_the_budget() -> None:
    with zoo("rate limited") as nodes, public(nodes, quote_requests=3) as node:
        with pytest.raises(LiveUnavailable):
            node.read_head()
        assert nodes[0].exchanges <= 3


def never_resolves(host: str) -> list[tuple[int, object]]:
    threading.Event().wait(5.0)
    raise socket.gaierror(socket.EAI_AGAIN, f"Temporary failure in name resolution of {host}")


def no_name(host: str) -> list[tuple[int, object]]:
    raise socket.gaierror(socket.EAI_AGAIN, f"Temporary failure in name resolution of {host}")


def unreachable_node(
    path: Path | None,
    resolve: Callable[[str], list[tuple[int, object]]],
    now_s: float = 1e9,
    *,
    is_required: bool = False,
) -> AnyPublicNode:
    names = [PublicEndpoint(PublicNode(f"https://{name}.invalid"), f"https://{name}.invalid") for name in "abc"]
    return open_public_node(
        names,
        kind=Kind.EVM,
        chain_id=CHAIN_ID,
        block_time_s=BLOCK_TIME_S,
        live_timeout_s=1.0,
        is_required=is_required,
        records=NodeRecords(path, lambda: now_s),
        resolve_name=resolve,
    )


@pytest.mark.parametrize("resolve", [never_resolves, no_name])
def test_an_unreachable_network_is_noticed_and_remembered(
    tmp_path: Path, resolve: Callable[[str], list[tuple[int, object]]]
) -> None:
    path = tmp_path / "node-limits.json"
    asked: list[str] = []

    def counted(host: str) -> list[tuple[int, object]]:
        asked.append(host)
        return resolve(host)

    for now_s, is_remembered in ((1e9, False), (1e9 + 30, True), (1e9 + 61, False)):
        asked.clear()
        started_s = time.monotonic()
        with pytest.raises(LiveUnavailable) as caught:
            unreachable_node(path, counted, now_s).read_head()
        # A name that never resolves takes 5 s, and a live price may take 1 s: neither is waited for.
        assert time.monotonic() - started_s < 0.9
        assert bool(asked) != is_remembered
        assert caught.value.is_network_unreachable
        assert ("30 s ago" in caught.value.message) == is_remembered
        assert ("--live" in str(caught.value.hint)) == is_remembered


def test_a_required_price_waits_and_ignores_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "node-limits.json"
    with pytest.raises(LiveUnavailable):
        unreachable_node(path, no_name).read_head()
    started_s = time.monotonic()
    with pytest.raises(LiveUnavailable) as caught:
        unreachable_node(path, never_resolves, is_required=True).read_head()
    assert 0.9 < time.monotonic() - started_s < 1.0 + MARGIN_S
    assert "ago" not in caught.value.message


def test_losers_do_not_delay_the_end_of_the_process() -> None:
    with zoo("hangs", "good", "hangs") as nodes:
        program = f"""
import json, sys, time
from swapcli.core.model.network import Kind, PublicNode
from swapcli.state.rpc.public_nodes import PublicEndpoint, open_public_node
urls = {json.dumps([each.url for each in nodes])}
node = open_public_node([PublicEndpoint(PublicNode(url), url) for url in urls], kind=Kind.EVM, chain_id={CHAIN_ID},
                        block_time_s={BLOCK_TIME_S})
print(node.read_head().block.number, node.host, flush=True)
print(time.time(), flush=True)
node.close()
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20, check=True)
        ended_s = time.time()
        assert nodes[1].url.endswith(done.stdout.split()[1])
        assert ended_s - float(done.stdout.split()[2]) < 0.5
        assert not done.stderr


def test_a_later_head_asks_the_winner_first() -> None:
    with zoo("good", "good", "good", delay_s=0.02) as nodes, public(nodes) as node:
        node.read_head()
        winner = next(each for each in nodes if each.url.endswith(node.host))
        before = {each.url: each.exchanges for each in nodes}
        for _ in range(3):
            node.read_head()
        assert all(each.exchanges == before[each.url] for each in nodes if each is not winner)
        assert winner.exchanges == before[winner.url] + 3
