"""Events over any range of blocks are all found, once and in order, whatever the node's limits are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.log_scan import find_first_available_block, scan_logs
from swapcli.chain.node import BlockHeader, Log, LogFilter
from swapcli.errors import UpstreamRejected, UpstreamTimeout
from tests.chain.node.evm_node import EvmNode
from tests.contracts.evm import Chain

TOPIC = "0x" + "01" * 32
HOME = "0x" + "aa" * 20


class Limited(EvmNode):
    """Refuses ranges of too many blocks or with too many events, as nodes do."""

    def __init__(self, blocks: list[int], most_blocks: int, most_logs: int) -> None:
        super().__init__(Chain())
        self.kept = [Log(HOME, (TOPIC,), b"", block, k) for k, block in enumerate(sorted(blocks))]
        self.most_blocks, self.most_logs = most_blocks, most_logs
        self.queries = 0
        self.known = 10**9
        self.is_down = False

    def block(self, number: int) -> BlockHeader | None:
        if self.is_down:
            raise UpstreamTimeout("the node did not answer in time")
        return BlockHeader(number, "", "", 0, 0) if number <= self.known else None

    def logs(self, query: LogFilter) -> list[Log]:
        self.queries += 1
        found = super().logs(query)
        if self.is_down:
            raise UpstreamTimeout("the node did not answer in time")
        if query.to_block - query.from_block >= self.most_blocks or len(found) > self.most_logs:
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
    blocks: list[int], first: int, length: int, most_blocks: int, span: int
) -> None:
    node = Limited(blocks, most_blocks, 40)
    query = LogFilter((HOME,), (TOPIC,), first, first + length)
    scanned = list(scan_logs(node, query, span))
    assert [log for part in scanned for log in part.logs] == [
        log for log in node.kept if query.from_block <= log.block_number <= query.to_block
    ]
    assert scanned[-1].last == query.to_block
    ends = [part.last for part in scanned]
    assert ends == sorted(set(ends))


def test_the_range_grows_where_nothing_happens_and_shrinks_where_much_does() -> None:
    node = Limited([*range(50_000, 50_400)], 10**9, 10)
    parts = list(scan_logs(node, LogFilter((), (TOPIC,), 0, 10**6), 100))
    assert sum(len(part.logs) for part in parts) == 400
    assert node.queries < 250


def test_whoever_stops_goes_on_where_it_stopped() -> None:
    node = Limited([3, 5, 7, 11, 13], 4, 9)
    query = LogFilter((), (TOPIC,), 0, 20)
    part = next(iter(scan_logs(node, query)))
    rest = [log for each in scan_logs(node, query._replace(from_block=part.last + 1)) for log in each.logs]
    assert [log.block_number for log in (*part.logs, *rest)] == [3, 5, 7, 11, 13]


def test_an_empty_range_asks_nothing() -> None:
    node = Limited([], 1, 1)
    assert list(scan_logs(node, LogFilter((), (TOPIC,), 5, 4))) == []
    assert node.queries == 0


def test_a_node_that_refuses_a_single_block_is_given_up_with_its_reason() -> None:
    node = Limited([4, 4, 4], 10**9, 2)
    with pytest.raises(UpstreamRejected, match="the node refused: too much"):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 9)))


def test_a_node_that_is_down_is_not_asked_for_ever_smaller_ranges() -> None:
    node = Limited([4], 10**9, 2)
    node.is_down = True
    with pytest.raises(UpstreamTimeout):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 10**6)))
    assert node.queries == 1


def test_a_node_that_has_not_got_so_far_is_not_asked_for_smaller_ranges() -> None:
    node = Limited([4], 100, 2)
    node.known = 900
    with pytest.raises(UpstreamRejected):
        list(scan_logs(node, LogFilter((), (TOPIC,), 0, 1_000)))
    assert node.queries == 1


def test_a_limit_of_the_node_is_not_tried_at_every_range() -> None:
    node = Limited([*range(0, 8_000, 100)], 64, 10**9)
    parts = list(scan_logs(node, LogFilter((), (TOPIC,), 0, 8_000)))
    assert sum(len(part.logs) for part in parts) == 80
    assert node.queries < 1.2 * len(parts) + 10


@given(st.integers(0, 5_000), st.integers(0, 5_000), st.integers(0, 12_000))
def test_where_a_node_begins_to_remember_is_found_by_few_questions(first: int, length: int, remembered: int) -> None:
    node = Forgetful(remembered)
    query = LogFilter((), (TOPIC,), first, first + length)
    assert find_first_available_block(node, query) == min(max(first, remembered), query.to_block + 1)
    assert node.queries <= 14


class Forgetful(Limited):
    """Knows no events before a block."""

    def __init__(self, remembered: int) -> None:
        super().__init__([], 10**9, 10**9)
        self.remembered = remembered

    def logs(self, query: LogFilter) -> list[Log]:
        found = super().logs(query)
        if query.from_block < self.remembered:
            raise UpstreamRejected("the node refused: history has been pruned")
        return found
