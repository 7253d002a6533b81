"""The protocol of a node. Programs use nodes over JSON-RPC, and tests use an EVM in the same process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Protocol, runtime_checkable

from swapcli.core.errors import UpstreamError
from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.past_block import PastBlock
from swapcli.core.records import NamedTuple
from swapcli.families.reading.calls import ContractCall, Log, ReturnData
from swapcli.state.rpc.node_limits import NodeLimits


class BlockHeader(NamedTuple):
    """A block's header. `timestamp` is in Unix seconds; `base_fee_wei` is 0 if the chain has no base fee.

    `is_pending` marks the block that the network is still building. Its state changes, and its `hash` proves nothing.
    """

    number: int
    hash: str
    parent_hash: str
    timestamp: int
    base_fee_wei: int
    is_pending: bool = False


BlockId = int | BlockHeader
"""The block after which state is read: a number selects any block with that number, a `BlockHeader` only that exact
block, or the pending block on the same parent."""


def block_number(at: BlockId) -> int:
    """Return the block number in a header, or the number itself."""
    return at.number if isinstance(at, BlockHeader) else at


class ChainHead(NamedTuple):
    """A recent block, which the node calls `tag`, with the current gas price, or a past block without a tag.

    `gas_price` is in wei, or the error of a node that does not serve it. `code` is the requested contract's, None if
    none was requested or the node did not return it. `clock_offset_s` is the number of seconds to add to this machine's
    clock to get the time on which several nodes agree. It is 0 if the clock is right, or if nothing proves it wrong.
    A past block without a price of its own has the current one, and `has_own_price` is false.
    """

    block: BlockHeader
    gas_price: int | UpstreamError
    tag: BlockTag | None = BlockTag.LATEST
    code: bytes | None = None
    clock_offset_s: float = 0.0
    has_own_price: bool = True

    @property
    def gas_price_wei(self) -> int:
        """The gas price. Raises `UpstreamError` if the node does not serve it."""
        if isinstance(self.gas_price, UpstreamError):
            raise self.gas_price
        return self.gas_price


class LogFilter(NamedTuple):
    """A filter for events from `addresses` with one of `topics` as the first topic, from block `from_block` to
    `to_block` inclusive. Empty `addresses` or `topics` match everything.

    If there are `ids`, only events whose second topic is one of `ids`.
    """

    addresses: tuple[str, ...]
    topics: tuple[str, ...]
    from_block: int
    to_block: int
    ids: tuple[str, ...] = ()


class Node(Protocol):
    """A node of one network. Every method raises `UpstreamError` if the node gives no valid response."""

    @property
    def redacted_url(self) -> str:
        """The node's URL without credentials, for messages."""

    @property
    def limits(self) -> NodeLimits:
        """The known limits of the node."""

    def read_head(self, tag: BlockTag = BlockTag.LATEST, *, code_of: str | None = None) -> ChainHead:
        """Return the block that the node calls `tag`, with the code of the contract `code_of` at that block. Checks the
        chain id.

        If there is no pending block, the latest block is returned instead. Raises `UpstreamRejected` if the node does
        not know the tag.
        """

    def read_block(self, number: int) -> BlockHeader | None:
        """Return a block by its number; None if the chain does not have it yet."""

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """Return the data of one call on the state after a block.

        Raises `ChainReorganized` if `at` is a header and the chain no longer has that block."""

    def call_many(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Return the data of many calls on the state after a block, in order. Raises the same errors as `call`."""

    def use_spare(self, error: UpstreamError) -> bool:
        """Switch to another node because of `error`. Return whether there is one."""

    def helpers(self, at: BlockHeader) -> Sequence[Node]:
        """Return the individual nodes that share large reads of this block's chain in parallel; empty if the node works
        alone.

        The helpers are valid only until the next call of any method on this node.
        """

    def report_helpers(self, failures: Mapping[Node, UpstreamError], helpers: Sequence[Node]) -> None:
        """Report the `failures` among `helpers`, so that failed helpers are not used for a while."""

    def read_blooms(self, first: int, last: int) -> list[int]:
        """Return the bloom filters of the events in blocks `first` to `last`, 0 if the network does not fill them.

        Each filter is an integer of 2,048 bits. Raises `InvalidUpstreamResponse` if the node does not know one of the
        blocks.
        """

    def read_logs(self, query: LogFilter) -> list[Log]:
        """Return the events that match the query, in chain order.

        Raises `UpstreamRejected` also if there are too many events for the node, and `ChainReorganized` if the query
        ends at the latest known block and the chain no longer has that block.
        """


@runtime_checkable
class HashPinnedNode(Node, Protocol):
    """A node that reads state by the hash of a `BlockHeader`, so every result is certain to belong to that block."""

    pins_by_hash: ClassVar[bool]


@runtime_checkable
class WitnessableNode(Node, Protocol):
    """A node that can confirm the state of another node's block."""

    def read_head_at(self, number: int, *, code_of: str | None = None) -> ChainHead | None:
        """Return the block with that number, the current gas price and the code of the contract `code_of`, after
        checking the chain id; None if the node does not have the block."""


class HistoryNode(Node, Protocol):
    """A node that also finds blocks of any age, whether or not it still has their state."""

    def read_past_head(self, block: PastBlock) -> ChainHead:
        """Return a block by its number or hash, with the gas price at that time. Checks the chain id.

        Raises `InvalidInput` for a block that the chain does not have, and `UpstreamRejected` for one that the node no
        longer has."""


@runtime_checkable
class RememberingNode(Node, Protocol):
    """A node that may remember the results of calls on a block's state, if they can never change."""

    def recall(self, calls: Sequence[ContractCall], at: BlockHeader) -> Mapping[int, ReturnData]:
        """Return the remembered results, by the position of the call in `calls`."""

    def remember(self, answers: Sequence[tuple[ContractCall, ReturnData]], at: BlockHeader) -> None:
        """Remember the results of calls. They must be certain to belong to the block `at`."""


@runtime_checkable
class BudgetedNode(Protocol):
    """A node that accepts a limited number of requests for each block."""

    @property
    def requests_left(self) -> int:
        """The number of requests that may still be sent for the current block."""

    def allow_requests(self, max_requests: int) -> None:
        """Allow `max_requests` requests from now on, for a command that reads many blocks."""


@runtime_checkable
class KnowsTime(Protocol):
    """An object, such as a node, that compares this machine's clock with the time of several nodes."""

    @property
    def clock_offset_s(self) -> float:
        """The current offset, as in `ChainHead.clock_offset_s`."""


class Account(NamedTuple):
    """The native balance of an address in wei, and its code, which is `b""` if there is none."""

    balance_wei: int
    code: bytes


class StateOverride(NamedTuple):
    """A hypothetical state of an account. A field that is None keeps the real value. `slots` are pairs of a storage
    slot and its new word; other slots keep their real values."""

    address: str
    balance_wei: int | None = None
    code: bytes | None = None
    slots: tuple[tuple[int, int], ...] = ()


class HypotheticalCall(NamedTuple):
    """A call by `sender` on state with `overrides`.

    With a `gas_price_wei`, contracts see the gas price and the base fee of a transaction. The sender must then be able
    to pay for `gas`, and a rejection by the node counts as a revert.
    """

    sender: str
    call: ContractCall
    overrides: tuple[StateOverride, ...]
    gas_price_wei: int = 0
    gas: int = 0
    value_wei: int = 0


class AheadCalls(NamedTuple):
    """Calls on the latest block that a node runs in the same exchange that returns the block's number.

    `proves` returns whether the results of `calls` show that they ran on the state of a block. Results of other calls
    prove nothing.
    """

    calls: Sequence[ContractCall]
    proves: Callable[[Sequence[ReturnData], BlockHeader], bool]
    trials: Sequence[HypotheticalCall] = ()


class AheadResults(NamedTuple):
    """The return data of `AheadCalls`, in order; None for a call that the node did not run, or that reverted."""

    calls: Sequence[ReturnData]
    trials: Sequence[ReturnData] = ()


@runtime_checkable
class AheadNode(Node, Protocol):
    """A node that runs calls on its latest block while it returns that block's header."""

    def read_head_ahead(
        self, calls: AheadCalls, *, code_of: str | None = None
    ) -> tuple[ChainHead, AheadResults | None]:
        """Return the latest block, as `read_head` does, and the results of the calls; None if the calls were not sent.

        The caller must check to which block the results belong.
        """


class SimulatedTransaction(NamedTuple):
    """A transaction from `sender`, with its gas limit and value."""

    sender: str
    to: str
    calldata: bytes
    gas: int
    value_wei: int = 0


class SimulatedBlock(NamedTuple):
    """The transactions of one block, each on the state after the previous one. The first runs on the state with
    `overrides`.

    All transactions pay `gas_price_wei`. Zero in `fee_recipient`, `randomness` or `gas_limit` keeps the node's own
    value. If `is_validated`, the node checks nonces, balances and fees as for signed transactions, and rejects senders
    with code.
    """

    transactions: tuple[SimulatedTransaction, ...]
    overrides: tuple[StateOverride, ...]
    timestamp: int
    base_fee_wei: int
    gas_price_wei: int
    fee_recipient: int = 0
    randomness: int = 0
    gas_limit: int = 0
    is_validated: bool = True


class NativeTransfer(NamedTuple):
    """A transfer of native currency made by a transaction. Gas payments are not included."""

    sender: str
    receiver: str
    amount_wei: int


class TransactionOutcome(NamedTuple):
    """The result of a simulated transaction: its return data, or the data with which it reverted."""

    succeeded: bool
    data: bytes
    gas_used: int
    transfers: tuple[NativeTransfer, ...] = ()


BlockOutcome = tuple[TransactionOutcome, ...] | None
"""The results of a `SimulatedBlock`, one for each transaction; None if the node does not simulate it."""


@runtime_checkable
class StateOverrideNode(Node, Protocol):
    """A node that also simulates calls on overridden state."""

    def read_account(self, address: str, at: BlockId) -> Account:
        """Return an account's state after a block. Raises `ChainReorganized` in the same case as `call`."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """Return the results of calls on overridden state. Each call runs independently of the others.

        Raises `ChainReorganized` in the same case as `call`, and `UpstreamRejected` if the node does not support
        overrides. Some nodes silently ignore overrides instead.
        """


@runtime_checkable
class BlockSimulatingNode(StateOverrideNode, Protocol):
    """A node that may also simulate transactions as part of a block."""

    def simulate_blocks(
        self, blocks: Sequence[SimulatedBlock], calls: Sequence[HypotheticalCall], at: BlockId
    ) -> tuple[list[BlockOutcome], list[ReturnData]]:
        """Return the outcomes of `blocks`, each simulated directly after the block `at`, and the results of `calls` as
        in `simulate`.

        Raises the same errors as `simulate`.
        """
