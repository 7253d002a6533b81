"""A node whose responses about final blocks are cached in a file, so that each is requested only once.

Blocks up to the node's finalized block are final. If the node has no finalized block, a block is final after a day.
Data about newer blocks is requested each time, and so is data that does not belong to a block.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from swapcli.core.errors import UpstreamRejected
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import PastBlock
from swapcli.core.model.units import DAY_S
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.read_cache.cache_file import CacheFile, Scope, call_key
from swapcli.state.rpc.delegating_node import DelegatingNode
from swapcli.state.rpc.node import (
    Account,
    BlockHeader,
    BlockId,
    BudgetedNode,
    ChainHead,
    HistoryNode,
    HypotheticalCall,
    LogFilter,
    StateOverrideNode,
)
from swapcli.state.rpc.receipt import Receipt, ReceiptNode

T = TypeVar("T")

_REVERTED: Final = b"\0"
_RETURNED: Final = b"\1"
_HEAD: Final = "priced head"
"""The name of a block with its gas price. Files of earlier versions have others as `head`, which may be wrong."""


class ArchiveNode(ReceiptNode, HistoryNode, StateOverrideNode, Protocol):
    """A node of an EVM network that has past blocks and receipts, and simulates calls."""


class CachedNode(DelegatingNode[HistoryNode]):
    """Responds like `node`, a node of the chain with this id, and caches responses about final blocks in `cache`.

    Nothing is sent for a cached response. The node's chain is checked before anything else is requested. Results are
    cached call by call, even if a `MulticallReader` packs many calls into one.
    """

    def __init__(self, node: HistoryNode, cache: CacheFile, chain_id: int) -> None:
        super().__init__(node)
        self._cache, self._chain_id = cache, chain_id
        self._newest: BlockHeader | None = None
        self._finalized: int | None = None
        self._final: set[str] = set()

    def read_past_head(self, block: PastBlock) -> ChainHead:
        """Same as `HistoryNode.read_past_head`. A head with the current gas price is not kept."""

        def read() -> ChainHead:
            self._renew_budget()
            return self._asked().read_past_head(block)

        found = self._kept(
            call_key(_HEAD, block),
            read,
            lambda head: head.block.number if head.has_own_price else None,
            lambda head: [head.block, head.gas_price_wei],
            lambda kept: ChainHead(BlockHeader(*kept[0]), kept[1], tag=None),
        )
        self._note_final(found.block)
        return found

    def read_block(self, number: int) -> BlockHeader | None:
        """Same as `Node.read_block`."""
        found = self._kept(
            call_key("block", number),
            lambda: self._asked().read_block(number),
            lambda block: None if block is None else block.number,
            lambda block: block,
            lambda kept: BlockHeader(*kept),
        )
        if found is not None:
            self._note_final(found)
        return found

    def read_logs(self, query: LogFilter) -> list[Log]:
        """Same as `Node.read_logs`."""
        return self._kept(
            call_key("logs", json.dumps(query)),
            lambda: self._asked().read_logs(query),
            lambda _: query.to_block,
            lambda logs: [*map(_write_log, logs)],
            lambda kept: [*map(_read_log, kept)],
        )

    def recall(self, calls: Sequence[ContractCall], at: BlockHeader) -> Mapping[int, ReturnData]:
        """Same as `RememberingNode.recall`."""
        if not self._is_final(at):
            return {}
        keys = [_key_of(call) for call in calls]
        found = self._cache.get(self._scope(at), keys)
        return {k: _read_answer(found[key]) for k, key in enumerate(keys) if key in found}

    def remember(self, answers: Sequence[tuple[ContractCall, ReturnData]], at: BlockHeader) -> None:
        """Same as `RememberingNode.remember`."""
        if self._is_final(at):
            kept = [(_key_of(call), _write_answer(answer)) for call, answer in answers]
            self._cache.put(self._scope(at), kept)

    def _kept(
        self,
        key: bytes,
        read: Callable[[], T],
        block_of: Callable[[T], int | None],
        write: Callable[[T], object],
        parse: Callable[[list[Any]], T],
    ) -> T:
        """Return the kept value for a key, otherwise the result of `read`, which is kept if its block is final."""
        scope = Scope(self._chain_id)
        kept = self._cache.get(scope, [key])
        if kept:
            with suppress(ValueError, TypeError, AttributeError):  # a damaged file may contain anything
                return parse(json.loads(kept[key]))
        found = read()
        number = block_of(found)
        if number is not None and self._is_final_number(number):
            self._cache.put(scope, [(key, json.dumps(write(found), separators=(",", ":")).encode())])
        return found

    def _asked(self) -> HistoryNode:
        """Return the node, after its first response has shown that it belongs to the chain."""
        if self._newest is None:
            self._newest = self._node.read_head().block
        return self._node

    def _renew_budget(self) -> None:
        if self._newest is not None and isinstance(self._node, BudgetedNode):
            self._node.read_head()

    def _note_final(self, block: BlockHeader) -> None:
        if self._is_kept(block) or self._is_final_number(block.number):
            self._final.add(block.hash)

    def _is_kept(self, block: BlockHeader) -> bool:
        """Return whether the cache has the block, which means it is final."""
        keys = [call_key(_HEAD, block.number), call_key("block", block.number)]
        return bool(self._cache.get(Scope(self._chain_id), keys))

    def _is_final(self, at: BlockId) -> bool:
        return isinstance(at, BlockHeader) and at.hash in self._final

    def _scope(self, at: BlockId) -> Scope:
        assert isinstance(at, BlockHeader)
        return Scope(self._chain_id, bytes.fromhex(at.hash[2:]))

    def _is_final_number(self, number: int) -> bool:
        if self._finalized is None:
            self._finalized = self._find_finalized()
        return number <= self._finalized

    def _find_finalized(self) -> int:
        """Return the number of a block that the network never replaces; -1 if there is none."""
        node = self._asked()
        try:
            return node.read_head(BlockTag.FINALIZED).block.number
        except UpstreamRejected:
            return self._find_day_old(node)

    def _find_day_old(self, node: HistoryNode) -> int:
        """Return the number of a block that is a day old, by the time of the latest block; -1 if there is none."""
        newest = self._newest
        assert newest is not None
        low, high = -1, newest.number
        while high - low > 1:
            middle = (low + high) // 2
            block = node.read_block(middle)
            if block is not None and newest.timestamp - block.timestamp >= DAY_S:
                low = middle
            else:
                high = middle
        return low


class CachedArchiveNode(CachedNode):
    """A `CachedNode` for an EVM node, which also returns receipts and simulates calls."""

    def __init__(self, node: ArchiveNode, cache: CacheFile, chain_id: int) -> None:
        super().__init__(node, cache, chain_id)
        self._archive = node

    def read_receipt(self, transaction: str) -> Receipt | None:
        """Same as `ReceiptNode.read_receipt`."""

        def read() -> Receipt | None:
            self._asked()
            return self._archive.read_receipt(transaction)

        return self._kept(
            call_key("receipt", transaction.lower()),
            read,
            lambda receipt: None if receipt is None else receipt.block_number,
            lambda receipt: None if receipt is None else [*receipt[:-1], [*map(_write_log, receipt.logs)]],
            _read_receipt,
        )

    def read_account(self, address: str, at: BlockId) -> Account:
        """Same as `StateOverrideNode.read_account`."""
        return self._archive.read_account(address, at)

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """Same as `StateOverrideNode.simulate`."""
        if not self._is_final(at):
            return self._archive.simulate(calls, at)
        keys = [call_key("simulate", repr(call)) for call in calls]
        scope = self._scope(at)
        found = self._cache.get(scope, keys)
        missing = [k for k, key in enumerate(keys) if key not in found]
        answers = {key: _read_answer(kept) for key, kept in found.items()}
        if missing:
            asked = self._archive.simulate([calls[k] for k in missing], at)
            answers.update((keys[k], answer) for k, answer in zip(missing, asked, strict=True))
            self._cache.put(scope, [(keys[k], _write_answer(answers[keys[k]])) for k in missing])
        return [answers[key] for key in keys]


def _key_of(call: ContractCall) -> bytes:
    context = call.context
    return call_key("call", call.to, call.calldata, *(context or ()))


def _write_answer(answer: ReturnData) -> bytes:
    return _REVERTED if answer is None else _RETURNED + answer


def _read_answer(kept: bytes) -> ReturnData:
    return None if kept == _REVERTED else kept[1:]


def _read_receipt(kept: list[Any]) -> Receipt:
    block_number, block_hash, succeeded, gas_used, gas_price_wei, logs = kept
    return Receipt(block_number, block_hash, succeeded, gas_used, gas_price_wei, tuple(map(_read_log, logs)))


def _write_log(log: Log) -> Sequence[object]:
    return [log.address, log.topics, log.data.hex(), log.block_number, log.log_index, log.transaction]


def _read_log(kept: list[Any]) -> Log:
    address, topics, data, *rest = kept  # older files have no transaction hash
    return Log(address, tuple(topics), bytes.fromhex(data), *rest)
