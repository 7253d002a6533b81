"""What is asked of a node. Tests answer from an EVM in process; programs ask over JSON-RPC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable

Answer = bytes | None
"""What a contract returned; None where the call reverted. An address without code returns nothing, `b""`."""


class Call(NamedTuple):
    """A question to a contract. `may_revert` tells of one that contracts of the kind need not answer."""

    to: str
    calldata: bytes
    may_revert: bool = False


class Block(NamedTuple):
    """A block's place in the chain. `timestamp` in Unix seconds; `base_fee_wei` 0 where the chain has none."""

    number: int
    hash: str
    parent: str
    timestamp: int
    base_fee_wei: int


At = int | Block
"""The state after which block is asked about. A number takes any block that has it; a `Block` only that very one."""


def number_of(at: At) -> int:
    """The number of the block."""
    return at.number if isinstance(at, Block) else at


class Head(NamedTuple):
    """The newest block, and what gas costs at it."""

    block: Block
    gas_price_wei: int


class Log(NamedTuple):
    """An event: `topics` are 32 bytes each, the first tells its kind; `position` is its place in the block."""

    address: str
    topics: tuple[str, ...]
    content: bytes
    block: int
    position: int


class LogQuery(NamedTuple):
    """Which events: of these contracts (all where empty), of these kinds, from block `first` to `last` inclusive."""

    addresses: tuple[str, ...]
    topics: tuple[str, ...]
    first: int
    last: int


class Node(Protocol):
    """A node of one network. Every method raises `UpstreamError` where it gets no proper answer."""

    @property
    def shown(self) -> str:
        """What people may see of its address."""

    def head(self) -> Head:
        """The newest block, of a chain whose id has just been checked."""

    def block(self, number: int) -> Block | None:
        """A block by its number; None where the chain has not got so far."""

    def call(self, to: str, calldata: bytes, at: At) -> Answer:
        """One call on the state after a block. Raises `Reorganised` where the chain no longer has that very block."""

    def batch(self, calls: Sequence[Call], at: At) -> list[Answer]:
        """Many calls on the state after a block, answers in their order. Raises `Reorganised` as `call` does."""

    def logs(self, query: LogQuery) -> list[Log]:
        """Events in the order of the chain. Raises `UpstreamRefused` also where they are too many for the node, and
        `Reorganised` where they reach up to the block that was the newest, and the chain no longer has that one."""


class Account(NamedTuple):
    """What an address holds of the native currency in wei, and the code that it runs: `b""` for none."""

    native_wei: int
    code: bytes


class Override(NamedTuple):
    """What an account is taken to have in the place of what it has. None leaves it; `slots` are words of its storage by
    their places, beside which the others stay."""

    address: str
    native_wei: int | None = None
    code: bytes | None = None
    slots: tuple[tuple[int, int], ...] = ()


class Supposed(NamedTuple):
    """A call by `sender`, as it would go if accounts had what `overrides` say."""

    sender: str
    call: Call
    overrides: tuple[Override, ...]


@runtime_checkable
class SimulatingNode(Node, Protocol):
    """A node that can also be asked what would be if."""

    def account(self, address: str, at: At) -> Account:
        """An account after a block. Raises `Reorganised` as `call` does."""

    def simulate(self, calls: Sequence[Supposed], at: At) -> list[Answer]:
        """The answers to calls on a state that is not, each on its own. Raises `Reorganised` as `call` does, and
        `UpstreamRefused` where the node knows no overrides; one that pays them no heed answers without them."""
