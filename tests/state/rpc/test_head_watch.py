"""Nodes that are watched while a follower reads them: real HTTP, and a chain whose blocks are short."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import enumerate as all_threads

import pytest

from swapcli.core.errors import StaleNode, UpstreamError
from swapcli.families.reading.calls import ContractCall
from swapcli.state.rpc.failover import FailoverClient
from swapcli.state.rpc.head_rule import HeadRule, NodeStanding
from swapcli.state.rpc.head_source import PollingHeads
from swapcli.state.rpc.head_watch import WatchedHeads
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.json_rpc_client import JsonRpcClient, RpcRequest
from swapcli.state.rpc.network_time import NetworkTime
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.state.rpc.fake_nodes import CHAIN_ID, FakeChain, FakeNode, fake_node, word_at
from tests.support.waiting import until

BLOCK_S = 0.25
TIMEOUT_S = 20.0
CALL = ContractCall("0x" + "11" * 20, b"\x01")


class Follower:
    """Reads the latest block as a service does, and a call at it. `numbers` are the blocks that it has read so far."""

    def __init__(self, nodes: list[FakeNode], *, min_period_s: float, timeout_s: float = TIMEOUT_S) -> None:
        self.chain, self.nodes = nodes[0].chain, nodes
        self.reported: list[str] = []
        self.numbers: list[int] = []
        policy = NodePolicy(timeout_s=timeout_s, report=self.reported.append)
        block_time_s = self.chain.block_time_s
        self.node = RpcNode(
            [RpcEndpoint(each.url, each.url) for each in nodes],
            CHAIN_ID,
            policy,
            network_time=NetworkTime(block_time_s),
        )
        self.heads = self.node.watch_heads(PollingHeads(block_time_s), min_period_s=min_period_s)

    def step(self) -> bool:
        """Wait for a block and read it. Return whether that succeeded."""
        self.heads.wait(self.heads.poll_s, self.numbers[-1] if self.numbers else None)
        try:
            block = self.node.read_head().block
            answer = self.node.call(CALL.to, CALL.calldata, block)
        except UpstreamError:
            return False
        assert answer == word_at(block.number)
        if not self.numbers or block.number > self.numbers[-1]:
            self.numbers.append(block.number)
        return True

    def follow(self, seconds: float) -> None:
        ends_s = time.monotonic() + seconds
        while time.monotonic() < ends_s:
            self.step()

    def standings(self) -> list[NodeStanding]:
        assert isinstance(self.heads, WatchedHeads)
        return self.heads.standings()

    @property
    def lag(self) -> int:
        """How many blocks the last one that was read is behind the chain."""
        return self.chain.head - (self.numbers[-1] if self.numbers else 0)

    def time_until(self, condition: Callable[[], object], max_s: float = 20.0) -> float:
        """Follow until there is what is expected, and return the seconds that took."""
        started_s = time.monotonic()
        while not condition():
            assert time.monotonic() - started_s < max_s
            self.step()
        return time.monotonic() - started_s


@contextmanager
def following(*kinds: str, block_s: float = BLOCK_S, min_period_s: float = BLOCK_S) -> Iterator[Follower]:
    with ExitStack() as stack:
        chain = FakeChain(block_time_s=block_s)
        nodes = [stack.enter_context(fake_node(chain, kind)) for kind in kinds]
        follower = Follower(nodes, min_period_s=min_period_s)
        stack.callback(follower.node.close)
        stack.callback(follower.heads.close)
        yield follower


def test_a_spare_serves_only_while_the_first_node_does_not() -> None:
    with following("good", "behind") as follower:
        first = follower.nodes[0]
        follower.time_until(lambda: len(follower.numbers) > 3)
        first.kind = "bad gateway"
        before = follower.numbers[-1]
        follower.time_until(lambda: follower.numbers[-1] > before)
        before = follower.numbers[-1]
        first.kind = "good"
        follower.time_until(lambda: follower.lag <= 1 and follower.numbers[-1] > before)
        first_url = f"node 1 of 2 ({first.url})"
        assert [line for line in follower.reported if first_url in line] == [
            f"{first_url} is not used: {first.url} responded with status 521: error code: 521",
            f"{first_url} is used again",
        ]
        assert follower.numbers == sorted(set(follower.numbers))


def test_a_first_node_that_lags_is_left_and_one_of_another_chain_never_read() -> None:
    with following("behind", "another chain", "good") as follower:
        follower.time_until(lambda: follower.numbers and follower.lag <= 1)
        good = follower.nodes[2]
        until(lambda: any(f"node 2 of 3 ({follower.nodes[1].url}) is not used" in line for line in follower.reported))
        assert follower.node.redacted_url == good.url
        follower.time_until(lambda: [each.lag for each in follower.standings()] in ([5, None, 0], [4, None, 0]))


def test_nodes_are_asked_once_per_block_time_and_no_longer_after_the_end() -> None:
    earlier = set(all_threads())  # of other tests
    with following("good", "good") as follower:
        follower.step()
        spare = follower.nodes[1]
        before, started_s = spare.newest_asked, time.monotonic()
        while time.monotonic() - started_s < 8 * BLOCK_S:  # reading nothing, which a slow first node sends to the spare
            follower.heads.wait(BLOCK_S)
        assert 2 < spare.newest_asked - before <= (time.monotonic() - started_s) / BLOCK_S + 1
    until(lambda: not [each for each in all_threads() if each.name.startswith("watcher for") and each not in earlier])


def test_no_node_is_read_if_one_does_not_count_and_the_other_is_of_another_chain() -> None:
    chain = FakeChain()
    with fake_node(chain, "good") as first, fake_node(chain, "another chain") as second:
        urls = first.url, second.url
        clients = [JsonRpcClient(HttpConnection(url, url), TIMEOUT_S, 1, time.sleep) for url in urls]
        client = FailoverClient(clients, CHAIN_ID, print)
        client.rule = rule = HeadRule(urls, BLOCK_S, print)
        now_s = int(time.time())
        for number, reached in ((1, 1), (1_000_000, 1)):
            head = BlockHeader(number, f"{number}", f"{number - 1}", now_s, 0)
            rule.see(0, head, reached, lambda *_: [])
            rule.see(1, BlockHeader(1, "1", "0", now_s, 0), reached, lambda *_: [])
            if number == 1:
                rule.serve(0, head)
        assert rule.is_doubted(0)
        with pytest.raises(StaleNode, match=r"^no node can be used: ") as stale:
            client.send([RpcRequest("eth_gasPrice", ())])
        assert f"({first.url}): no other node has block 1,000,000; " in stale.value.message
        assert stale.value.message.endswith(f"({second.url}): {second.url} is a node of a different chain")
        client.close()


def test_a_node_alone_is_not_watched() -> None:
    with following("good") as follower:
        assert isinstance(follower.heads, PollingHeads)
        follower.time_until(lambda: len(follower.numbers) > 2)


def test_a_node_that_hangs_is_left_before_its_exchange_has_ended() -> None:
    with following("good", "good") as follower:
        follower.time_until(lambda: len(follower.numbers) > 3)
        follower.nodes[0].kind = "hangs"
        before = follower.numbers[-1]
        assert follower.time_until(lambda: follower.numbers[-1] > before) < TIMEOUT_S / 2
        assert follower.node.redacted_url == follower.nodes[1].url


@pytest.mark.slow
def test_at_most_one_block_is_missing_three_seconds_after_a_failure_of_five() -> None:
    with following("good", "behind", block_s=1.0, min_period_s=1.0) as follower:
        first = follower.nodes[0]
        follower.time_until(lambda: len(follower.numbers) > 3)
        first.kind = "bad gateway"
        follower.follow(5.0)
        first.kind = "good"
        follower.follow(3.0)
        assert follower.lag <= 1
        assert follower.numbers == sorted(set(follower.numbers))


@pytest.mark.slow
def test_a_node_that_was_down_for_16_seconds_is_read_within_two() -> None:
    with following("good", "refused connection", block_s=1.0, min_period_s=1.0) as follower:
        first = follower.nodes[0]
        follower.time_until(lambda: len(follower.numbers) > 3)
        first.kind = "bad gateway"
        follower.follow(16.0)
        first.kind, before = "good", follower.numbers[-1]
        assert follower.time_until(lambda: follower.numbers[-1] > before) < 2.0


@pytest.mark.slow
def test_a_node_that_begins_to_lag_is_left_within_three_seconds() -> None:
    with following("good", "good", block_s=1.0, min_period_s=1.0) as follower:
        first, spare = follower.nodes
        follower.time_until(lambda: len(follower.numbers) > 3)
        first.kind = "behind"
        assert follower.time_until(lambda: follower.node.redacted_url == spare.url) < 3.0
        follower.follow(3.0)
        assert follower.lag <= 1
