"""The quote functions of a protocol, and how its pools are found.

These are facts of a network's definition, so that another protocol needs no code."""

from __future__ import annotations

from typing import Final, TypeAlias

from swapcli.core.records import NamedTuple

Argument: TypeAlias = "int | str | PackedArgument | tuple[Argument, ...]"
"""A number, hex with 0x, the name of a value after `$`, packed bytes, or a tuple or list of these."""

QUOTE_VALUES: Final = ("token_in", "token_out", "amount", "is_forward")
"""Values of a quote, besides those of its pool. `is_forward` shows whether the pool's first token is sold."""
POOL_VALUES: Final = ("pool", "pool_id", "token0", "token1")
"""Values of every pool: the address, the id of a pool that shares its contract, and the tokens in the pool's order."""


class Sale(NamedTuple):
    """A sale of an amount, in base units, of the first token of a pool for the second, or the other way round."""

    is_forward: bool
    amount_in: int


class PackedArgument(NamedTuple):
    """Bytes that are joined without padding: each value with its length in bytes."""

    parts: tuple[tuple[int | str, int], ...]


class ContractFunction(NamedTuple):
    """A call. `contract` is an address, or the name of a value after `$`; `signature` as in `balanceOf(address)`."""

    contract: str
    signature: str
    arguments: tuple[Argument, ...] = ()


class QuoteFunction(NamedTuple):
    """A function that quotes. The indices of returned words count from 0.

    `output` is the index of the output, which `is_negative` says is returned with a minus sign. `leftover` is the index
    of the input that the swap would not take, and `taken` that of the input that it would; None if no word returns it.
    """

    function: ContractFunction
    output: int = 0
    is_negative: bool = False
    leftover: int | None = None
    taken: int | None = None


class ReadValue(NamedTuple):
    """A value that a call returns, by which others can name it: the returned word number `word`."""

    name: str
    function: ContractFunction
    word: int = 0


class PoolEnumeration(NamedTuple):
    """The list of a protocol's pools. `function` returns a list of tuples of words, with the names `entry`.

    If there is a `length`, it returns the number of entries, and `function` returns entry `$index`. With `is_nested`,
    each entry is its own list (`address[][]`). With `lists_tokens_of_pairs`, each two entries are a pool.
    """

    function: ContractFunction
    entry: tuple[str, ...]
    length: ContractFunction | None = None
    is_nested: bool = False
    lists_tokens_of_pairs: bool = False


class CreationEvent(NamedTuple):
    """An event by which `contract` announces each pool. `entry` names its values: indexed ones first, as logged."""

    contract: str
    signature: str
    entry: tuple[str, ...]


class Quoter(NamedTuple):
    """How the pools of `protocols` are found and quoted. Those that it lists or announces belong to the first one.

    `quotes` are the functions that quote the sale of a pool's first and of its second token. `is_sent_as_transaction`
    says that they look at the sender or at the gas price. `values` are read before every quote, `holder` is the
    contract whose balances limit what a pool can pay, None if it is unknown.

    Pools are those of `enumeration`, of the events `created`, and `pools`, each a set of values. `reads` complete the
    values of each pool, at least `token0` and `token1`; those named by `constants` are stored with it. Tokens that are
    the zero address are the native currency. `has_pool_ids` says that pools share a contract, and so need an id.
    `source` shows where these facts come from. With `is_check`, the pools are computed and found by their kind of
    contract, and the quotes only have to agree with what was computed.
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
