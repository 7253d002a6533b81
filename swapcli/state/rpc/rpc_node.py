"""Nodes of EVM networks, over JSON-RPC, and the common part of all JSON-RPC nodes."""

from __future__ import annotations

import re
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final, NoReturn, cast
from urllib.parse import urlsplit

from swapcli.core.errors import (
    BlockMismatch,
    ChainReorganized,
    InvalidInput,
    InvalidUpstreamResponse,
    UpstreamError,
    UpstreamRejected,
)
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.network import PublicNode
from swapcli.core.model.past_block import PastBlock
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.failover import FailoverClient
from swapcli.state.rpc.fee_history import fee_history_request, parse_fee_history
from swapcli.state.rpc.http_connection import HttpConnection
from swapcli.state.rpc.json_rpc_client import (
    ConsistencyCheck,
    JsonRpcClient,
    NullResult,
    RpcError,
    RpcRequest,
    RpcResult,
)
from swapcli.state.rpc.load_sharing import NodeGroup
from swapcli.state.rpc.network_time import NetworkTime, Sighting
from swapcli.state.rpc.node import (
    Account,
    AheadCalls,
    AheadResults,
    BlockHeader,
    BlockId,
    BlockOutcome,
    ChainHead,
    HypotheticalCall,
    LogFilter,
    NativeTransfer,
    Node,
    SimulatedBlock,
    StateOverride,
    TransactionOutcome,
    block_number,
)
from swapcli.state.rpc.node_limits import NodeLimits
from swapcli.state.rpc.node_limits_file import NodeLimitsFile
from swapcli.state.rpc.receipt import Receipt, not_mined
from swapcli.state.rpc.refusals import Refusal, refusal_of
from swapcli.state.rpc.rpc_connection import RpcConnection

if TYPE_CHECKING:
    from swapcli.state.rpc.head_source import PollingHeads, SubscribedHeads
    from swapcli.state.rpc.head_watch import HeadReader, HeadWatch, WatchedHeads
    from swapcli.state.rpc.run_budget import RunBudget

TIMEOUT_S: Final = 20.0  # timeout of one request
ATTEMPTS: Final = 4
_ATTEMPTS_WITH_SPARES: Final = 2  # then a spare node takes over
_LOOK_BLOCKS: Final = 2
_MAX_LOOK_S: Final = 5.0
"""Maximum time to wait for nodes to show that their blocks advance, or two blocks if that is shorter."""
_MIN_SAVE_INTERVAL_S: Final = 10.0
"""A killed process loses at most what it learned about limits in its last seconds."""

_BLOCK: Final = "eth_getBlockByNumber"
_BLOCK_BY_HASH: Final = "eth_getBlockByHash"
_GAS_PRICE: Final = "eth_gasPrice"
_HINT_GAS_PRICE: Final = "give a gas price with --gas-price or the setting gas_price, or set a different node"
_CALL: Final = "eth_call"
_SIMULATE: Final = "eth_simulateV1"
_NATIVE_LOGS: Final = "0x" + "ee" * 20
"""The address of the events with which `eth_simulateV1` reports transfers of native currency."""
_LOGS: Final = "eth_getLogs"
_RECEIPT: Final = "eth_getTransactionReceipt"
_TRANSACTION: Final = "eth_getTransactionByHash"
_NO_HASH: Final = "0x" + "00" * 32
_ANY_BALANCE_WEI: Final = 1 << 128
"""Enough to pay for the gas of any call at any gas price."""
_is_quantity = re.compile(r"0x[0-9a-fA-F]{1,64}").fullmatch
_is_hash = re.compile(r"0x[0-9a-fA-F]{64}").fullmatch
_is_bloom = re.compile(r"0x[0-9a-fA-F]{512}").fullmatch
_is_address = re.compile(r"0x[0-9a-fA-F]{40}").fullmatch


class RpcEndpoint(NamedTuple):
    """The URL of a node. `redacted_url` is `url` without credentials; each request carries `headers`; `proxy` is the
    URL of an HTTP proxy, None if there is none. A `connection` replaces the HTTP connection to `url`; otherwise
    exchanges count towards the `run_budget`, if there is one."""

    url: str
    redacted_url: str
    headers: Mapping[str, str] = MappingProxyType({})
    proxy: str | None = None
    connection: RpcConnection | None = None
    run_budget: RunBudget | None = None

    def connect(self) -> RpcConnection:
        """Return a connection to the node. Raises `ConfigError` for an invalid URL."""
        if self.connection is not None:
            return self.connection
        return HttpConnection(self.url, self.redacted_url, self.headers, self.proxy, self.run_budget)


class CallResult(NamedTuple):
    """The return data of a call, or the data with which it reverted."""

    succeeded: bool
    data: bytes


class JsonRpcNode:
    """The common part of nodes on all kinds of networks. It sends requests through `rpc` and checks the responses.

    `chain_id` is the expected chain id. Not thread-safe.
    """

    chain_id_method: ClassVar[str] = "eth_chainId"
    gas_price_wei: int | None = None
    """A gas price for heads of EVM networks that replaces the node's own, which is then not requested."""

    def __init__(self, rpc: JsonRpcClient | FailoverClient, chain_id: int) -> None:
        self._rpc: JsonRpcClient | FailoverClient = rpc
        self._chain_id = chain_id
        self._newest: BlockHeader | None = None
        self._is_chain_known = False

    @property
    def redacted_url(self) -> str:
        """The current URL without credentials, for messages."""
        return self._rpc.redacted_url

    @property
    def limits(self) -> NodeLimits:
        """Same as `Node.limits`, for the current URL."""
        return self._rpc.limits

    @property
    def round_trips(self) -> int:
        """The number of exchanges so far."""
        return self._rpc.round_trips

    @property
    def newest(self) -> BlockHeader | None:
        """The latest block that the node has returned from `read_head`. On Starknet, it may also be a safe or finalized
        block."""
        return self._newest

    def use_spare(self, error: UpstreamError) -> bool:
        """Same as `Node.use_spare`. There are no spares."""
        del error
        return False

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """Same as `Node.helpers`. There are no helpers."""
        del at
        return ()

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """Same as `Node.report_helpers`. There are no helpers."""
        del failures, helpers

    def read_newest(self) -> BlockHeader:
        """Same as `HeadReader.read_newest`."""
        requests = [self._newest_request()]
        if not self._is_chain_known:
            requests.append(RpcRequest(self.chain_id_method, ()))
        block, *chain = self._send(requests)
        if chain:
            self._check_chain(self._number(chain[0], self.chain_id_method))
            self._is_chain_known = True
        return self._block(block)

    def read_headers(self, first: int, last: int) -> list[BlockHeader]:
        """Same as `HeadReader.read_headers`."""
        found = self._send([self._header_request(number) for number in range(first, last + 1)])
        return [self._block(each) for each in found]

    @abstractmethod
    def _newest_request(self) -> RpcRequest:
        """Return the request for the latest block."""

    @abstractmethod
    def _header_request(self, number: int) -> RpcRequest:
        """Return the request for a block that the node must have."""

    @abstractmethod
    def _block(self, found: object) -> BlockHeader:
        """Return the header in a result. Raises `InvalidUpstreamResponse`."""

    def _send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        return self._rpc.send(requests, check)

    def _check_chain(self, found: int) -> None:
        if found != self._chain_id:
            raise wrong_chain(self.redacted_url, found, self._chain_id)

    def _number(self, value: object, method: str) -> int:
        if not isinstance(value, str) or not _is_quantity(value):
            self._fail(method, "something that is not a number")
        return int(value, 16)

    def _fail(self, method: str, problem: str) -> NoReturn:
        raise InvalidUpstreamResponse(
            f"{self.redacted_url} responded to {method} with {problem}", details={"method": method}
        )


class SingleRpcNode(JsonRpcNode):
    """A `Node` of an EVM network that sends its requests through `rpc`."""

    def __init__(self, rpc: JsonRpcClient | FailoverClient, chain_id: int) -> None:
        super().__init__(rpc, chain_id)
        self._newest_bloom = 0
        self.ahead: AheadCalls | None = None
        """Calls that every `read_head` of the latest block also makes, and their results."""
        self.ahead_results: AheadResults | None = None

    def read_head_ahead(
        self, calls: AheadCalls, *, code_of: str | None = None
    ) -> tuple[ChainHead, AheadResults | None]:
        """Same as `AheadNode.read_head_ahead`, in one round trip that reads the latest block first and last. If the two
        differ, there are no results."""
        self.ahead, self.ahead_results = calls, None
        try:
            head = self.read_head(code_of=code_of)
        finally:
            self.ahead = None
        return head, self.ahead_results

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `Node.read_head`, in one round trip. Raises `InvalidUpstreamResponse` for a node of another chain.

        If the node does not serve the gas price, a second round trip is needed. The other results do not depend on it.
        """
        try:
            return self._read_head(tag, code_of, self.gas_price_wei)
        except UpstreamRejected as error:
            is_lasting = refusal_of(error) in (Refusal.NOT_SERVED, Refusal.OTHER)
            if error.details.get("method") != _GAS_PRICE or not is_lasting:
                raise
            error.hint = _HINT_GAS_PRICE
            return self._read_head(tag, code_of, error)

    def _read_head(self, tag: BlockTag, code_of: str | None, gas_price: int | UpstreamError | None) -> ChainHead:
        """Return the head with this gas price, or with the node's own."""
        requests = [RpcRequest("eth_chainId", ()), _tagged_request(BlockTag.LATEST)]
        if gas_price is None:
            requests.append(RpcRequest(_GAS_PRICE, ()))
        if tag is not BlockTag.LATEST:
            requests.append(_tagged_request(tag))
        if code_of is not None:
            requests.append(RpcRequest("eth_getCode", (code_of, tag), is_optional=True))
        needed = len(requests)
        room = self.limits.max_requests - needed - 1
        is_ahead = self.ahead is not None and tag is BlockTag.LATEST and room > 0
        if self.ahead is not None and is_ahead:
            requests += [*self._ahead_requests(self.ahead)[:room], _tagged_request(BlockTag.LATEST)]
        trips = self.round_trips
        results = self._send(requests)
        if self.ahead is not None and is_ahead:
            *ahead, closing = results[needed:]
            del results[needed:]
            # Results repeated in a second exchange do not lie between the two headers.
            is_one_exchange = self.round_trips == trips + 1
            is_same = is_one_exchange and self._block(closing).hash == self._block(results[1]).hash
            self.ahead_results = self._read_ahead(self.ahead, ahead) if is_same else None
        found_code = results.pop() if code_of is not None else None
        tagged = results.pop() if tag is not BlockTag.LATEST else None
        chain, block, *price = results
        self._check_chain(self._number(chain, "eth_chainId"))
        code = _read_hex(found_code) if isinstance(found_code, str) else None
        if gas_price is None:
            gas_price = self._number(price[0], _GAS_PRICE)
        head = ChainHead(self._block(block), gas_price, code=code)
        self._newest, self._newest_bloom = head.block, self._bloom(block)
        return head if tag is BlockTag.LATEST else self._tagged_head(head, tag, tagged)

    def _ahead_requests(self, ahead: AheadCalls) -> list[RpcRequest]:
        """Return the requests for calls on the latest block, all of which are optional."""
        tag = BlockTag.LATEST.value
        requests = [_hypothetical_request(each, tag) for each in ahead.trials]
        requests += [_call_request(each, tag) for each in ahead.calls]
        return [each._replace(may_be_null=True, is_optional=True, is_divisible=False) for each in requests]

    def _read_ahead(self, ahead: AheadCalls, found: Sequence[RpcResult]) -> AheadResults:
        data = [_read_hex(each) if isinstance(each, str) else None for each in found]
        data += [None] * (len(ahead.trials) + len(ahead.calls) - len(data))
        return AheadResults(data[len(ahead.trials) :], data[: len(ahead.trials)])

    def _tagged_head(self, latest: ChainHead, tag: BlockTag, found: RpcResult) -> ChainHead:
        """Return the head for the block that the node returned for a tag other than `latest`."""
        if found is None or isinstance(found, RpcError):
            others = [each for each in BlockTag if each is not tag]
            raise UpstreamRejected(
                f"{self.redacted_url} has no {tag} block",
                hint=f"use --block {', '.join(others[:-1])} or {others[-1]}, or set a different node",
                details={"tag": str(tag)},
            )
        if tag is not BlockTag.PENDING:
            return latest._replace(block=self._block(found), tag=tag)
        pending = self._pending_block(found)
        # Some nodes have no separate state for the pending block, and return the latest one.
        if pending.number <= latest.block.number:
            return latest
        return latest._replace(block=pending, tag=tag)

    def read_past_head(self, block: PastBlock) -> ChainHead:
        """Same as `HistoryNode.read_past_head`.

        The gas price is the block's base fee plus the median priority fee of the blocks up to it, which never changes.
        If the node has no fee history, it is the base fee alone, or the current price on a chain without base fees.
        """
        newest = self.read_head()
        found = self._find_past_block(block, newest.block)
        (fees,) = self._send([fee_history_request(found.number)], self._same_block(found))
        history = parse_fee_history(fees)
        price = history.price_wei(found) if history else None
        own_price = price if price is not None else found.base_fee_wei or None
        return ChainHead(
            found,
            newest.gas_price if own_price is None else own_price,
            tag=None,
            clock_offset_s=newest.clock_offset_s,
            has_own_price=own_price is not None,
        )

    def _find_past_block(self, block: PastBlock, newest: BlockHeader) -> BlockHeader:
        details: dict[str, object] = {"block": block, "newest": newest.number}
        if isinstance(block, int) and block > newest.number:
            raise InvalidInput(
                f"block {block:,} does not exist yet: the latest block of {self.redacted_url} is {newest.number:,}",
                hint=f"choose an earlier block: --block {newest.number}",
                details=details,
            )
        method, name = (_BLOCK, hex(block)) if isinstance(block, int) else (_BLOCK_BY_HASH, block)
        (found,) = self._send([RpcRequest(method, (name, False), may_be_null=True)])
        if found is None and isinstance(block, str):
            hint = "it may be on a different network, or have been replaced"
            raise InvalidInput(f"{self.redacted_url} has no block {block}", hint=hint, details=details)
        if found is None:
            raise UpstreamRejected(
                f"{self.redacted_url} no longer has block {block:,}",
                hint="set an archive node with --rpc-url",
                details=details,
            )
        header = self._block(found)
        if block not in (header.number, header.hash):
            self._fail(method, f"a different block than {block}")
        return header

    def read_block(self, number: int) -> BlockHeader | None:
        """Same as `Node.read_block`. Retries if the node has returned the block before, because some nodes behind a
        load balancer may lag."""
        is_new = self._newest is None or number > self._newest.number
        try:
            (found,) = self._send([_block_request(number, may_be_null=is_new)])
        except NullResult:
            return None
        if found is None:
            return None
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        return block

    def read_head_at(self, number: int, *, code_of: str | None = None) -> ChainHead | None:
        """Same as `WitnessableNode.read_head_at`."""
        requests = [RpcRequest("eth_chainId", ()), _block_request(number), RpcRequest(_GAS_PRICE, ())]
        if code_of is not None:
            requests.append(RpcRequest("eth_getCode", (code_of, hex(number))))
        chain, found, price, *code = self.send_optional(requests)
        self._check_chain(self._number(chain, "eth_chainId"))
        if found is None or isinstance(found, RpcError):
            return None
        block = self._block(found)
        if block.number != number:
            self._fail(_BLOCK, f"block {block.number} instead of {number}")
        gas_price: int | UpstreamError
        try:
            gas_price = self._number(price, _GAS_PRICE)
        except InvalidUpstreamResponse as error:
            gas_price = error
        return ChainHead(
            block, gas_price, tag=None, code=_read_hex(code[0]) if code and isinstance(code[0], str) else None
        )

    def _newest_request(self) -> RpcRequest:
        return _tagged_request(BlockTag.LATEST)

    def _header_request(self, number: int) -> RpcRequest:
        return _block_request(number, may_be_null=False)

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """Same as `Node.call`."""
        return self.call_many([ContractCall(to, calldata)], at)[0]

    @property
    def newest_bloom(self) -> int:
        """The bloom filter of the events in the latest block, as in `Node.read_blooms`."""
        return self._newest_bloom

    def try_call(self, call: ContractCall, at: BlockId) -> CallResult:
        """Return the result of one call, including the revert data if it reverts."""
        (found,) = self._send([RpcRequest(_CALL, (_message(call), _block_parameter(at)))], self._block_check(at))
        if isinstance(found, RpcError):
            return CallResult(False, _read_hex(found.data) or b"")
        return CallResult(True, self._bytes(found, _CALL))

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Same as `Node.call_many`, for any `at`. The number of round trips depends on the size of the calls."""
        tag = _block_parameter(at)
        return self._answers([_call_request(call, tag) for call in calls], at)

    def read_account(self, address: str, at: BlockId) -> Account:
        """Same as `StateOverrideNode.read_account`, in one round trip."""
        methods, params = ("eth_getBalance", "eth_getCode"), (address, _block_parameter(at))
        balance, code = self._send([RpcRequest(method, params) for method in methods], self._block_check(at))
        return Account(self._number(balance, methods[0]), self._bytes(code, methods[1]))

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """Same as `StateOverrideNode.simulate`."""
        return self.simulate_blocks((), calls, at)[1]

    def simulate_blocks(
        self, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
    ) -> tuple[list[BlockOutcome], list[ReturnData]]:
        """Same as `BlockSimulatingNode.simulate_blocks`, in one round trip."""
        tag = _block_parameter(at)
        requests = [_hypothetical_request(call, tag) for call in calls]
        requests += [RpcRequest(_SIMULATE, (_render_block(block), tag), is_optional=True) for block in blocks]
        results = self._send(requests, self._block_check(at))
        found = [
            _read_block(each, len(block.transactions))
            for block, each in zip(blocks, results[len(calls) :], strict=True)
        ]
        return found, [self._return_data(each) for each in results[: len(calls)]]

    def send_optional(self, requests: Sequence[RpcRequest]) -> list[RpcResult]:
        """Return the result of each optional request: an `RpcError` if the node rejects it.

        All requests are sent in one round trip. Raises `UpstreamError` if the node does not respond.
        """
        return self._rpc.send([each._replace(may_be_null=True, is_optional=True) for each in requests])

    def read_blooms(self, first: int, last: int) -> list[int]:
        """Same as `Node.read_blooms`. The filter of the latest block is cached."""
        blooms = {self._newest.number: self._newest_bloom} if self._newest else {}
        numbers = [number for number in range(first, last + 1) if number not in blooms]
        found = self._send([_block_request(number, may_be_null=False) for number in numbers]) if numbers else []
        for number, each in zip(numbers, found, strict=True):
            if self._block(each).number != number:
                self._fail(_BLOCK, f"a different block than {number}")
            blooms[number] = self._bloom(each)
        return [blooms[number] for number in range(first, last + 1)]

    def read_logs(self, query: LogFilter) -> list[Log]:
        """Same as `Node.read_logs`.

        Behind a load balancer, a node that has not seen the last block yet may return no events. A result counts only
        if the node has that block.
        """
        parameters: dict[str, object] = {
            "fromBlock": hex(query.from_block),
            "toBlock": hex(query.to_block),
        }
        if query.topics:
            parameters["topics"] = [list(each) for each in (query.topics, query.ids) if each]
        if query.addresses:
            parameters["address"] = list(query.addresses)
        is_range = query.from_block < query.to_block
        request = RpcRequest(_LOGS, (parameters,), is_divisible=is_range)
        (found,) = self._send([request], self._block_known(query.to_block))
        if not isinstance(found, list):
            self._fail(_LOGS, "no list")
        logs = [self._log(entry) for entry in found]
        if any(not query.from_block <= log.block_number <= query.to_block for log in logs):
            self._fail(_LOGS, "events of blocks that were not requested")
        return sorted(logs, key=lambda log: (log.block_number, log.log_index))

    def read_receipt(self, transaction: str) -> Receipt | None:
        """Same as `ReceiptNode.read_receipt`."""
        (found,) = self._send([RpcRequest(_RECEIPT, (transaction,), may_be_null=True)])
        if found is None:
            (pending,) = self.send_optional([RpcRequest(_TRANSACTION, (transaction,))])
            if isinstance(pending, dict):
                raise not_mined(transaction, "is pending")
            return None
        if not isinstance(found, dict):
            self._fail(_RECEIPT, "no receipt")
        if self._word(found.get("transactionHash"), _RECEIPT) != transaction.lower():
            self._fail(_RECEIPT, "the receipt of a different transaction")
        number, block_hash = found.get("blockNumber"), found.get("blockHash")
        if number is None or block_hash is None:
            raise not_mined(transaction, "is pending")
        if block_hash == _NO_HASH:
            raise not_mined(transaction, "is only preconfirmed")
        if not isinstance(found.get("logs"), list):
            self._fail(_RECEIPT, "a receipt without events")
        logs = [self._log(entry) for entry in found["logs"]]
        return Receipt(
            block_number=self._number(number, _RECEIPT),
            block_hash=self._word(block_hash, _RECEIPT),
            succeeded=self._number(found.get("status"), _RECEIPT) == 1,
            gas_used=self._number(found.get("gasUsed"), _RECEIPT),
            gas_price_wei=self._number(found.get("effectiveGasPrice") or "0x0", _RECEIPT),
            logs=tuple(sorted(logs, key=lambda log: log.log_index)),
        )

    def _answers(self, requests: Sequence[RpcRequest], at: BlockId) -> list[ReturnData]:
        return [self._return_data(each) for each in self._send(requests, self._block_check(at))]

    def _return_data(self, found: RpcResult) -> ReturnData:
        return None if isinstance(found, RpcError) else self._bytes(found, _CALL)

    def _block_check(self, at: BlockId) -> ConsistencyCheck | None:
        """Return the check that the chain still has the block, if `at` is a header."""
        if not isinstance(at, BlockHeader):
            return None
        return self._still_pending(at) if at.is_pending else self._same_block(at)

    def _still_pending(self, block: BlockHeader) -> ConsistencyCheck:
        """Return the check that the node is still building the block, on the same parent, or has just finished it."""

        def objection(found: RpcResult) -> UpstreamError | None:
            pending = self._pending_block(found)
            if (pending.number, pending.parent_hash) == (block.number, block.parent_hash):
                return None
            return BlockMismatch(
                f"{self.redacted_url} no longer builds block {block.number}",
                hint="try again",
                details={"block": block.number, "answered": pending.number},
            )

        return ConsistencyCheck(RpcRequest(_BLOCK, (BlockTag.PENDING, False)), objection)

    def _same_block(self, block: BlockHeader) -> ConsistencyCheck:
        """Return the check that the chain still has the block."""

        def objection(found: RpcResult) -> UpstreamError | None:
            if found is not None and self._block(found).hash == block.hash:
                return None
            return ChainReorganized(
                f"{self.redacted_url} has a different block {block.number} now: the chain was reorganized",
                hint="try again",
                details={"block": block.number},
            )

        return ConsistencyCheck(_block_request(block.number), objection)

    def _block_known(self, number: int) -> ConsistencyCheck:
        """Return the check that the node has the block, and that the newest reported block is unchanged."""
        if self._newest and self._newest.number == number:
            return self._same_block(self._newest)

        def objection(found: RpcResult) -> UpstreamError | None:
            return UpstreamRejected(f"{self.redacted_url} has no block {number}") if found is None else None

        return ConsistencyCheck(_block_request(number), objection)

    def _block(self, found: object) -> BlockHeader:
        if not isinstance(found, dict):
            self._fail(_BLOCK, "no block")
        return BlockHeader(
            number=self._number(found.get("number"), _BLOCK),
            hash=self._word(found.get("hash"), _BLOCK),
            parent_hash=self._word(found.get("parentHash"), _BLOCK),
            timestamp=self._number(found.get("timestamp"), _BLOCK),
            base_fee_wei=self._number(found.get("baseFeePerGas") or "0x0", _BLOCK),
        )

    def _pending_block(self, found: object) -> BlockHeader:
        """Return the header of the block being built; some nodes give it no hash."""
        if isinstance(found, dict) and not found.get("hash"):
            found = found | {"hash": _NO_HASH}
        return self._block(found)._replace(is_pending=True)

    def _bloom(self, found: object) -> int:
        """Return the filter in a header; 0 if it has none."""
        text = found.get("logsBloom") if isinstance(found, dict) else None
        return int(text, 16) if isinstance(text, str) and _is_bloom(text) else 0

    def _log(self, entry: object) -> Log:
        if not isinstance(entry, dict):
            self._fail(_LOGS, "an event that is not an object")
        address, topics = entry.get("address"), entry.get("topics")
        if not (isinstance(address, str) and _is_address(address)):
            self._fail(_LOGS, "an event without an address")
        if not isinstance(topics, list):
            self._fail(_LOGS, "an event without topics")
        return Log(
            address=address.lower(),
            topics=tuple([self._word(each, _LOGS) for each in topics]),
            data=self._bytes(entry.get("data"), _LOGS),
            block_number=self._number(entry.get("blockNumber"), _LOGS),
            log_index=self._number(entry.get("logIndex"), _LOGS),
            transaction=hash_ if isinstance(hash_ := entry.get("transactionHash"), str) and _is_hash(hash_) else "",
        )

    def _word(self, value: object, method: str) -> str:
        if not isinstance(value, str) or not _is_hash(value):
            self._fail(method, "something that is not a 32-byte word")
        return value.lower()

    def _bytes(self, value: object, method: str) -> bytes:
        content = _read_hex(value) if isinstance(value, str) else None
        if content is None:
            self._fail(method, "something that is not hex")
        return content


def wrong_chain(redacted_url: str, found: int, expected: int) -> InvalidUpstreamResponse:
    """Return the error for a node that belongs to another chain. `redacted_url` is its URL without credentials."""
    return InvalidUpstreamResponse(
        f"{redacted_url} is a node of chain {found}, not of chain {expected}",
        hint="set a node of the requested network",
        details={"expected": expected, "found": found},
    )


class HelperNode(SingleRpcNode):
    """One of several nodes that share reads. It is used only if its chain id is the expected one.

    Its events and state count only if it has the block `pinned_to` on its chain. It gives up after one timeout, because
    the other nodes can do its work.
    """

    def __init__(self, rpc: JsonRpcClient, chain_id: int) -> None:
        super().__init__(rpc, chain_id)
        self._client = rpc
        self._is_chain_checked = False
        self.pinned_to: BlockHeader | None = None

    def _send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        if not self._is_chain_checked:
            (chain,) = self._client.send([RpcRequest("eth_chainId", ())], max_timeouts=1)
            self._check_chain(self._number(chain, "eth_chainId"))
            self._is_chain_checked = True
        return self._client.send(requests, check, max_timeouts=1)

    def _block_known(self, number: int) -> ConsistencyCheck:
        if self.pinned_to and number <= self.pinned_to.number:
            return self._same_block(self.pinned_to)
        return super()._block_known(number)


class NodePolicy(NamedTuple):
    """The policy for calling a node: timeouts, retries and limits.

    `timeout_s` limits one exchange. Each exchange is tried at most `attempts` times, or twice if it times out. `pause`
    sleeps between attempts. `report` receives a sentence at each switch to a spare and at each failure. The nodes'
    limits are read from `limits_file`, and saved there soon after they are learned; `burst` is as in `NodeLimits`.
    `documented` are the published limits of public nodes. With `shares_load`, the spares share large reads, in
    parallel.
    """

    timeout_s: float = TIMEOUT_S
    attempts: int = ATTEMPTS
    pause: Callable[[float], object] = time.sleep
    report: Callable[[str], object] = bool
    limits_file: NodeLimitsFile | None = None
    burst: int = 0
    documented: Sequence[PublicNode] = ()
    shares_load: bool = False

    def limits_of(self, url: str) -> NodeLimits:
        """Return the limits of a node: the limits in the file, and those that the operator of a public node
        documents."""
        limits = self.limits_file.load(url, burst=self.burst) if self.limits_file else NodeLimits(burst=self.burst)
        for public in self.documented:
            if public.url == url:
                limits.assume(public)
        return limits


_USUAL_POLICY: Final = NodePolicy()


class FailoverNode(JsonRpcNode):
    """A node with spares, which replace it one after another when it fails.

    `endpoints` are the node and its spares; `chain_id` is the expected chain id. `gas_price_wei` replaces the gas price
    of EVM nodes. With `network_time`, nodes are compared with each other if one node's latest block is far from this
    machine's clock. Not thread-safe.
    """

    def __init__(
        self,
        endpoints: Sequence[RpcEndpoint],
        chain_id: int,
        policy: NodePolicy = _USUAL_POLICY,
        *,
        gas_price_wei: int | None = None,
        network_time: NetworkTime | None = None,
    ) -> None:
        """Prepare the connections without opening them. Raises `ConfigError` for an invalid URL."""
        has_spares = len(endpoints) > 1
        attempts = policy.attempts
        if has_spares and not policy.shares_load:
            attempts = min(attempts, _ATTEMPTS_WITH_SPARES)
        self._limits_file = policy.limits_file
        self._limits = {each.url: policy.limits_of(each.url) for each in endpoints}
        self._saved_limits = self._learned_limits()
        self._next_save_s = 0.0
        self._endpoints_in_order, self._policy = endpoints, policy
        self._connections_in_order = [each.connect() for each in endpoints]
        clients = [
            JsonRpcClient(connection, policy.timeout_s, attempts, policy.pause, self._limits[each.url])
            for connection, each in zip(self._connections_in_order, endpoints, strict=True)
        ]
        self._failover = FailoverClient(clients, chain_id, policy.report, self.chain_id_method)
        super().__init__(self._failover, chain_id)
        self.gas_price_wei = gas_price_wei
        self._time = network_time
        hosts = [urlsplit(each.redacted_url).netloc or each.redacted_url for each in endpoints]
        self._clients_by_host = dict(zip(reversed(hosts), reversed(clients), strict=True))
        helpers = self._make_helpers(clients) if policy.shares_load and has_spares else []
        self._helpers, self._group = helpers, NodeGroup(helpers, policy.report)
        self._watch: HeadWatch | None = None

    def watch_heads(
        self, heads: PollingHeads | SubscribedHeads, *, min_period_s: float
    ) -> PollingHeads | SubscribedHeads | WatchedHeads:
        """Return a head source for a follower that always reads the best node. If there are several nodes, it watches
        all of them."""
        if len(self._endpoints_in_order) < 2:
            return heads
        from swapcli.state.rpc.head_rule import HeadRule
        from swapcli.state.rpc.head_source import SubscribedHeads
        from swapcli.state.rpc.head_watch import LOOK_TIMEOUT_S, HeadWatch, WatchedHeads

        policy = self._policy
        readers: list[HeadReader] = []
        for each in self._endpoints_in_order:
            limits = policy.limits_of(each.url)
            client = JsonRpcClient(each.connect(), min(policy.timeout_s, LOOK_TIMEOUT_S), 1, policy.pause, limits)
            readers.append(cast("HeadReader", self._single_node(client)))
        names = [each.redacted_url for each in self._endpoints_in_order]
        block_time_s = self._time.block_time_s if self._time else None
        rule = HeadRule(names, block_time_s, policy.report, clock_s=lambda: time.time() + self.clock_offset_s)
        announced: dict[int, Callable[[], BlockHeader | None]] = {}
        if isinstance(heads, SubscribedHeads):
            lasting = [each.connection is not None for each in self._endpoints_in_order]
            announced[lasting.index(True)] = lambda: heads.announced
        self._watch = HeadWatch(rule, readers, self._leave_failing_node, announced)
        return WatchedHeads(heads, self._watch, min_period_s=min_period_s)

    @property
    def current(self) -> int:
        """The index of the node that is read."""
        return self._failover.current

    def prefer(self, index: int) -> None:
        """Use the node at `index` from now on, because another process has found it to be the best."""
        self._failover.prefer(index)

    def _leave_failing_node(self) -> None:
        """End the exchange with the node that is read if it no longer returns its latest block."""
        current = self._failover.current
        connection = self._connections_in_order[current]
        if self._watch and self._watch.rule.is_failing(current) and isinstance(connection, HttpConnection):
            connection.abort()

    def _read_best_head(self, read: Callable[[], ChainHead]) -> ChainHead:
        """If nodes are watched, return the highest of their latest blocks that counts; otherwise the current node's.

        Raises `StaleNode` if no block counts.
        """
        if self._watch is None or not self._watch.is_running:
            return self._with_time(read(), self._newest)
        rule, failover = self._watch.rule, self._failover
        failover.rule = rule
        tried: set[int] = set()
        best: tuple[int, ChainHead, BlockHeader] | None = None
        while (index := rule.choose(tried, best[2].number if best else -1)) is not None:
            failover.prefer(index)
            highest = rule.highest
            try:
                head = read()
                tried |= {index, failover.current}
                assert self._newest
                if rule.see(failover.current, self._newest, highest, self.read_headers, is_read=True):
                    best = failover.current, head, self._newest
            except UpstreamError:
                tried.add(index)
                if best is None and rule.choose(tried) is None:
                    raise
        if best is None:
            raise rule.no_node()
        current, head, newest = best
        failover.use(current)
        if newest is not self._newest:
            self._newest = None  # other data about it belongs to another block
        rule.serve(current, newest)
        return self._with_time(head, newest)

    def _make_helpers(self, clients: Sequence[JsonRpcClient]) -> list[HelperNode]:
        """Return the nodes that can share large reads; empty unless this kind of network has them."""
        del clients
        return []

    def close(self) -> None:
        """Close the connections, and save the limits that were learned."""
        self._failover.close()
        self.save_limits()

    def save_limits(self) -> None:
        """Save the limits that were learned."""
        if self._limits_file:
            self._limits_file.save(self._limits)
            self._saved_limits, self._next_save_s = self._learned_limits(), time.monotonic() + _MIN_SAVE_INTERVAL_S

    def _learned_limits(self) -> list[object]:
        return [limits.document() for limits in self._limits.values()]

    def _save_new_limits(self) -> None:
        """Save newly learned limits, unless they have just been saved."""
        if time.monotonic() >= self._next_save_s and self._learned_limits() != self._saved_limits:
            self.save_limits()

    def _send(self, requests: Sequence[RpcRequest], check: ConsistencyCheck | None = None) -> list[RpcResult]:
        try:
            return super()._send(requests, check)
        finally:
            self._save_new_limits()

    @property
    def clock_offset_s(self) -> float:
        """Same as `KnowsTime.clock_offset_s`."""
        return self._time.offset_s if self._time else 0.0

    def _with_time(self, head: ChainHead, newest: BlockHeader | None) -> ChainHead:
        """Return a new head with the offset of this machine's clock. If its time looks wrong, all nodes are queried."""
        if self._time is None or newest is None:
            return head
        if not self._time.is_current(newest.timestamp):
            max_wait_s = min(_LOOK_BLOCKS * self._time.block_time_s, _MAX_LOOK_S)
            self._time.correct(self._clients_by_host, self._look, max_wait_s)
        offset_s = self._time.offset_s
        return head._replace(clock_offset_s=offset_s) if offset_s else head

    def _look(self, host: str) -> Sighting | None:
        """Return the latest block of one node; None if it fails."""
        client = self._clients_by_host[host]
        return look_at(self._single_node(client), client, self._time)

    @abstractmethod
    def _single_node(self, client: JsonRpcClient) -> Node:
        """Return one of the nodes as a separate node."""

    def use_spare(self, error: UpstreamError) -> bool:
        """Same as `Node.use_spare`. For a minute, the new node is the only one in use."""
        self._group.rest_all()
        return self._failover.fail_over(error)

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """Same as `Node.helpers`."""
        helpers = self._group.available()
        if self._watch is not None:
            helpers = [each for each in helpers if not self._watch.rule.is_doubted(self._helpers.index(each))]
        for helper in helpers:
            helper.pinned_to = at
        return helpers

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """Same as `Node.report_helpers`."""
        self._group.record(failures, helpers)
        self._save_new_limits()


def look_at(node: Node, client: JsonRpcClient, network_time: NetworkTime | None) -> Sighting | None:
    """Return a sighting of a node's latest block; None if the node fails. `client` sends the node's requests."""
    try:
        block = node.read_head().block
    except UpstreamError:
        return None
    return network_time.see(block.number, block.timestamp, client.date) if network_time else None


class RpcNode(FailoverNode, SingleRpcNode):
    """A `Node` of an EVM network that may have spares (`FailoverNode`)."""

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Same as `SingleRpcNode.read_head`."""
        read = super().read_head
        return self._read_best_head(lambda: read(tag, code_of=code_of))

    def read_head_ahead(
        self, calls: AheadCalls, *, code_of: str | None = None
    ) -> tuple[ChainHead, AheadResults | None]:
        """Same as `SingleRpcNode.read_head_ahead`. If several nodes are watched, the calls are not sent."""
        if self._watch is not None:
            return self.read_head(code_of=code_of), None
        return super().read_head_ahead(calls, code_of=code_of)

    def _single_node(self, client: JsonRpcClient) -> SingleRpcNode:
        return SingleRpcNode(client, self._chain_id)

    def _make_helpers(self, clients: Sequence[JsonRpcClient]) -> list[HelperNode]:
        return [HelperNode(client, self._chain_id) for client in clients]


def _read_hex(text: str) -> bytes | None:
    """Return the bytes of hex text with 0x; None for other text. A regular expression would be slow on long data."""
    try:
        content = bytes.fromhex(text[2:])
    except ValueError:
        return None
    has_spaces = len(text) != 2 + 2 * len(content)  # these are skipped
    return None if has_spaces or not text.startswith("0x") else content


def _block_request(number: int, *, may_be_null: bool = True) -> RpcRequest:
    return RpcRequest(_BLOCK, (hex(number), False), may_be_null)


def _tagged_request(tag: BlockTag) -> RpcRequest:
    """Return the request for a tagged block. For unknown tags, nodes reject it or return null."""
    is_optional = tag is not BlockTag.LATEST
    return RpcRequest(_BLOCK, (tag, False), may_be_null=is_optional, is_optional=is_optional)


def _block_parameter(at: BlockId) -> str:
    """Return the block parameter of a state request."""
    is_pending = isinstance(at, BlockHeader) and at.is_pending
    return BlockTag.PENDING.value if is_pending else hex(block_number(at))


def _call_request(call: ContractCall, tag: str) -> RpcRequest:
    """Return the request for a call, with the sender and the gas price of its context, if any."""
    context = call.context
    if context is None:
        # A call without a contract runs code. Some nodes reject code; then only the reads that need it fail.
        runs_code = not call.to
        return RpcRequest(_CALL, (_message(call), tag), is_optional=runs_code, is_divisible=call.is_divisible)
    message = _message(call, context.sender) | {"gasPrice": hex(context.gas_price_wei)}
    # Nodes reject a call if its sender cannot pay for the gas.
    can_pay = render_overrides([StateOverride(context.sender, balance_wei=_ANY_BALANCE_WEI)])
    return RpcRequest(_CALL, (message, tag, can_pay))


def _hypothetical_request(call: HypotheticalCall, tag: str) -> RpcRequest:
    message = _message(call.call, call.sender)
    for name, number in (("gasPrice", call.gas_price_wei), ("gas", call.gas), ("value", call.value_wei)):
        if number:
            message[name] = hex(number)
    return RpcRequest(_CALL, (message, tag, render_overrides(call.overrides)), is_optional=call.gas_price_wei > 0)


def _render_block(block: SimulatedBlock) -> dict[str, object]:
    """Return the first parameter of `eth_simulateV1`."""
    environment = {"time": hex(block.timestamp), "baseFeePerGas": hex(block.base_fee_wei)}
    if block.fee_recipient:
        environment["feeRecipient"] = f"0x{block.fee_recipient:040x}"
    if block.gas_limit:
        environment["gasLimit"] = hex(block.gas_limit)
    if block.randomness:
        environment["prevRandao"] = f"0x{block.randomness:064x}"
    calls = [
        {
            "from": each.sender,
            "to": each.to,
            "data": f"0x{each.calldata.hex()}",
            "value": hex(each.value_wei),
            "gas": hex(each.gas),
            "gasPrice": hex(block.gas_price_wei),
        }
        for each in block.transactions
    ]
    state = {"blockOverrides": environment, "stateOverrides": render_overrides(block.overrides), "calls": calls}
    return {"blockStateCalls": [state], "validation": block.is_validated, "traceTransfers": True}


def _read_block(found: RpcResult, count: int) -> BlockOutcome:
    """Return the outcomes of one block's transactions; None for a rejection or any other response."""
    block = found[0] if isinstance(found, list) and len(found) == 1 else None
    calls = block.get("calls") if isinstance(block, dict) else None
    if not isinstance(calls, list):
        return None
    outcomes = [outcome for call in calls if (outcome := _read_outcome(call)) is not None]
    return tuple(outcomes) if len(outcomes) == len(calls) == count else None


def _read_outcome(call: object) -> TransactionOutcome | None:
    if not isinstance(call, dict):
        return None
    error, gas_used, logs = call.get("error"), call.get("gasUsed"), call.get("logs")
    # A revert's data is in its error; some nodes also return it here.
    reverted = error.get("data") if isinstance(error, dict) else None
    data = _read_hex(reverted) if isinstance(reverted, str) else None
    if data is None and isinstance(call.get("returnData"), str):
        data = _read_hex(call["returnData"])
    if data is None or not isinstance(gas_used, str) or not _is_quantity(gas_used):
        return None
    transfers = tuple(
        transfer for log in (logs if isinstance(logs, list) else ()) if (transfer := _read_native_transfer(log))
    )
    return TransactionOutcome(call.get("status") == "0x1", data, int(gas_used, 16), transfers)


def _read_native_transfer(log: object) -> NativeTransfer | None:
    """Return the transfer of native currency that a log represents; None for a contract's event."""
    if not isinstance(log, dict) or log.get("address") != _NATIVE_LOGS:
        return None
    topics, data = log.get("topics"), log.get("data")
    if not isinstance(topics, list) or len(topics) != 3 or not all(isinstance(t, str) and _is_hash(t) for t in topics):
        return None
    if not isinstance(data, str) or not _is_quantity(data):
        return None
    sender, receiver = (f"0x{topic[-40:]}".lower() for topic in topics[1:])
    return NativeTransfer(sender, receiver, int(data, 16))


def _message(call: ContractCall, sender: str | None = None) -> dict[str, str]:
    message = {"data": f"0x{call.calldata.hex()}"}
    if call.to:
        message["to"] = call.to
    return message if sender is None else message | {"from": sender}


def render_overrides(overrides: Sequence[StateOverride]) -> dict[str, dict[str, object]]:
    """Return the third parameter of `eth_call` and `eth_estimateGas`; overrides of the same account are merged."""
    state: dict[str, dict[str, object]] = {}
    for each in overrides:
        known = state.setdefault(each.address, {})
        for name, value in _changes(each):
            present = known.get(name)
            known[name] = present | value if isinstance(present, dict) and isinstance(value, dict) else value
    return state


def _changes(override: StateOverride) -> Iterator[tuple[str, object]]:
    if override.balance_wei is not None:
        yield "balance", hex(override.balance_wei)
    if override.code is not None:
        yield "code", f"0x{override.code.hex()}"
    if override.slots:
        yield "stateDiff", {f"0x{slot:064x}": f"0x{value:064x}" for slot, value in override.slots}
