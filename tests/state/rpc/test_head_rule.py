"""Which of several nodes is read: by hand-made blocks, at hand-made times."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.errors import StaleNode, Unreachable
from swapcli.state.rpc.head_rule import MAX_WALK, HeadRule, NodeStanding
from swapcli.state.rpc.node import BlockHeader

BLOCK_S = 2.0
START = 1_000
GENESIS_S = 1_800_000_000


def block(number: int, branch: str = "", *, fork_at: int = 0, ahead_s: int = 0) -> BlockHeader:
    """Return a block of a chain whose blocks above `fork_at` are those of a branch."""

    def name(at: int) -> str:
        return f"{branch if at > fork_at else ''}{at}"

    time_s = GENESIS_S + int(BLOCK_S * (number - START)) + ahead_s
    return BlockHeader(number, name(number), name(number - 1), time_s, 0)


class Network:
    """Nodes whose blocks a test sets, and a reader that follows the rule."""

    def __init__(self, count: int) -> None:
        self.now_s = 0.0
        self.reported: list[str] = []
        names = [f"http://host{at}" for at in range(1, count + 1)]
        self.rule = HeadRule(
            names, BLOCK_S, self.reported.append, now_s=lambda: self.now_s, clock_s=lambda: GENESIS_S + self.now_s
        )
        self.heads: list[BlockHeader | None] = [block(START)] * count
        self.branches: list[tuple[str, int]] = [("", 0)] * count
        self.walks: list[tuple[int, int, int]] = []
        self.served: list[BlockHeader] = []

    def set_heads(self, *numbers: int | None) -> None:
        """Set the latest block of each node on its branch; None is a node that is down."""
        self.heads = [
            None if number is None else block(number, branch, fork_at=fork_at)
            for number, (branch, fork_at) in zip(numbers, self.branches, strict=True)
        ]

    def look(self, index: int, *, is_read: bool = False) -> bool:
        head, highest = self.heads[index], self.rule.highest
        if head is None:
            self.rule.fail(index, Unreachable(f"http://host{index + 1} refuses connections"))
            return False

        def read_headers(first: int, last: int) -> Sequence[BlockHeader]:
            self.walks.append((index, first, last))
            branch, fork_at = self.branches[index]
            return [block(number, branch, fork_at=fork_at) for number in range(first, last + 1)]

        return self.rule.see(index, head, highest, read_headers, is_read=is_read)

    def look_at_all(self) -> None:
        for index in range(len(self.heads)):
            self.look(index)

    def read(self) -> int:
        """Read the best node as a follower does, and return which one it was."""
        tried, best = set[int](), -1
        while (index := self.rule.choose(tried, best if best >= 0 else -1)) is not None:
            tried.add(index)
            head = self.heads[index]
            if self.look(index, is_read=True) and head is not None:
                best, chosen = head.number, index
        if best < 0:
            raise self.rule.no_node()
        found = self.heads[chosen]
        assert found is not None
        self.rule.serve(chosen, found)
        self.served.append(found)
        return chosen

    def advance(self, *numbers: int | None, blocks: float = 1.0) -> int:
        """Let the time of some blocks pass, look at all nodes, and read the best."""
        self.now_s += blocks * BLOCK_S
        self.set_heads(*numbers)
        self.look_at_all()
        return self.read()


def test_the_first_node_is_read_while_it_has_the_newest_block() -> None:
    network = Network(2)
    assert [network.advance(START + at, START + at) for at in range(1, 5)] == [0] * 4
    assert network.reported == []
    assert network.walks == [], "each block names the one before it"


def test_the_highest_block_is_read_and_the_first_node_again_once_it_has_it() -> None:
    network = Network(2)
    network.advance(START, START)
    assert network.advance(START, START + 1) == 1
    assert network.advance(START + 2, START + 2) == 0
    assert network.reported == [], "a block is no fault"


def test_a_node_that_lags_is_reported_once_and_read_again_when_it_has_caught_up() -> None:
    network = Network(2)
    network.advance(START, START)
    assert [network.advance(START, START + at) for at in range(1, 5)] == [1] * 4
    assert network.rule.standings() == [NodeStanding(3, is_read=False), NodeStanding(0, is_read=True)]
    assert network.reported == ["node 1 of 2 (http://host1) is not used: its latest block 1,000 is 2 blocks behind"]
    assert network.advance(START + 5, START + 5) == 0
    assert network.reported[1:] == ["node 1 of 2 (http://host1) is used again"]


def test_a_node_that_was_down_is_read_again_at_once() -> None:
    network = Network(2)
    network.advance(START, START - 1)
    assert network.advance(None, START) == 1
    assert network.advance(START + 2, START + 1) == 0
    assert network.reported == [
        "node 1 of 2 (http://host1) is not used: http://host1 refuses connections",
        "node 1 of 2 (http://host1) is used again",
    ]


def test_a_node_that_has_never_responded_is_not_read_beside_another() -> None:
    network = Network(2)
    network.advance(START, None)
    assert network.rule.choose({0}, START) is None


def test_a_node_whose_reads_fail_rests_longer_each_time_and_no_longer_once_it_was_down() -> None:
    network = Network(2)
    network.advance(START, START)
    rests_s = []
    for _ in range(4):
        network.rule.fail_read(0, Unreachable("http://host1 closed the connection"))
        started_s = network.now_s
        while network.rule.order()[0] != 0:
            network.now_s += 0.25
        rests_s.append(network.now_s - started_s)
    assert rests_s == [1.0, 2.0, 4.0, 8.0]
    network.rule.fail_read(0, Unreachable("http://host1 closed the connection"))
    network.advance(None, START)
    assert network.advance(START, START, blocks=0.1) == 0


@pytest.mark.parametrize("ahead_s", [0, -int(1_000 * BLOCK_S)])
def test_a_claim_of_1000_more_blocks_is_never_read_and_its_node_is_dropped(ahead_s: int) -> None:
    network = Network(2)
    network.advance(START, START)
    for at in range(1, 6):
        network.now_s += BLOCK_S
        network.heads = [block(START + at), block(START + at + 1_000, ahead_s=ahead_s)]
        network.look_at_all()
        assert network.read() == 0
    reason = "no other node has block" if ahead_s else "is ahead of the clock and the other nodes"
    (line,) = network.reported
    assert line.startswith("node 2 of 2 (http://host2) is not used: ")
    assert reason in line
    assert network.rule.standings() == [NodeStanding(0, is_read=True), NodeStanding(None, is_read=False)]
    network.heads[0] = None
    network.look(0)
    with pytest.raises(StaleNode, match=f"node 1 of 2.*refuses connections; node 2 of 2.*{reason}"):
        network.read()


def test_a_long_gap_after_a_pause_is_no_claim() -> None:
    network = Network(2)
    network.advance(START, START)
    assert network.advance(START + 1_000, None, blocks=1_000.0) == 0
    assert network.walks == [(0, START, START)], "of the node that is read anyway, only the lower end is read"
    after = START + 1_000 + MAX_WALK
    assert network.advance(None, after, blocks=MAX_WALK) == 1
    assert network.walks[1:] == [(1, START + 1_001, after - 1)], "another node must lead to the served block"
    assert network.advance(after + 1_000, None, blocks=1_000.0) == 0
    assert network.walks[2:] == [(0, after, after)], "as far as that is not too far"


def test_a_first_node_that_claims_more_than_the_others_from_the_start_is_not_read() -> None:
    network = Network(2)
    network.heads = [block(START + 1_000, ahead_s=-int(1_000 * BLOCK_S)), block(START)]
    network.look_at_all()
    assert network.read() == 1


def test_a_spare_that_is_stuck_does_not_speak_against_the_first_node() -> None:
    network = Network(2)
    network.heads = [block(START), block(START - 3_000)]
    network.look_at_all()
    assert network.read() == 0


def test_blocks_that_all_nodes_make_at_once_are_read() -> None:
    network = Network(2)
    network.advance(START, START)
    network.set_heads(START + 50, START + 50)
    network.look_at_all()
    assert network.read() == 0


@pytest.mark.parametrize("higher", [0, 1, 3])
def test_a_node_on_a_fork_is_not_read_however_long(higher: int) -> None:
    network = Network(2)
    network.advance(START, START)
    network.branches[1] = ("fork", START - 2)
    for at in range(1, 6):
        assert network.advance(START + at, START + at + higher) == 0
    assert len(network.reported) == 1
    assert "node 2 of 2 (http://host2) is not used: for 3 block times, its block 1,0" in network.reported[0]
    assert "is not on the canonical chain" in network.reported[0]
    with pytest.raises(StaleNode):
        network.advance(None, START + 9)
    assert network.advance(START + 7, None) == 0


def test_two_nodes_outvote_a_first_one_on_a_fork() -> None:
    network = Network(3)
    network.advance(START, START, START)
    network.branches[0] = ("fork", START)
    read = [network.advance(*[START + at] * 3) for at in range(1, 8)]
    assert read == sorted(read)
    assert read[0] == 0
    assert read[-1] == 1


def test_of_two_nodes_the_first_is_believed_in_the_end() -> None:
    network = Network(2)
    network.advance(START, START)
    network.branches[1] = ("fork", START)
    network.advance(START, START + 1)
    read = [network.advance(START + at, START + at) for at in range(2, 8)]
    assert read[0] == 1
    assert read[-1] == 0


def test_a_reorganization_is_followed_once_no_node_keeps_the_old_branch() -> None:
    network = Network(2)
    network.advance(START, START)
    network.branches[0] = ("new", START - 3)
    assert network.advance(START + 1, START, blocks=0.1) == 1
    network.branches[1] = ("new", START - 3)
    assert network.advance(START + 1, START + 1, blocks=0.1) == 0
    assert network.served[-1] == block(START + 1, "new", fork_at=START - 3)
    assert network.reported == []


def test_a_reorganization_is_followed_at_once_past_a_node_that_lags() -> None:
    network = Network(2)
    network.advance(START, START - 5)
    network.branches[0] = ("new", START - 2)
    assert network.advance(START + 1, START - 4) == 0
    assert network.served[-1].hash == f"new{START + 1}"


def test_a_node_that_is_stuck_on_an_old_branch_is_left() -> None:
    network = Network(2)
    network.advance(START, START)
    network.branches[1] = ("new", START - 2)
    read = [network.advance(START, START + at) for at in range(1, 6)]
    assert read[0] == 0
    assert read[-1] == 1


def test_a_single_branch_is_not_taken_because_all_others_have_halted() -> None:
    network = Network(3)
    network.advance(START, START, START)
    network.branches[2] = ("new", START - 2)
    assert [network.advance(START, START, START + at) for at in range(1, 8)] == [0] * 7


def test_a_block_of_the_future_does_not_count() -> None:
    network = Network(2)
    network.advance(START, START)
    for at in range(1, 6):
        network.now_s += BLOCK_S
        network.heads = [block(START + at), block(START + at, ahead_s=3_600)]
        network.look_at_all()
        assert network.read() == 0
    assert "ahead of the clock and the other nodes" in network.reported[0]
    network.heads[0] = None
    network.look(0)
    with pytest.raises(StaleNode):
        network.read()


def test_a_slow_clock_drops_no_node() -> None:
    network = Network(2)
    network.now_s = -3_600.0
    network.advance(START, START - 1)
    assert [network.advance(START + at, START + at - 1) for at in range(1, 6)] == [0] * 5
    assert network.reported == []
