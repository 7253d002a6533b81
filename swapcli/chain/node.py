"""The protocol of a node. Programs use JSON-RPC; tests use an EVM in process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from swapcli.errors import UpstreamError

ReturnData = bytes | None
"""The return data of a call; None if it reverted. An address without code returns `b""`."""


class ContractCall(NamedTuple):
    """A call of a contract. `may_revert` marks calls that some contracts of the kind do not support.

    If `to` is empty, `calldata` itself runs as code.
    """

    to: str
    calldata: bytes
    may_revert: bool = False


class BlockHeader(NamedTuple):
    """A block's header. `timestamp` is in Unix seconds; `base_fee_wei` is 0 if the chain has no base fee."""

    number: int
    hash: str
    parent_hash: str
    timestamp: int
    base_fee_wei: int


BlockId = int | BlockHeader
"""The state after which block is asked about. A number takes any block that has it; a `Block` only that very one."""


def block_number(at: BlockId) -> int:
    """The number of the block."""
    return at.number if isinstance(at, BlockHeader) else at


class ChainHead(NamedTuple):
    """The newest block and its gas price."""

    block: BlockHeader
    gas_price_wei: int


class Log(NamedTuple):
    """An event. `topics` are 32 bytes each in hex, the first is its kind; `log_index` is its position in the block."""

    address: str
    topics: tuple[str, ...]
    data: bytes
    block_number: int
    log_index: int


class LogFilter(NamedTuple):
    """The events of these contracts with these first topics (all if empty), from block `first` to `last` inclusive."""

    addresses: tuple[str, ...]
    topics: tuple[str, ...]
    from_block: int
    to_block: int


class Node(Protocol):
    """A node of one network. Every method raises `UpstreamError` if the node gives no valid response."""

    @property
    def shown(self) -> str:
        """Its URL without credentials, for messages."""

    def head(self) -> ChainHead:
        """Return the newest block, after checking the chain id."""

    def block(self, number: int) -> BlockHeader | None:
        """Return a block by its number; None if the chain does not have it yet."""

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """One call on the state after a block. Raises `ChainReorganized` where the chain no longer has that very
        block."""

    def batch(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Many calls on the state after a block, answers in their order. Raises `ChainReorganized` as `call` does."""

    def use_spare(self, error: UpstreamError) -> bool:
        """Switch to another node because of this error. Return whether there is one."""

    def blooms(self, first: int, last: int) -> list[int]:
        """Return the bloom filters of the events of blocks `first` to `last`, 0 where the network does not fill them.

        One number of 2,048 bits a block. Of a node that does not know one of the blocks `InvalidUpstreamResponse` is
        raised.
        """

    def logs(self, query: LogFilter) -> list[Log]:
        """Events in the order of the chain. Raises `UpstreamRejected` also where they are too many for the node, and
        `ChainReorganized` where they reach up to the block that was the newest, and the chain no longer has that
        one."""


class Account(NamedTuple):
    """The native balance of an address in wei, and its code: `b""` for none."""

    balance_wei: int
    code: bytes


class StateOverride(NamedTuple):
    """What an account is taken to have in the place of what it has. None leaves it; `slots` are words of its storage by
    their places, beside which the others stay."""

    address: str
    balance_wei: int | None = None
    code: bytes | None = None
    slots: tuple[tuple[int, int], ...] = ()


class HypotheticalCall(NamedTuple):
    """A call by `sender`, as it would go if accounts had what `overrides` say."""

    sender: str
    call: ContractCall
    overrides: tuple[StateOverride, ...]


@runtime_checkable
class StateOverrideNode(Node, Protocol):
    """A node that also simulates calls on overridden state."""

    def account(self, address: str, at: BlockId) -> Account:
        """An account after a block. Raises `ChainReorganized` as `call` does."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """The answers to calls on a state that is not, each on its own. Raises `ChainReorganized` as `call` does, and
        `UpstreamRejected` where the node knows no overrides; one that pays them no heed answers without them."""
