"""Pools that change without events are sampled in every step, and all are read again now and then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from swapcli.core.encoding.abi import encode_word
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.pool import Pool
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead, LogFilter, block_number
from swapcli.state.store import Store
from swapcli.state.sync import follow
from tests.examples import but_slow, few
from tests.state.store.build import TOKENS, create, pool
from tests.support.single_node import SingleNode

SAMPLE, MANY, MIN_BLOCKS_BETWEEN_FULL_READS = 8, 1_000, 100
HOUR_S, LONGEST_GAP_S = 3_600, 600


class PairNode(SingleNode):
    """A node with pairs of equal reserves, without events; each call returns a new block."""

    redacted_url = "a node in process"

    def __init__(self) -> None:
        super().__init__()
        self.number, self.reserve, self.block_s = 0, 10**18, 1
        self.requested = 0
        self.read: set[str] = set()

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        del tag, code_of
        self.number += 1
        return ChainHead(self._block(self.number), 1)

    def read_block(self, number: int) -> BlockHeader | None:
        return self._block(number)

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        return self.call_many([ContractCall(to, calldata)], at)[0]

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        if not calls[0].to:  # code that returns the number of the block that it runs on
            return [encode_word(block_number(at))]
        assert block_number(at) == self.number
        assert {call.calldata for call in calls} == {encode_call("getReserves()")}
        self.requested += len(calls)
        self.read |= {call.to for call in calls}
        return [2 * encode_word(self.reserve)] * len(calls)

    def read_blooms(self, first: int, last: int) -> list[int]:
        return [0] * (last - first + 1)

    def read_logs(self, query: LogFilter) -> list[Log]:
        assert query.to_block == self.number
        return []

    def _block(self, number: int) -> BlockHeader:
        return BlockHeader(number, f"0x{number:x}", f"0x{number - 1:x}", number * self.block_s, 0)


def pools_by_reserve(store: Store) -> dict[int, list[Pool]]:
    """Return the pools of the store by their reserves."""
    grouped: dict[int, list[Pool]] = {}
    for each in store.read_market().pools.values():
        grouped.setdefault(each.reserves[0], []).append(each)  # type: ignore[attr-defined]
    return grouped


@pytest.fixture
def node() -> PairNode:
    return PairNode()


@pytest.fixture(params=but_slow([SAMPLE * 2, MANY - 1, MANY], MANY - 1))
def store(request: pytest.FixtureRequest, node: PairNode, tmp_path: Path) -> Iterator[Store]:
    with create(tmp_path / "store") as opened:
        block = node.read_head().block
        with opened.write_block(block.number, block.hash, block.timestamp) as writer:
            writer.put_tokens(TOKENS)
            writer.put_pools([pool(number, 1) for number in range(request.param)])
        yield opened


def test_pools_changed_without_events_refresh_their_protocol(node: PairNode, store: Store) -> None:
    """The sampled ones are then read at every block, as no event of theirs explains the change."""
    count = len(store.read_market().pools)
    unexplained: set[str] = set()
    for change in range(1, 4):
        node.reserve += change
        advance = follow(store, node)
        assert advance
        is_whole = count < MANY or change == 1
        assert set(advance.changed) == unexplained
        assert len(advance.changed_without_event) == (count - len(unexplained) if is_whole else SAMPLE)
        assert len(pools_by_reserve(store)[node.reserve]) == (count if is_whole else SAMPLE + len(unexplained))
        assert 0 < len(advance.unexplained) <= SAMPLE
        unexplained |= set(advance.unexplained)
        assert set(store.inventory.unexplained_pools()) == unexplained
    node.number += MIN_BLOCKS_BETWEEN_FULL_READS
    node.reserve += 9
    assert follow(store, node)
    assert list(pools_by_reserve(store)) == [node.reserve]


def test_an_unchanged_protocol_costs_only_the_sample(node: PairNode, store: Store) -> None:
    for _ in range(5):
        before = node.requested
        advance = follow(store, node)
        assert advance
        assert (advance.changed, advance.changed_without_event) == ((), ())
        assert node.requested - before <= SAMPLE


@pytest.mark.parametrize("block_s", few([20, 400, 700], 1))
def test_every_pool_is_read_again_within_an_hour_of_following(node: PairNode, store: Store, block_s: int) -> None:
    """Steps more than ten minutes apart read every pool within six steps."""
    node.block_s = block_s
    assert follow(store, node)
    node.read.clear()
    before, steps = node.requested, HOUR_S // min(block_s, LONGEST_GAP_S) + 1
    for _ in range(steps):
        assert follow(store, node)
    assert node.read == {each.address for each in store.read_market().pools.values()}
    assert node.requested - before <= 2 * len(node.read) + SAMPLE * steps
