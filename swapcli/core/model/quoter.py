"""The quote functions of a protocol, and how its pools are found.

These facts are part of a network's definition, so adding a protocol needs no code.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from swapcli.core.records import NamedTuple

Argument: TypeAlias = "int | str | PackedArgument | tuple[Argument, ...]"
"""A number, hex with 0x, the name of a value after `$`, packed bytes, or a tuple or list of these."""

QUOTE_VALUES: Final = ("token_in", "token_out", "amount", "is_forward")
"""The values in every quote, besides those of the pool. `is_forward` shows whether the pool's first token is sold."""
POOL_VALUES: Final = ("pool", "pool_id", "token0", "token1")
"""The values of every pool: its address, its ID if its contract has several pools, and its tokens in the pool's
order."""


class Sale(NamedTuple):
    """A sale of an amount, in base units, of a pool's first token for the second, or vice versa."""

    is_forward: bool
    amount_in: int


class PackedArgument(NamedTuple):
    """Values joined without padding, each with its length in bytes."""

    parts: tuple[tuple[int | str, int], ...]


class ContractFunction(NamedTuple):
    """A function to call.

    `contract` is an address or the name of a value after `$`; `signature` is like `balanceOf(address)`.
    """

    contract: str
    signature: str
    arguments: tuple[Argument, ...] = ()


class QuoteFunction(NamedTuple):
    """A function that returns a quote. Indices of returned words count from 0.

    `output` is the index of the output; with `is_negative`, it is returned with a minus sign. `leftover` is the index
    of the part of the input that the swap would not take, and `taken` the index of the part that it would take; None if
    no word contains it.
    """

    function: ContractFunction
    output: int = 0
    is_negative: bool = False
    leftover: int | None = None
    taken: int | None = None


class ReadValue(NamedTuple):
    """A value from the data that a call returns (word number `word`), with the name by which other entries refer to
    it."""

    name: str
    function: ContractFunction
    word: int = 0


class PoolEnumeration(NamedTuple):
    """How to list a protocol's pools. `function` returns a list of tuples of words, which are named in `entry`.

    If `length` is set, it returns the number of entries, and `function` returns entry `$index`. With `is_nested`, each
    entry is its own list (`address[][]`). With `lists_tokens_of_pairs`, every two entries are the tokens of one pool.
    """

    function: ContractFunction
    entry: tuple[str, ...]
    length: ContractFunction | None = None
    is_nested: bool = False
    lists_tokens_of_pairs: bool = False


class CreationEvent(NamedTuple):
    """An event by which `contract` announces each pool.

    `entry` names the event's values in the order of the log: indexed values first.
    """

    contract: str
    signature: str
    entry: tuple[str, ...]


class Quoter(NamedTuple):
    """How to find and quote the pools of `protocols`. Listed and announced pools belong to the first of these
    protocols.

    `quotes` are the functions that quote a sale of a pool's first and of its second token. `is_sent_as_transaction`
    means that the quotes depend on the sender or the gas price. `values` are read before every quote. `holder` is the
    contract whose balances limit a pool's output, None if it is unknown.

    The pools come from `enumeration`, from the events `created`, and from `pools`, each a set of values. `reads`
    complete the values of each pool, at least `token0` and `token1`; values named by `constants` are stored with the
    pool. The zero address as a token is the native currency. `has_pool_ids` means that pools share a contract and so
    need an ID. `source` is the origin of these facts. With `is_check`, the pools are computed and found by their kind
    of contract, and the quotes only have to match the computed amounts.
    """

    protocols: tuple[str, ...]
    quotes: tuple[QuoteFunction, QuoteFunction]
    is_sent_as_transaction: bool = False
    values: tuple[ReadValue, ...] = ()
    holder: str | None = None
    enumeration: PoolEnumeration | None = None
    created: CreationEvent | None = None
    pools: tuple[tuple[tuple[str, int], ...], ...] = ()
    reads: tuple[ReadValue, ...] = ()
    constants: tuple[str, ...] = ()
    has_pool_ids: bool = False
    source: str = ""
    is_check: bool = False
