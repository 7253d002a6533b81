"""A node of Starknet, behind the same interface as the nodes of EVM networks.

Calls are those of `starknet_calls`. State is read by the hash of a block, so a result is always of that block: after
a reorganization the node no longer knows it. Nodes that reject batches get single requests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from swapcli.encoding.abi import WORD
from swapcli.errors import ChainReorganized, UpstreamError, UpstreamRejected
from swapcli.model.block_tag import BlockTag
from swapcli.state.rpc.json_rpc_client import RpcError, RpcRequest, RpcResult
from swapcli.state.rpc.node import (
    BlockHeader,
    BlockId,
    ChainHead,
    ContractCall,
    Log,
    LogFilter,
    ReturnData,
    block_number,
)
from swapcli.state.rpc.rpc_node import FailoverNode
from swapcli.validation.values import MAX_FELT

_CHAIN_ID: Final = "starknet_chainId"
_BLOCK: Final = "starknet_getBlockWithTxHashes"
_CALL: Final = "starknet_call"
_EVENTS: Final = "starknet_getEvents"
_CLASS: Final = "starknet_getClassHashAt"
_BLOCK_NOT_FOUND: Final = 24
_PAGE_EVENTS: Final = 1_000
_MAX_PAGES: Final = 100
"""Pages of one request for events; more of them are too many, as for a node that limits them itself."""
_MAX_ADDRESS_REQUESTS: Final = 8
"""Contracts whose events are requested one by one: before version 0.10 of the specification a filter has one address.
Above that, events of all contracts are requested by their kind."""
_PER_TRANSACTION: Final = 1 << 20
"""Above the number of events of any transaction, to number the events of a block."""
_is_felt = re.compile(r"0x[0-9a-fA-F]{1,64}").fullmatch
_L1_ACCEPTED: Final = "l1_accepted"


class StarknetNode(FailoverNode):
    """A `Node` of Starknet, as `FailoverNode`."""

    chain_id_method: ClassVar[str] = _CHAIN_ID
    pins_by_hash: ClassVar[bool] = True

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """As `Node.read_head`. Safe and finalized blocks are those that Ethereum has accepted; there is no pending one.

        `code` is the hash of the contract's class.
        """
        name = _L1_ACCEPTED if tag in (BlockTag.SAFE, BlockTag.FINALIZED) else BlockTag.LATEST.value
        requests = [RpcRequest(_CHAIN_ID, ()), RpcRequest(_BLOCK, (name,))]
        if code_of is not None:
            requests.append(RpcRequest(_CLASS, (name, code_of), is_optional=True))
        chain, found, *classes = self._send(requests)
        self._check_chain(self._number(chain, _CHAIN_ID))
        block = self._block(found)
        self._newest = block
        code = (
            bytes.fromhex(f"{self._felt(classes[0], _CLASS):064x}") if classes and isinstance(classes[0], str) else None
        )
        return ChainHead(
            block,
            self._gas_price(found),
            tag if name == _L1_ACCEPTED else BlockTag.LATEST,
            code,
        )

    def read_block(self, number: int) -> BlockHeader | None:
        """As `Node.read_block`. Retries for a block that it had before: behind a load balancer, some nodes may lag."""
        is_new = self._newest is None or number > self._newest.number
        try:
            (found,) = self._send([RpcRequest(_BLOCK, ({"block_number": number},), is_optional=is_new)])
        except UpstreamRejected as error:
            if _is_unknown_block(error):
                return None
            raise
        if isinstance(found, RpcError):
            if found.code == _BLOCK_NOT_FOUND:
                return None
            raise UpstreamRejected(f"{self.redacted_url} refused: {found.message}", details={"code": found.code})
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        return block

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """As `Node.call`."""
        return self.call_many([ContractCall(to, calldata)], at)[0]

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """As `Node.call_many`. A call without calldata returns the hash of the contract's class.

        Equal calls are sent once. A call of code instead of a contract is rejected.
        """
        if any(not call.to for call in calls):
            raise UpstreamRejected(f"{self.redacted_url} runs contracts only")
        block = _block_parameter(at)
        distinct = list(dict.fromkeys((call.to, call.calldata) for call in calls))
        results = self._send_at([_request(to, calldata, block) for to, calldata in distinct], at)
        found = {
            key: None if isinstance(each, RpcError) else self._return_data(each if key[1] else [each])
            for key, each in zip(distinct, results, strict=True)
        }
        return [found[call.to, call.calldata] for call in calls]

    def read_blooms(self, first: int, last: int) -> list[int]:
        """As `Node.read_blooms`: blocks of Starknet have no filters."""
        return [0] * (last - first + 1)

    def read_logs(self, query: LogFilter) -> list[Log]:
        """As `Node.read_logs`."""
        addresses = query.addresses if len(query.addresses) <= _MAX_ADDRESS_REQUESTS else ()
        logs = [log for address in addresses or (None,) for log in self._read_events(query, address)]
        if query.addresses and not addresses:
            requested = frozenset(query.addresses)
            logs = [log for log in logs if log.address in requested]
        if self._newest and self._newest.number == query.to_block:
            self._check_same(self._newest)
        elif self.read_block(query.to_block) is None:
            raise UpstreamRejected(f"{self.redacted_url} does not know block {query.to_block}")
        return sorted(logs, key=lambda log: (log.block_number, log.log_index))

    def _read_events(self, query: LogFilter, address: str | None) -> Iterator[Log]:
        """Yield the events of one contract, or of all, page by page."""
        parameters: dict[str, object] = {
            "from_block": {"block_number": query.from_block},
            "to_block": {"block_number": query.to_block},
            "chunk_size": _PAGE_EVENTS,
        }
        if query.topics:
            parameters["keys"] = [[_short(topic) for topic in query.topics]]
        if address is not None:
            parameters["address"] = _short(address)
        in_block: Counter[int] = Counter()
        for _ in range(_MAX_PAGES):
            (found,) = self._send([RpcRequest(_EVENTS, (parameters,))])
            events = found.get("events") if isinstance(found, dict) else None
            if not isinstance(events, list):
                self._fail(_EVENTS, "no list of events")
            for event in events:
                log = self._log(event, in_block)
                if not query.from_block <= log.block_number <= query.to_block:
                    self._fail(_EVENTS, "events of blocks that were not requested")
                if address is None or log.address == address:
                    yield log
            token = found.get("continuation_token") if isinstance(found, dict) else None
            if not token:
                return
            if not isinstance(token, str):
                self._fail(_EVENTS, "a continuation token that is no text")
            parameters["continuation_token"] = token
        raise UpstreamRejected(
            f"{self.redacted_url} has more than {_MAX_PAGES * _PAGE_EVENTS:,} events in these blocks"
        )

    def _log(self, event: object, in_block: Counter[int]) -> Log:
        if not isinstance(event, dict):
            self._fail(_EVENTS, "an event that is no object")
        keys, data, number = event.get("keys"), event.get("data"), event.get("block_number")
        if not isinstance(keys, list) or not isinstance(data, list) or type(number) is not int:
            self._fail(_EVENTS, "an event without keys, data or block")
        in_block[number] += 1
        transaction, index = event.get("transaction_index"), event.get("event_index")
        position = in_block[number]
        if type(transaction) is int and type(index) is int:  # since version 0.10 of the specification
            position = transaction * _PER_TRANSACTION + index
        return Log(
            address=f"0x{self._felt(event.get('from_address'), _EVENTS):064x}",
            topics=tuple([f"0x{self._felt(key, _EVENTS):064x}" for key in keys]),
            data=b"".join([self._felt(felt, _EVENTS).to_bytes(WORD) for felt in data]),
            block_number=number,
            log_index=position,
        )

    def _send_at(self, requests: Sequence[RpcRequest], at: BlockId) -> list[RpcResult]:
        """Send requests for the state of a block. Raises `ChainReorganized` if the node no longer has it."""
        try:
            return self._send(requests)
        except UpstreamRejected as error:
            if isinstance(at, BlockHeader) and _is_unknown_block(error):
                raise self._reorganized(at) from error
            raise

    def _check_same(self, block: BlockHeader) -> None:
        """Raise `ChainReorganized` unless the chain still has the block."""
        found = self.read_block(block.number)
        if found is None or found.hash != block.hash:
            raise self._reorganized(block)

    def _reorganized(self, block: BlockHeader) -> ChainReorganized:
        return ChainReorganized(
            f"{self.redacted_url} no longer has block {block.number} as it was: the chain was reorganized",
            hint="try again",
            details={"block": block.number},
        )

    def _block(self, found: object) -> BlockHeader:
        if not isinstance(found, dict):
            self._fail(_BLOCK, "no block")
        number, timestamp = found.get("block_number"), found.get("timestamp")
        if type(number) is not int or type(timestamp) is not int:
            self._fail(_BLOCK, "a block without its number or time")
        return BlockHeader(
            number=number,
            hash=f"0x{self._felt(found.get('block_hash'), _BLOCK):064x}",
            parent_hash=f"0x{self._felt(found.get('parent_hash'), _BLOCK):064x}",
            timestamp=timestamp,
            base_fee_wei=0,
        )

    def _gas_price(self, found: object) -> int:
        """Return the price of L2 gas in the smallest unit of STRK; 0 before version 0.8 of the specification."""
        price = found.get("l2_gas_price") if isinstance(found, dict) else None
        return self._felt(price.get("price_in_fri"), _BLOCK) if isinstance(price, dict) else 0

    def _return_data(self, found: object) -> bytes:
        if not isinstance(found, list):
            self._fail(_CALL, "no list of felts")
        return b"".join([self._felt(felt, _CALL).to_bytes(WORD) for felt in found])

    def _felt(self, value: object, method: str) -> int:
        if not isinstance(value, str) or not _is_felt(value) or int(value, 16) > MAX_FELT:
            self._fail(method, "something that is no felt")
        return int(value, 16)


def _is_unknown_block(error: UpstreamError) -> bool:
    return error.details.get("code") == _BLOCK_NOT_FOUND


def _block_parameter(at: BlockId) -> dict[str, object]:
    """Return the block parameter of a request for state: the hash of a known block."""
    return {"block_hash": _short(at.hash)} if isinstance(at, BlockHeader) else {"block_number": block_number(at)}


def _request(contract: str, calldata: bytes, block: dict[str, object]) -> RpcRequest:
    if not calldata:
        return RpcRequest(_CLASS, (block, _short(contract)))
    function, *felts = [hex(int.from_bytes(calldata[at : at + WORD])) for at in range(0, len(calldata), WORD)]
    message = {"contract_address": _short(contract), "entry_point_selector": function, "calldata": felts}
    return RpcRequest(_CALL, (message, block))


def _short(felt: str) -> str:
    """Return a felt in hex without leading zeros, as the specification writes it."""
    return hex(int(felt, 16))
