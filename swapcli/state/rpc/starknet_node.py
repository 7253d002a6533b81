"""A Starknet node with the same interface as an EVM node.

Calls are encoded as in `starknet_calls`. State is read by block hash, so a result always belongs to that block. After a
reorganization, the node no longer has the block and returns an error. Nodes that reject batches get single requests.

Versions 0.8, 0.9 and 0.10 of the specification differ in three points. First, the block being built is `pending`, with
its parent's hash, and since 0.9 `pre_confirmed`, with its number. Second, the tag of the latest block accepted by
Ethereum, `l1_accepted`, has existed since 0.9. On older nodes, that block is found by bisection over the status of
blocks. Third, an event filter names one contract, and since 0.10 a list of contracts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from swapcli.core.encoding.abi import WORD
from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidInput,
    SimulationError,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import PastBlock
from swapcli.core.model.signing_figures import FeeEstimate
from swapcli.core.validation.values import MAX_FELT
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.families.reading.starknet_calls import is_block_time
from swapcli.state.rpc.failover import FailoverClient
from swapcli.state.rpc.json_rpc_client import ConsistencyCheck, JsonRpcClient, RpcError, RpcRequest, RpcResult
from swapcli.state.rpc.node import BlockHeader, BlockId, ChainHead, LogFilter, block_number
from swapcli.state.rpc.rpc_node import FailoverNode, JsonRpcNode

_CHAIN_ID: Final = "starknet_chainId"
_BLOCK: Final = "starknet_getBlockWithTxHashes"
_CALL: Final = "starknet_call"
_EVENTS: Final = "starknet_getEvents"
_CLASS: Final = "starknet_getClassHashAt"
_NONCE: Final = "starknet_getNonce"
_ESTIMATE: Final = "starknet_estimateFee"
_SKIP_VALIDATE: Final = "SKIP_VALIDATE"
"""The flag for an estimate without a signature."""
_FRI: Final = "FRI"
_CONTRACT_NOT_FOUND: Final = 20  # codes of the Starknet JSON-RPC specification
_REVERT_CODES: Final = frozenset({40, 41, 55})
"""An error in a contract, one in the execution of a transaction, and one in its validation."""
_METHOD_NOT_FOUND: Final = -32601
_BLOCK_NOT_FOUND: Final = 24  # codes of the Starknet JSON-RPC specification
_PAGE_TOO_LARGE: Final = 31  # codes of the Starknet JSON-RPC specification
_INVALID_PARAMS: Final = frozenset({-32602, -32600})
"""Codes with which nodes reject tags and filters that do not exist in their version of the specification."""
_PAGE_EVENTS: Final = 1_000
"""Events per page: below the limits of pathfinder (1,024) and juno (10,240). Small gateways allow 100: once a node
rejects, pages become smaller."""
_MAX_PAGES: Final = 100
"""Pages of one request for events; more count as too many, as if the node had rejected them."""
_MAX_LISTED_ADDRESSES: Final = 32
"""Contracts in one filter. Above that, and before version 0.10, events of all contracts are requested by kind."""
_PER_TRANSACTION: Final = 1 << 20
"""Above the number of events in any transaction; used to number the events of a block."""
_is_felt = re.compile(r"0x[0-9a-fA-F]{1,64}").fullmatch
_LATEST: Final = "latest"
_L1_ACCEPTED: Final = "l1_accepted"
_STATUS_L1_ACCEPTED: Final = "ACCEPTED_ON_L1"
_PRE_CONFIRMED: Final = "pre_confirmed"
_PENDING: Final = "pending"
_PRICES: Final = ("l2_gas_price", "l1_gas_price", "l1_data_gas_price")
_NO_HASH: Final = f"0x{0:064x}"
_FIRST_L1_STEP: Final = 512
"""Blocks behind the newest one at which the search for an accepted block begins; proofs take hours."""
DATA_GAS: Final = (2_240, 27_522_160)
"""Units of L1 data gas and of L2 gas in a recorded transaction of mainnet, 0x52ee5d44...8d15 in block 16,119,134, which
creates an Ekubo pool with a position. Swaps write storage in about the same proportion: seven slots of 64 units for 5.6
million units of L2 gas."""
_L2_GAS_PER_L1_GAS: Final = 40_000
"""General knowledge, not recorded: a Cairo step costs 100 units of L2 gas, and cost 0.0025 L1 gas before L2 gas had a
price; 100 / 0.0025 = 40,000."""


class SingleStarknetNode(JsonRpcNode):
    """A Starknet `Node` that sends its requests through `rpc`."""

    chain_id_method: ClassVar[str] = _CHAIN_ID
    pins_by_hash: ClassVar[bool] = True

    def __init__(self, rpc: JsonRpcClient | FailoverClient, chain_id: int) -> None:
        super().__init__(rpc, chain_id)
        self._page_events = _PAGE_EVENTS
        self._lists_addresses = True
        self._built_tag = ""

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `Node.read_head`. Safe and finalized blocks are those that Ethereum has accepted.

        `code` is the hash of the contract's class. The gas price is the price of L2 gas in base units of STRK,
        including the usual share of data gas.
        """
        is_final = tag in (BlockTag.SAFE, BlockTag.FINALIZED)
        name = {BlockTag.PENDING: self._built_tag or _PRE_CONFIRMED}.get(tag, _L1_ACCEPTED if is_final else "")
        requests = [RpcRequest(_CHAIN_ID, ()), RpcRequest(_BLOCK, (_LATEST,))]
        if name:
            requests.append(RpcRequest(_BLOCK, (name,), is_optional=True))
        if code_of is not None:
            requests.append(RpcRequest(_CLASS, (_LATEST, _short(code_of)), is_optional=True))
        results = self._send(requests)
        found_code = results.pop() if code_of is not None else None
        chain, found, *tagged = results
        self._check_chain(self._number(chain, _CHAIN_ID))
        latest = self._newest = self._block(found)
        code = bytes.fromhex(f"{self._felt(found_code, _CLASS):064x}") if isinstance(found_code, str) else None
        head = ChainHead(latest, self._gas_price(found), code=code)
        if is_final:
            block = self._block(tagged[0]) if isinstance(tagged[0], dict) else self._search_l1_accepted(latest, tag)
            return head._replace(block=block, tag=tag)
        return self._pending_head(head, tagged[0]) if tagged else head

    def _pending_head(self, latest: ChainHead, found: RpcResult) -> ChainHead:
        """Return the head for the block being built; `latest` if the node has none above it."""
        if not self._built_tag:
            self._built_tag = _PRE_CONFIRMED
            if isinstance(found, RpcError) and found.code != _BLOCK_NOT_FOUND:
                self._built_tag = _PENDING
                (found,) = self._send([RpcRequest(_BLOCK, (_PENDING,), is_optional=True)])
        if not isinstance(found, dict) or "block_hash" in found:
            return latest
        newest = latest.block
        timestamp, number = found.get("timestamp"), newest.number + 1
        if type(timestamp) is not int:
            self._fail(_BLOCK, "a block without its time")
        if self._built_tag == _PENDING:
            if self._parent(found) != newest.hash:
                return latest
        else:
            number = self._pre_confirmed_number(found)
            if number <= newest.number:
                return latest
        parent = newest.hash if number == newest.number + 1 else _NO_HASH
        block = BlockHeader(number, _NO_HASH, parent, timestamp, base_fee_wei=0, is_pending=True)
        return latest._replace(block=block, gas_price=self._gas_price(found), tag=BlockTag.PENDING)

    def read_past_head(self, block: PastBlock) -> ChainHead:
        """Same as `HistoryNode.read_past_head`."""
        newest_head = self.read_head()
        newest = newest_head.block
        name = {"block_number": block} if isinstance(block, int) else {"block_hash": _short(block)}
        try:
            (found,) = self._send([RpcRequest(_BLOCK, (name,))])
        except UpstreamRejected as error:
            if not _is_unknown_block(error):
                raise
            raise InvalidInput(
                f"{self.redacted_url} has no block {block}: its latest block is {newest.number:,}",
                details={"block": block, "newest": newest.number},
            ) from error
        offset_s = newest_head.clock_offset_s
        return ChainHead(self._block(found), self._gas_price(found), tag=None, clock_offset_s=offset_s)

    def _search_l1_accepted(self, latest: BlockHeader, tag: BlockTag) -> BlockHeader:
        """Return the latest block accepted by Ethereum, by bisection: all blocks before it are accepted too.

        For nodes before version 0.9, which have no tag for it. Raises `UpstreamRejected` if there is none.
        """
        low: BlockHeader | None = None
        high, step = latest.number, _FIRST_L1_STEP
        while low is None:
            number = max(high - step, 0)
            low = self._if_l1_accepted(number)
            if low is None:
                if number == 0:
                    raise UpstreamRejected(
                        f"{self.redacted_url} has no {tag} block",
                        hint="use --block latest, or set a different node",
                        details={"tag": str(tag)},
                    )
                high, step = number, 2 * step
        while high - low.number > 1:
            middle = (low.number + high) // 2
            block = self._if_l1_accepted(middle)
            low, high = (block, high) if block else (low, middle)
        return low

    def _if_l1_accepted(self, number: int) -> BlockHeader | None:
        """Return a block if Ethereum has accepted it."""
        (found,) = self._send([RpcRequest(_BLOCK, ({"block_number": number},))])
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        return block if isinstance(found, dict) and found.get("status") == _STATUS_L1_ACCEPTED else None

    def read_head_at(self, number: int, *, code_of: str | None = None) -> ChainHead | None:
        """Same as `WitnessableNode.read_head_at`. The gas price and the code are not read."""
        del code_of
        requests = [RpcRequest(_CHAIN_ID, ()), RpcRequest(_BLOCK, ({"block_number": number},), is_optional=True)]
        chain, found = self._send(requests)
        self._check_chain(self._number(chain, _CHAIN_ID))
        if isinstance(found, RpcError):
            if found.code == _BLOCK_NOT_FOUND:
                return None
            raise UpstreamRejected(f"{self.redacted_url} rejected {_BLOCK}: {found.message}")
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        return ChainHead(block, self._gas_price(found), tag=None)

    def read_block(self, number: int) -> BlockHeader | None:
        """Same as `Node.read_block`. Retries if the node has returned the block before, because some nodes behind a
        load balancer may lag."""
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
            raise UpstreamRejected(
                f"{self.redacted_url} rejected {_BLOCK}: {found.message}", details={"code": found.code}
            )
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        return block

    def _newest_request(self) -> RpcRequest:
        return RpcRequest(_BLOCK, (_LATEST,))

    def _header_request(self, number: int) -> RpcRequest:
        return RpcRequest(_BLOCK, ({"block_number": number},))

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """Same as `Node.call`."""
        return self.call_many([ContractCall(to, calldata)], at)[0]

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Same as `Node.call_many`. A call without calldata returns the hash of the contract's class, or the block's
        time.

        Identical calls are sent once. Calls that run code without a contract are rejected.
        """
        if any(not call.to for call in calls):
            raise UpstreamRejected(f"{self.redacted_url} only runs contracts")
        block = self._block_parameter(at)
        distinct = list(dict.fromkeys((call.to, call.calldata) for call in calls))
        results = self._send_at([_request(to, calldata, block) for to, calldata in distinct], at)
        found = {
            key: None
            if isinstance(each, RpcError)
            else self._return_data(each if key[1] else [_without_calldata(each)])
            for key, each in zip(distinct, results, strict=True)
        }
        return [found[call.to, call.calldata] for call in calls]

    def read_nonce(self, account: str, at: BlockId) -> int:
        """Return the nonce of the account's next transaction. Raises `SimulationError` if there is no account."""
        (found,) = self._send_at(
            [RpcRequest(_NONCE, (self._block_parameter(at), _short(account)), is_optional=True)], at
        )
        if isinstance(found, RpcError):
            if found.code == _CONTRACT_NOT_FOUND:
                raise SimulationError(
                    f"no account is deployed at {account}",
                    hint="check the address, or deploy the account first",
                    details={"account": account},
                )
            raise self._not_estimated(found, _NONCE)
        return self._felt(found, _NONCE)

    def estimate_fee(self, transaction: Mapping[str, object], at: BlockId) -> FeeEstimate:
        """Return the fee estimate for an unsigned transaction on the state of a block. Its validation is skipped.

        Raises `SimulationError` if the transaction reverts, and `UpstreamRejected` if the node cannot estimate fees.
        """
        parameters = ([transaction], [_SKIP_VALIDATE], self._block_parameter(at))
        (found,) = self._send_at([RpcRequest(_ESTIMATE, parameters, is_optional=True)], at)
        if isinstance(found, RpcError):
            if found.code in _REVERT_CODES:
                raise SimulationError(
                    f"the transaction reverts: {found.message}",
                    hint="check the balance of the account, or get a fresh quote",
                )
            raise self._not_estimated(found, _ESTIMATE)
        estimate = found[0] if isinstance(found, list) and len(found) == 1 else None
        if not isinstance(estimate, dict) or estimate.get("unit") != _FRI:
            self._fail(_ESTIMATE, "no estimate in fri")
        return FeeEstimate(*(self._felt(estimate.get(name), _ESTIMATE) for name in FeeEstimate._fields))

    def _not_estimated(self, error: RpcError, method: str) -> UpstreamRejected:
        is_unknown = error.code == _METHOD_NOT_FOUND
        problem = f"does not have the method {method}" if is_unknown else f"rejected {method}: {error.message}"
        return UpstreamRejected(
            f"{self.redacted_url} cannot estimate the fee: it {problem}",
            hint="use a different node",
            details={"code": error.code, "method": method},
        )

    def read_blooms(self, first: int, last: int) -> list[int]:
        """Same as `Node.read_blooms`. All are 0, because Starknet blocks have no filters."""
        return [0] * (last - first + 1)

    def read_logs(self, query: LogFilter) -> list[Log]:
        """Same as `Node.read_logs`."""
        logs = self._read_events(query)
        if self._newest and self._newest.number == query.to_block:
            self._check_same(self._newest)
        elif self.read_block(query.to_block) is None:
            raise UpstreamRejected(f"{self.redacted_url} has no block {query.to_block}")
        return sorted(logs, key=lambda log: (log.block_number, log.log_index))

    def _read_events(self, query: LogFilter) -> list[Log]:
        """Return the events for one filter of a query: by contract if the node accepts all of them, otherwise by
        kind."""
        requested = query.addresses
        takes_list = self._lists_addresses and len(requested) <= _MAX_LISTED_ADDRESSES
        filtered = requested if len(requested) == 1 or takes_list else ()
        try:
            logs = list(self._event_pages(query, filtered))
        except UpstreamRejected as error:
            if len(filtered) < 2 or error.details.get("code") not in _INVALID_PARAMS:
                raise
            self._lists_addresses = False
            logs = list(self._event_pages(query, ()))
        return [log for log in logs if log.address in requested] if requested else logs

    def _event_pages(self, query: LogFilter, addresses: Sequence[str]) -> Iterator[Log]:
        """Yield the events of these contracts, or of all, page by page. Pages that are too large become smaller."""
        parameters: dict[str, object] = {
            "from_block": {"block_number": query.from_block},
            "to_block": {"block_number": query.to_block},
        }
        if query.topics:
            parameters["keys"] = [[*map(_short, each)] for each in (query.topics, query.ids) if each]
        if addresses:
            parameters["address"] = [*map(_short, addresses)] if len(addresses) > 1 else _short(addresses[0])
        in_block: Counter[int] = Counter()
        for _ in range(_MAX_PAGES):
            found = self._read_page(parameters)
            events = found.get("events") if isinstance(found, dict) else None
            if not isinstance(events, list):
                self._fail(_EVENTS, "something that is not a list of events")
            for event in events:
                log = self._log(event, in_block)
                if not query.from_block <= log.block_number <= query.to_block:
                    self._fail(_EVENTS, "events of blocks that were not requested")
                yield log
            token = found.get("continuation_token") if isinstance(found, dict) else None
            if not token:
                return
            if not isinstance(token, str):
                self._fail(_EVENTS, "a continuation token that is not text")
            parameters["continuation_token"] = token
        raise UpstreamRejected(
            f"{self.redacted_url} has more than {_MAX_PAGES * self._page_events:,} events in these blocks"
        )

    def _read_page(self, parameters: Mapping[str, object]) -> RpcResult:
        """Return a page of events; if the node says that it is too large, use smaller pages from now on."""
        while True:
            try:
                (found,) = self._send([RpcRequest(_EVENTS, ({**parameters, "chunk_size": self._page_events},))])
            except UpstreamRejected as error:
                if error.details.get("code") != _PAGE_TOO_LARGE or self._page_events == 1:
                    raise
                self._page_events //= 2
            else:
                return found

    def _log(self, event: object, in_block: Counter[int]) -> Log:
        if not isinstance(event, dict):
            self._fail(_EVENTS, "an event that is not an object")
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
        """Send requests for a block's state. Raises `ChainReorganized` if the node no longer has the block."""
        if isinstance(at, BlockHeader) and at.is_pending:
            return self._send(requests, self._still_built(at))
        try:
            return self._send(requests)
        except UpstreamRejected as error:
            if isinstance(at, BlockHeader) and _is_unknown_block(error):
                raise self._reorganized(at) from error
            raise

    def _still_built(self, block: BlockHeader) -> ConsistencyCheck:
        """Return the check that the node is still building the block, judging by its number, otherwise by its
        parent."""

        def objection(found: RpcResult) -> UpstreamError | None:
            is_same = False
            if isinstance(found, dict) and "block_hash" not in found:
                is_same = (
                    self._parent(found) == block.parent_hash
                    if self._built_tag == _PENDING
                    else self._pre_confirmed_number(found) == block.number
                )
            if is_same:
                return None
            return BlockMismatch(
                f"{self.redacted_url} no longer builds block {block.number}",
                hint="try again",
                details={"block": block.number},
            )

        return ConsistencyCheck(RpcRequest(_BLOCK, (self._built_tag or _PRE_CONFIRMED,)), objection)

    def _block_parameter(self, at: BlockId) -> object:
        """Return the block parameter of a state request: the hash of a known block."""
        if not isinstance(at, BlockHeader):
            return {"block_number": block_number(at)}
        return (self._built_tag or _PRE_CONFIRMED) if at.is_pending else {"block_hash": _short(at.hash)}

    def _check_same(self, block: BlockHeader) -> None:
        """Raise `ChainReorganized` unless the chain still has the block."""
        found = self.read_block(block.number)
        if found is None or found.hash != block.hash:
            raise self._reorganized(block)

    def _reorganized(self, block: BlockHeader) -> ChainReorganized:
        return ChainReorganized(
            f"{self.redacted_url} has a different block {block.number} now: the chain was reorganized",
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

    def _parent(self, found: Mapping[object, object]) -> str:
        return f"0x{self._felt(found.get('parent_hash'), _BLOCK):064x}"

    def _pre_confirmed_number(self, found: Mapping[object, object]) -> int:
        number = found.get("block_number")
        if type(number) is not int:
            self._fail(_BLOCK, "a block without its number")
        return number

    def _gas_price(self, found: object) -> int:
        """Return the price of a unit of L2 gas, including the data gas that comes with it, in base units of STRK.

        Before version 0.8 of the specification, it is derived from the L1 gas price.
        """
        l2_gas, l1_gas, data_gas = (self._price_in_fri(found, name) for name in _PRICES)
        data_units, gas_units = DATA_GAS
        return (l2_gas or l1_gas // _L2_GAS_PER_L1_GAS) + data_gas * data_units // gas_units

    def _price_in_fri(self, found: object, name: str) -> int:
        price = found.get(name) if isinstance(found, dict) else None
        return self._felt(price.get("price_in_fri"), _BLOCK) if isinstance(price, dict) else 0

    def _return_data(self, found: object) -> bytes:
        if not isinstance(found, list):
            self._fail(_CALL, "something that is not a list of felts")
        return b"".join([self._felt(felt, _CALL).to_bytes(WORD) for felt in found])

    def _felt(self, value: object, method: str) -> int:
        if not isinstance(value, str) or not _is_felt(value) or int(value, 16) > MAX_FELT:
            self._fail(method, "something that is not a felt")
        return int(value, 16)


class StarknetNode(FailoverNode, SingleStarknetNode):
    """A Starknet `Node` that may have spares (`FailoverNode`)."""

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `SingleStarknetNode.read_head`."""
        read = super().read_head
        return self._read_best_head(lambda: read(tag, code_of=code_of))

    def _single_node(self, client: JsonRpcClient) -> SingleStarknetNode:
        return SingleStarknetNode(client, self._chain_id)


def _is_unknown_block(error: UpstreamError) -> bool:
    return error.details.get("code") == _BLOCK_NOT_FOUND


def _without_calldata(found: object) -> object:
    """Return the felt for a call without calldata: a class's hash itself, or a block's time."""
    if not isinstance(found, dict):
        return found
    timestamp = found.get("timestamp")
    return hex(timestamp) if type(timestamp) is int and timestamp >= 0 else None


def _request(contract: str, calldata: bytes, block: object) -> RpcRequest:
    if is_block_time(contract, calldata):
        return RpcRequest(_BLOCK, (block,))
    if not calldata:
        return RpcRequest(_CLASS, (block, _short(contract)))
    function, *felts = [hex(int.from_bytes(calldata[at : at + WORD])) for at in range(0, len(calldata), WORD)]
    message = {"contract_address": _short(contract), "entry_point_selector": function, "calldata": felts}
    return RpcRequest(_CALL, (message, block))


def _short(felt: str) -> str:
    """Return a felt in hex without leading zeros, as the specification writes it."""
    return hex(int(felt, 16))
