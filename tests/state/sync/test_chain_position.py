"""A store is located on any chain with few requests, and rewound to its latest block on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import StaleNode
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead, LogFilter
from swapcli.state.store import Store, StoredBlock
from swapcli.state.store.undo_log import MAX_UNDO_BLOCKS
from swapcli.state.sync.chain_position import ChainPosition, locate
from tests.state.store.build import TOKENS, create, imported, pool
from tests.support.pools import build_wide_market
from tests.support.single_node import SingleNode


class Chain(SingleNode):
    """A node with one block per character of `path`, from 0 on: chains with a common prefix share its blocks."""

    redacted_url = "a chain of characters"

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path = path
        self.requests = 0

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        del tag, code_of
        return ChainHead(self._block(len(self.path) - 1), 1)

    def read_block(self, number: int) -> BlockHeader | None:
        self.requests += 1
        return self._block(number) if number < len(self.path) else None

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        raise AssertionError("only blocks are requested", to, calldata, at)

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        raise AssertionError("only blocks are requested", calls, at)

    def read_blooms(self, first: int, last: int) -> list[int]:
        raise AssertionError((first, last))

    def read_logs(self, query: LogFilter) -> list[Log]:
        raise AssertionError("only blocks are requested", query)

    def _block(self, number: int) -> BlockHeader:
        return BlockHeader(number, block_of(self.path, number).hash or "", self.path[:number], number, 0)


def block_of(path: str, number: int) -> StoredBlock:
    """Return a block whose hash is the path up to it."""
    return StoredBlock(number, path[: number + 1], number)


@contextmanager
def store_at_blocks(path: str, numbers: Sequence[int]) -> Iterator[Store]:
    """Yield a store that was synced at these blocks of a chain."""
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        for number in numbers:
            with store.write_block(*block_of(path, number)) as writer:
                writer.put_tokens(TOKENS)
                writer.put_pools([pool(0, number + 1)])
        yield store


PATHS = st.text("ab", min_size=1, max_size=60)


@given(PATHS, PATHS, st.data())
def test_the_newest_common_block_is_found(common: str, rest: str, data: st.DataObject) -> None:
    ours = common + data.draw(PATHS)
    theirs = common + rest
    numbers = sorted(data.draw(st.sets(st.integers(0, len(ours) - 1), min_size=1, max_size=12)))
    node = Chain(theirs)
    with store_at_blocks(ours, numbers) as store:
        common_blocks = [n for n in numbers if block_of(ours, n).hash == block_of(theirs, n).hash and n < len(theirs)]
        known = [n for n in numbers if n < len(theirs)]
        head = node.read_head().block
        if head.number >= numbers[-1]:
            expected = expected_position(ours, numbers[-1], common_blocks)
            assert locate(store, node, head) == expected
            assert node.requests <= 1 + len(numbers).bit_length()
            assert expected.is_fork_unknown or store.inventory.head() == expected.stored_block
        elif known and known[-1] in common_blocks:
            assert locate(store, node, head) == ChainPosition(block_of(ours, numbers[-1]), node_is_behind=True)
            assert store.inventory.head() == block_of(ours, numbers[-1])
        else:
            with pytest.raises(StaleNode):
                locate(store, node, head)
            assert store.inventory.head() == block_of(ours, numbers[-1])


def expected_position(path: str, newest: int, common_blocks: Sequence[int]) -> ChainPosition:
    if not common_blocks:
        return ChainPosition(block_of(path, newest), is_fork_unknown=True)
    last = common_blocks[-1]
    return ChainPosition(block_of(path, last), rewound_to=None if last == newest else last)


def test_the_next_block_needs_no_request(tmp_path: Path) -> None:
    del tmp_path
    with store_at_blocks("abc", [2]) as store:
        for extended, expected in (
            ("abc", ChainPosition(block_of("abc", 2))),
            ("abca", ChainPosition(block_of("abc", 2))),
        ):
            node = Chain(extended)
            assert locate(store, node, node.read_head().block) == expected
            assert node.requests == 0


def test_the_deepest_reorganization_takes_few_requests() -> None:
    path = "a" * 200
    with store_at_blocks(path, range(100, 200)) as store:
        node = Chain(path[:136] + "b" * 80)
        assert locate(store, node, node.read_head().block).rewound_to == 135
        assert node.requests <= 1 + MAX_UNDO_BLOCKS.bit_length()


def test_a_store_at_no_known_block_starts_over(tmp_path: Path) -> None:
    node = Chain("aaa")
    with create(tmp_path / "empty") as store:
        assert locate(store, node, node.read_head().block) == ChainPosition(None)
    with imported(tmp_path / "imported", build_wide_market(50)) as store:
        assert locate(store, node, node.read_head().block).is_fork_unknown


def test_a_node_behind_its_own_reported_head_raises_stale_node(tmp_path: Path) -> None:
    del tmp_path
    with store_at_blocks("abcd", [3]) as store:
        node, ahead = Chain("abc"), Chain("abcdabcd")
        with pytest.raises(StaleNode, match="has no block 3, although it reported block 7"):
            locate(store, node, ahead.read_head().block)
