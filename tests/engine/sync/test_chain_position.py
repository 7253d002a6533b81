"""A store is located on any chain with few requests, and rewound to its newest block on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.chain.node import BlockHeader, BlockId, ChainHead, ContractCall, Log, LogFilter, ReturnData
from swapcli.engine.sync.chain_position import ChainPosition, locate
from swapcli.errors import StaleNode, UpstreamError
from swapcli.store import Store, StoredBlock
from swapcli.store.undo_log import MAX_UNDO_BLOCKS
from tests.store.build import TOKENS, create, imported, pool
from tests.support.pools import build_wide_market


class Chain:
    """A node whose blocks, from 0 on, are named by `way`: chains with the same beginning share its characters."""

    shown = "a chain of characters"

    def __init__(self, way: str) -> None:
        self.way = way
        self.questions = 0

    def head(self) -> ChainHead:
        return ChainHead(self._block(len(self.way) - 1), 1)

    def block(self, number: int) -> BlockHeader | None:
        self.questions += 1
        return self._block(number) if number < len(self.way) else None

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        raise AssertionError("a matter of blocks alone", to, calldata, at)

    def batch(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        raise AssertionError("a matter of blocks alone", calls, at)

    def use_spare(self, error: UpstreamError) -> bool:
        del error
        return False

    def blooms(self, first: int, last: int) -> list[int]:
        raise AssertionError((first, last))

    def logs(self, query: LogFilter) -> list[Log]:
        raise AssertionError("a matter of blocks alone", query)

    def _block(self, number: int) -> BlockHeader:
        return BlockHeader(number, mark_of(self.way, number).hash or "", self.way[:number], number, 0)


def mark_of(way: str, number: int) -> StoredBlock:
    """A block's hash is all that led to it."""
    return StoredBlock(number, way[: number + 1], number)


@contextmanager
def store_along(way: str, numbers: Sequence[int]) -> Iterator[Store]:
    """A store that has been at these blocks of a chain."""
    with TemporaryDirectory() as folder, create(Path(folder) / "store") as store:
        for number in numbers:
            with store.write_block(*mark_of(way, number)) as writer:
                writer.put_tokens(TOKENS)
                writer.put_pools([pool(0, number + 1)])
        yield store


WAYS = st.text("ab", min_size=1, max_size=60)


@given(WAYS, WAYS, st.data())
def test_the_newest_block_that_still_stands_is_found(common: str, rest: str, data: st.DataObject) -> None:
    ours = common + data.draw(WAYS)
    theirs = common + rest
    numbers = sorted(data.draw(st.sets(st.integers(0, len(ours) - 1), min_size=1, max_size=12)))
    node = Chain(theirs)
    with store_along(ours, numbers) as store:
        standing = [n for n in numbers if mark_of(ours, n).hash == mark_of(theirs, n).hash and n < len(theirs)]
        known = [n for n in numbers if n < len(theirs)]
        head = node.head().block
        if head.number >= numbers[-1]:
            expected = position_on(ours, numbers[-1], standing)
            assert locate(store, node, head) == expected
            assert node.questions <= 1 + len(numbers).bit_length()
            assert expected.is_fork_unknown or store.inventory.head() == expected.stored_block
        elif known and known[-1] in standing:
            assert locate(store, node, head) == ChainPosition(mark_of(ours, numbers[-1]), node_is_behind=True)
            assert store.inventory.head() == mark_of(ours, numbers[-1])
        else:
            with pytest.raises(StaleNode):
                locate(store, node, head)
            assert store.inventory.head() == mark_of(ours, numbers[-1])


def position_on(way: str, newest: int, standing: Sequence[int]) -> ChainPosition:
    if not standing:
        return ChainPosition(mark_of(way, newest), is_fork_unknown=True)
    last = standing[-1]
    return ChainPosition(mark_of(way, last), rewound_to=None if last == newest else last)


def test_the_next_block_needs_no_question(tmp_path: Path) -> None:
    del tmp_path
    with store_along("abc", [2]) as store:
        for way, expected in (("abc", ChainPosition(mark_of("abc", 2))), ("abca", ChainPosition(mark_of("abc", 2)))):
            node = Chain(way)
            assert locate(store, node, node.head().block) == expected
            assert node.questions == 0


def test_the_farthest_way_back_takes_few_questions() -> None:
    way = "a" * 200
    with store_along(way, range(100, 200)) as store:
        node = Chain(way[:136] + "b" * 80)
        assert locate(store, node, node.head().block).rewound_to == 135
        assert node.questions <= 1 + MAX_UNDO_BLOCKS.bit_length()


def test_a_store_that_is_at_no_block_begins_anew_or_has_all_read_anew(tmp_path: Path) -> None:
    node = Chain("aaa")
    with create(tmp_path / "empty") as store:
        assert locate(store, node, node.head().block) == ChainPosition(None)
    with imported(tmp_path / "imported", build_wide_market(50)) as store:
        assert locate(store, node, node.head().block).is_fork_unknown


def test_a_node_of_several_of_which_one_is_behind_is_told(tmp_path: Path) -> None:
    del tmp_path
    with store_along("abcd", [3]) as store:
        node, ahead = Chain("abc"), Chain("abcdabcd")
        with pytest.raises(StaleNode, match="does not know block 3, though it reported block 7"):
            locate(store, node, ahead.head().block)
