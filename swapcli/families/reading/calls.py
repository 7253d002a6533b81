"""Contract calls, their results, and events: all that a reader needs from a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from swapcli.core.records import NamedTuple

MULTICALL3: Final = "0xca11bde05977b3631167028862be2a173976ca11"
"""The address that Multicall3 has on most networks."""

ReturnData = bytes | None
"""The return data of a call; None if it reverted. An address without code returns `b""`."""


class CallContext(NamedTuple):
    """The sender and the gas price of a call, for contracts that depend on them. The sender can pay for any amount of
    gas."""

    sender: str
    gas_price_wei: int


class ContractCall(NamedTuple):
    """A call to a contract. `may_revert` marks calls that some contracts of the kind do not support.

    If `to` is empty, `calldata` itself runs as code; some nodes reject that, and the result is None. Consecutive calls
    that may revert and have the same `group` run in one call of the node, separately from others: together they show
    one state, and they do not use the others' gas. `is_divisible` marks a call that packs many others, which the caller
    splits if it is too large for the node.
    """

    to: str
    calldata: bytes
    may_revert: bool = False
    group: str = ""
    context: CallContext | None = None
    is_divisible: bool = False

    @property
    def is_unpackable(self) -> bool:
        """Whether Multicall3 cannot make the call: Multicall3 would change the sender of a `context`, and it cannot run
        code."""
        return self.context is not None or not self.to


class Log(NamedTuple):
    """An event. `topics` are 32 bytes each in hex, the first of which identifies the kind of event; `log_index` is its
    position in the block.

    `transaction` is the hash of its transaction; empty if the node does not return it.
    """

    address: str
    topics: tuple[str, ...]
    data: bytes
    block_number: int
    log_index: int
    transaction: str = ""


class BlockReader(Protocol):
    """Makes calls on the state after one block. `width` is the number of requests that it sends at the same time."""

    @property
    def width(self) -> int: ...

    def call(self, calls: Sequence[ContractCall]) -> Sequence[ReturnData]:
        """Return the return data of each call. Raises `UpstreamError`."""
