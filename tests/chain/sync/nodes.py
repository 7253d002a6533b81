"""Limited and failing nodes in front of a real one."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from swapcli.core.errors import UpstreamRejected
from swapcli.core.model.block_tag import BlockTag
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead, LogFilter
from swapcli.state.rpc.rpc_node import RpcNode
from tests.support.single_node import SingleNode


class LimitedNode(SingleNode):
    """A node that forwards all requests. `ranges` records the log queries."""

    redacted_url = "a lesser node"

    def __init__(self, node: RpcNode) -> None:
        super().__init__()
        self.node = node
        self.ranges: list[LogFilter] = []
        self.calls = 0

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        return self.node.read_head(tag, code_of=code_of)

    def read_block(self, number: int) -> BlockHeader | None:
        return self.node.read_block(number)

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        return self.call_many([ContractCall(to, calldata)], at)[0]

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        self.calls += len(calls)
        return self.node.call_many(calls, at)

    def read_blooms(self, first: int, last: int) -> list[int]:
        return self.node.read_blooms(first, last)

    def read_logs(self, query: LogFilter) -> list[Log]:
        self.ranges.append(query)
        return self.node.read_logs(query)


class LaggingNode(LimitedNode):
    """Has not seen the blocks after `number`."""

    def __init__(self, node: RpcNode, number: int) -> None:
        super().__init__(node)
        self.number = number

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        del tag, code_of
        block = self.node.read_block(self.number)
        assert block
        return ChainHead(block, 1)

    def read_block(self, number: int) -> BlockHeader | None:
        return self.node.read_block(number) if number <= self.number else None


class FlakyNode(LimitedNode):
    """A node that returns events only while it `is_well`."""

    is_well = True

    def read_logs(self, query: LogFilter) -> list[Log]:
        if not self.is_well:
            self.ranges.append(query)
            raise UpstreamRejected(f"{self.redacted_url} refused: not now")
        return super().read_logs(query)


class NoLogsNode(LimitedNode):
    """A node that returns events only in ranges of at most `most` blocks, all after `forgotten`."""

    def __init__(self, node: RpcNode, max_blocks: int = 0, forgotten: int = -1) -> None:
        super().__init__(node)
        self.max_blocks, self.forgotten = max_blocks, forgotten

    def read_logs(self, query: LogFilter) -> list[Log]:
        if query.to_block - query.from_block + 1 > self.max_blocks or query.from_block <= self.forgotten:
            self.ranges.append(query)
            raise UpstreamRejected(f"{self.redacted_url} refused: not these blocks")
        return super().read_logs(query)


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Only one process at a time; one that is killed lets go."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class LockedNode(LimitedNode):
    """A node that is read only while no block is mined.

    A local anvil, unlike other nodes, may answer for its latest block from the one that it is just mining.
    """

    def __init__(self, node: RpcNode, lock: Path) -> None:
        super().__init__(node)
        self._lock = lock

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        with turn(self._lock):
            return super().read_head(tag, code_of=code_of)

    def read_block(self, number: int) -> BlockHeader | None:
        with turn(self._lock):
            return super().read_block(number)

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        with turn(self._lock):
            return super().call_many(calls, at)

    def read_logs(self, query: LogFilter) -> list[Log]:
        with turn(self._lock):
            return super().read_logs(query)
