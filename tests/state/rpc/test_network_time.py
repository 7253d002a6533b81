"""Which clock counts: one rule over what nodes have shown, alone and with real connections to nodes on loopback."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from swapcli.core.errors import LiveUnavailable
from swapcli.core.model.network import Kind, PublicNode
from swapcli.state.rpc.network_time import NetworkTime, Sighting, judge_clock, parse_date_s
from swapcli.state.rpc.node_records import NodeRecords
from swapcli.state.rpc.public_nodes import AnyPublicNode, PublicEndpoint, open_public_node
from swapcli.state.rpc.rpc_node import RpcEndpoint, RpcNode
from tests.examples import few
from tests.state.rpc.fake_nodes import BLOCK_TIME_S, CHAIN_ID, FakeChain, FakeNode, fake_node

OFFSETS_S = (-3_600, -40, -25, 0, 30, 3_600)  # a block is up to 20 s old by the clock, and some seconds by itself
"""By how much this machine's clock is ahead."""
TOLERANCE_S = 2.0
REAL_S = 1_800_000_000
GOOD = {"a": 0, "b": 0}
"""Seconds by which the latest block of each node is behind the time."""


def seen(age_s: int, clock_ahead_s: int, *, has_date: bool, is_second_look: bool = False) -> Sighting:
    """Return what a node shows whose latest block is `age_s` old, to a machine with a wrong clock."""
    first = Sighting(5_000 - age_s // 2, REAL_S - age_s, REAL_S + clock_ahead_s, REAL_S if has_date else None)
    if not is_second_look:
        return first
    moved = 0 if age_s else 2  # what is old has halted
    return Sighting(
        number=first.number + moved // 2,
        block_s=first.block_s + moved,
        seen_at_s=first.seen_at_s + 2,
        date_s=REAL_S + 2 if has_date else None,
        earlier=first,
    )


def judged_offset_s(ages_s: dict[str, int], ahead_s: int, *, has_date: bool, looks: int = 1) -> float | None:
    nodes = {name: seen(age_s, ahead_s, has_date=has_date, is_second_look=looks > 1) for name, age_s in ages_s.items()}
    return judge_clock(nodes, BLOCK_TIME_S).offset_s


@pytest.mark.parametrize("ahead_s", OFFSETS_S)
@pytest.mark.parametrize("ages_s", few([GOOD, {"bad": 3_600, **GOOD}, {**GOOD, "bad": -500}, {"bad": 60, **GOOD}], 2))
@pytest.mark.parametrize(("has_date", "looks"), [(True, 1), (True, 2), (False, 2)])
def test_the_time_of_two_good_nodes_counts(ahead_s: int, ages_s: dict[str, int], has_date: bool, looks: int) -> None:
    assert judged_offset_s(ages_s, ahead_s, has_date=has_date, looks=looks) == pytest.approx(-ahead_s, abs=1)


@pytest.mark.parametrize("ahead_s", [offset for offset in OFFSETS_S if offset])
@pytest.mark.parametrize("has_date", [True, False])
def test_one_node_never_counts_against_the_clock(ahead_s: int, has_date: bool) -> None:
    for ages_s in ({"a": 0}, {"a": 0, "bad": 500}, {"a": 0, "bad": 500, "worse": 5_000}):
        assert judged_offset_s(ages_s, ahead_s, has_date=has_date, looks=2) is None


@pytest.mark.parametrize("ahead_s", OFFSETS_S)
@pytest.mark.parametrize(("has_date", "looks"), [(True, 1), (True, 2), (False, 1), (False, 2)])
def test_a_halted_chain_is_not_live_on_any_clock(ahead_s: int, has_date: bool, looks: int) -> None:
    halted_s = 3_600
    if not has_date and ahead_s == -3_600:
        halted_s = 4_000  # a chain that has halted for just as long as the clock is behind, only a date can show
    halted = {"a": halted_s, "b": halted_s, "c": halted_s}
    assert judged_offset_s(halted, ahead_s, has_date=has_date, looks=looks) is None


def test_without_a_date_agreement_is_not_enough() -> None:
    verdict = judge_clock({name: seen(0, 3_600, has_date=False) for name in GOOD}, BLOCK_TIME_S)
    assert (verdict.offset_s, verdict.needs_proof, verdict.nodes) == (None, True, frozenset({"a", "b"}))


def test_a_node_that_catches_up_proves_nothing() -> None:
    first = seen(3_600, 0, has_date=True)
    later = first._replace(number=first.number + 100, block_s=first.block_s + 200, seen_at_s=REAL_S + 2, earlier=first)
    assert judge_clock({"a": later, "b": later}, BLOCK_TIME_S).offset_s is None


def test_a_node_ahead_of_its_block_is_read_once_it_advances() -> None:
    first = Sighting(5_000, REAL_S, REAL_S, REAL_S + 3_600)
    assert judge_clock({"a": first}, BLOCK_TIME_S).needs_proof
    later = first._replace(number=5_001, block_s=REAL_S + 2, seen_at_s=REAL_S + 2, earlier=first)
    assert judge_clock({"a": later}, BLOCK_TIME_S).offset_s == 0.0


def test_a_boasting_node_does_not_outweigh_two() -> None:
    boasting = seen(500, 3_600, has_date=True)._replace(number=10**9)
    nodes = {"bad": boasting, **{name: seen(0, 3_600, has_date=True) for name in GOOD}}
    assert judge_clock(nodes, BLOCK_TIME_S).offset_s == -3_600


def test_a_clock_proven_wrong_needs_two_nodes_to_be_right() -> None:
    right = seen(0, 0, has_date=True)
    assert judge_clock({"a": right}, BLOCK_TIME_S).offset_s == 0.0
    assert judge_clock({"a": right}, BLOCK_TIME_S, is_clock_doubted=True).offset_s is None
    assert judge_clock({"a": right, "b": right}, BLOCK_TIME_S, is_clock_doubted=True).offset_s == 0.0


@pytest.mark.parametrize("header", ["", "yesterday", "Sat, 99 Nov 2026 17:13:48 GMT", "\0", "1800000000"])
def test_a_malformed_date_is_none(header: str) -> None:
    assert parse_date_s(header) is None


def test_a_date_is_read() -> None:
    assert parse_date_s("Fri, 15 Jan 2027 08:00:00 GMT") == REAL_S


def test_a_corrected_clock_ends_the_offset_without_a_request() -> None:
    ahead_s, monotonic_s = 3_600.0, 10.0
    network = NetworkTime(BLOCK_TIME_S, lambda: REAL_S + monotonic_s + ahead_s, lambda: monotonic_s)
    network.trust(-3_600.0)
    monotonic_s = 100.0
    assert network.offset_s == -3_600.0
    assert network.age_s(REAL_S + 90) == 10.0
    ahead_s = 0.0
    assert network.offset_s == 0.0
    assert network.is_current(REAL_S + 90)


# --- with real connections


def clock(ahead_s: float) -> Callable[[], float]:
    return lambda: time.time() + ahead_s


@contextmanager
def nodes_of(*chains: tuple[FakeChain, str], has_date: bool = True) -> Iterator[list[FakeNode]]:
    from contextlib import ExitStack

    with ExitStack() as stack:
        nodes = [stack.enter_context(fake_node(chain, kind)) for chain, kind in chains]
        for each in nodes:
            each.has_date = has_date
        yield nodes


@contextmanager
def public(nodes: Sequence[FakeNode], ahead_s: float, timeout_s: float = 2.0) -> Iterator[AnyPublicNode]:
    node = open_public_node(
        [PublicEndpoint(PublicNode(each.url), each.url) for each in nodes],
        kind=Kind.EVM,
        chain_id=CHAIN_ID,
        block_time_s=nodes[0].chain.block_time_s,
        live_timeout_s=timeout_s,
        records=NodeRecords(None, clock(ahead_s)),
    )
    try:
        yield node
    finally:
        node.close()


def running() -> FakeChain:
    return FakeChain(time.time() - 10_000)


def halted(age_s: float = 3_600.0) -> FakeChain:
    return FakeChain(time.time() - 10_000, halted_s=time.time() - age_s)


def settled_exchanges(nodes: Sequence[FakeNode]) -> int:
    """Return the number of exchanges once it stays the same: the losers of a race may still be asked."""
    before, now = -1, sum(each.exchanges for each in nodes)
    while now != before:
        time.sleep(0.1)
        before, now = now, sum(each.exchanges for each in nodes)
    return now


@pytest.mark.parametrize("ahead_s", OFFSETS_S)
@pytest.mark.parametrize("others", [(), ("stale",), ("html",)])
def test_two_good_nodes_are_read_on_any_clock(ahead_s: int, others: tuple[str, ...]) -> None:
    chain = running()
    with nodes_of(*((chain, kind) for kind in (*others, "good", "good"))) as nodes, public(nodes, ahead_s) as node:
        head = node.read_head()
        assert head.clock_offset_s == pytest.approx(-ahead_s, abs=TOLERANCE_S)
        assert abs(time.time() - head.block.timestamp) <= BLOCK_TIME_S + TOLERANCE_S
        good = nodes[len(others) :]
        assert node.host in {each.url.split("//")[1] for each in good}
        before = settled_exchanges(nodes)
        assert before <= 2 * len(nodes)
        node.read_head()
        assert settled_exchanges(nodes) == before + 1, "what is known is not asked again"


@pytest.mark.parametrize("ahead_s", [-3_600, 30])
def test_a_single_node_is_never_read_on_a_wrong_clock(ahead_s: int) -> None:
    with nodes_of((running(), "good"), (running(), "html")) as nodes, public(nodes, ahead_s) as node:
        with pytest.raises(LiveUnavailable, match="by this machine's clock") as caught:
            node.read_head()
        assert "check the clock of this machine" in str(caught.value.hint)


@pytest.mark.parametrize(("ahead_s", "has_date"), [(0, True), (3_600, True), (-3_600, True), (30, False)])
def test_a_halted_chain_is_never_read(ahead_s: int, has_date: bool) -> None:
    chain = halted()
    with (
        nodes_of((chain, "good"), (chain, "good"), has_date=has_date) as nodes,
        public(nodes, ahead_s, timeout_s=0.4) as node,
        pytest.raises(LiveUnavailable),
    ):
        node.read_head()


def test_blocks_that_advance_prove_the_time_without_a_date() -> None:
    chain = FakeChain(time.time() - 10_000, block_time_s=0.5)
    with nodes_of((chain, "good"), (chain, "good"), has_date=False) as nodes, public(nodes, 3_600) as node:
        assert node.read_head().clock_offset_s == pytest.approx(-3_600, abs=BLOCK_TIME_S + TOLERANCE_S)


def test_a_chain_that_halts_later_is_noticed() -> None:
    chain = running()
    with nodes_of((chain, "good"), (chain, "good")) as nodes, public(nodes, 3_600, timeout_s=0.4) as node:
        node.read_head()
        chain.halted_s = time.time() - 60
        with pytest.raises(LiveUnavailable):
            node.read_head()


@pytest.mark.parametrize("ahead_s", [-3_600, 0, 30])
def test_named_nodes_agree_as_public_ones_do(ahead_s: int) -> None:
    chain = running()
    with nodes_of((chain, "good"), (chain, "good")) as nodes, named(nodes, ahead_s) as node:
        assert node.read_head().clock_offset_s == pytest.approx(-ahead_s, abs=TOLERANCE_S)
        assert node.clock_offset_s == pytest.approx(-ahead_s, abs=TOLERANCE_S)
        before = settled_exchanges(nodes)
        assert before == (3 if ahead_s else 1)
        node.read_head()
        assert settled_exchanges(nodes) == before + 1


def test_a_single_named_node_and_a_halted_chain_change_no_clock() -> None:
    chain = halted()
    with nodes_of((running(), "good")) as nodes, named(nodes, 3_600) as node:
        assert node.read_head().clock_offset_s == 0.0
        assert nodes[0].exchanges == 1
    with nodes_of((chain, "good"), (chain, "good")) as nodes, named(nodes, 0) as node:
        assert node.read_head().clock_offset_s == 0.0
        before = settled_exchanges(nodes)
        node.read_head()
        assert sum(each.exchanges for each in nodes) == before + 1, "not compared again for each block"


@contextmanager
def named(nodes: Sequence[FakeNode], ahead_s: float) -> Iterator[RpcNode]:
    first, *spares = nodes
    node = RpcNode(
        [RpcEndpoint(first.url, first.url), *[RpcEndpoint(each.url, each.url) for each in spares]],
        CHAIN_ID,
        network_time=NetworkTime(0.2, clock(ahead_s)),
    )
    try:
        yield node
    finally:
        node.close()
