"""A scan finds every event of a block range once and in order, with any limits of the node."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import UpstreamRejected, UpstreamTimeout
from swapcli.families.reading.calls import Log
from swapcli.state.rpc.log_scan import find_first_available_block, scan_logs
from swapcli.state.rpc.node import BlockHeader, LogFilter
from swapcli.testing.evm import Chain
from tests.chain.node.evm_node import EvmNode

TOPIC = "0x" + "01" * 32
HOME = "0x" + "aa" * 20


class CappedNode(EvmNode):
    """Refuses ranges of too many blocks or with too many events, as nodes do."""

    def __init__(self, blocks: list[int], max_blocks: int, max_logs: int) -> None:
        super().__init__(Chain())
        self.emitted_logs = [Log(HOME, (TOPIC,), b"", block, k) for k, block in enumerate(sorted(blocks))]
        self.max_blocks, self.max_logs = max_blocks, max_logs
        self.queries = 0
        self.known = 10**9
        self.is_down = False

    def read_block(self, number: int) -> BlockHeader | None:
        if self.is_down:
            raise UpstreamTimeout("the node did not respond in time")
        return BlockHeader(number, "", "", 0, 0) if number <= self.known else None

    def read_logs(self, query: LogFilter) -> list[Log]:
        self.queries += 1
        found = super().read_logs(query)
        if self.is_down:
            raise UpstreamTimeout("the node did not respond in time")
        if query.to_block - query.from_block >= self.max_blocks or len(found) > self.max_logs:
            raise UpstreamRejected("the node refused: too much")
        return found


@given(
    st.lists(st.integers(0, 5_000), max_size=40),
    st.integers(0, 5_000),
    st.integers(0, 5_000),
    st.integers(1, 3_000),
    st.integers(1, 10_000),
)
def test_every_event_is_found_once_and_the_ranges_meet(
    blocks: list[int], first: int, length: int, max_blocks: int, span: int
) -> None:
    node = CappedNode(blocks, max_blocks, 40)
    query = LogFilter((HOME,), (TOPIC,), first, first + length)
    node.limits.log_blocks.value = span
    scanned = list(scan_logs(node, query))
    assert [log for part in scanned for log in part.logs] == [
        log for log in node.emitted_logs if query.from_block <= log.block_number <= query.to_block
    ]
    assert scanned[-1].last == query.to_block
    ends = [part.last for part in scanned]
    assert ends == sorted(set(ends))


def test_the_range_adapts_to_the_number_of_events() -> None:
    node = CappedNode([*range(50_000, 50_400)], 10**9, 10)
    node.limits.log_blocks.value = 100
    parts = list(scan_logs(node, LogFilter((), (TOPIC,), 0, 10**6)))
    assert sum(len(part.logs) for part in parts) == 400
    assert node.queries < 250


def test_a_stopped_scan_continues_where_it_stopped() -> None:
    node = CappedNode([3, 5, 7, 11, 13], 4, 9)
    query = LogFilter((), (TOPIC,), 0, 20)
    part = next(iter(scan_logs(node, query)))
    rest = [log for each in scan_logs(node, query._replace(from_block=part.last + 1)) for log in each.logs]
    assert [log.block_number for log in (*part.logs, *rest)] == [3, 5, 7, 11, 13]


def test_an_empty_range_sends_no_request() -> None:
    node = CappedNode([], 1, 1)
    assert list(scan_logs(node, LogFilter((), (TOPIC,), 5, 4))) == []
    assert node.queries == 0


def test_refusing_a_single_block_ends_the_scan_with_the_reason() -> None:
    node = CappedNode([4, 4, 4], 10**9, 2)
    with pytest.raises(UpstreamRejected, match="the node refused: too much"):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 9)))


def test_ranges_do_not_shrink_when_the_node_is_down() -> None:
    node = CappedNode([4], 10**9, 2)
    node.is_down = True
    with pytest.raises(UpstreamTimeout):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 10**6)))
    assert node.queries == 1


def test_ranges_do_not_shrink_when_the_node_is_behind() -> None:
    node = CappedNode([4], 100, 2)
    node.known = 900
    with pytest.raises(UpstreamRejected):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 1_000)))
    assert node.queries == 1


def test_a_limit_of_the_node_is_remembered() -> None:
    node = CappedNode([*range(0, 8_000, 100)], 64, 10**9)
    parts = list(scan_logs(node, LogFilter((), (TOPIC,), 0, 8_000)))
    assert sum(len(part.logs) for part in parts) == 80
    assert node.queries < 1.2 * len(parts) + 10


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(0, 12_000))
def test_the_first_block_with_logs_is_found_in_few_requests(first: int, length: int, first_known: int) -> None:
    node = PrunedNode(first_known)
    query = LogFilter((), (TOPIC,), first, first + length)
    assert find_first_available_block(node, query) == min(max(first, first_known), query.to_block + 1)
    assert node.queries <= 14


class PrunedNode(CappedNode):
    """Has no events before block `first_known`."""

    def __init__(self, first_known: int) -> None:
        super().__init__([], 10**9, 10**9)
        self.first_known = first_known

    def read_logs(self, query: LogFilter) -> list[Log]:
        found = super().read_logs(query)
        if query.from_block < self.first_known:
            raise UpstreamRejected("the node refused: history has been pruned")
        return found
