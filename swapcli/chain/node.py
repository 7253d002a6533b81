"""What is asked of a node. Tests answer from an EVM in process; programs ask over JSON-RPC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from swapcli.errors import UpstreamError

ReturnData = bytes | None
"""What a contract returned; None where the call reverted. An address without code returns nothing, `b""`."""


class ContractCall(NamedTuple):
    """A question to a contract. `may_revert` tells of one that contracts of the kind need not answer.

    Where `to` is empty, `calldata` itself is run as code.
    """

    to: str
    calldata: bytes
    may_revert: bool = False


class BlockHeader(NamedTuple):
    """A block's place in the chain. `timestamp` in Unix seconds; `base_fee_wei` 0 where the chain has none."""

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
    """The newest block, and what gas costs at it."""

    block: BlockHeader
    gas_price_wei: int


class Log(NamedTuple):
    """An event: `topics` are 32 bytes each, the first tells its kind; `log_index` is its place in the block."""

    address: str
    topics: tuple[str, ...]
    data: bytes
    block_number: int
    log_index: int


class LogFilter(NamedTuple):
    """Which events: of these contracts, of these kinds (all where empty), from block `first` to `last` inclusive."""

    addresses: tuple[str, ...]
    topics: tuple[str, ...]
    from_block: int
    to_block: int


class Node(Protocol):
    """A node of one network. Every method raises `UpstreamError` where it gets no proper answer."""

    @property
    def shown(self) -> str:
        """What people may see of its address."""

    def head(self) -> ChainHead:
        """The newest block, of a chain whose id has just been checked."""

    def block(self, number: int) -> BlockHeader | None:
        """A block by its number; None where the chain has not got so far."""

    def call(self, to: str, calldata: bytes, at: BlockId) -> ReturnData:
        """One call on the state after a block. Raises `ChainReorganized` where the chain no longer has that very
        block."""

    def batch(self, calls: Sequence[ContractCall], at: BlockId) -> list[ReturnData]:
        """Many calls on the state after a block, answers in their order. Raises `ChainReorganized` as `call` does."""

    def use_spare(self, error: UpstreamError) -> bool:
        """Ask another node from now on, because of what this one answered. Return whether there is one."""

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
    """What an address holds of the native currency in wei, and the code that it runs: `b""` for none."""

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
    """A node that can also be asked what would be if."""

    def account(self, address: str, at: BlockId) -> Account:
        """An account after a block. Raises `ChainReorganized` as `call` does."""

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        """The answers to calls on a state that is not, each on its own. Raises `ChainReorganized` as `call` does, and
        `UpstreamRejected` where the node knows no overrides; one that pays them no heed answers without them."""
