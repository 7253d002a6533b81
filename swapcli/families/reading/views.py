"""Read contracts by lists of views (field, call, decoder). One round makes all calls and returns the decoded values by
field."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from swapcli.core.records import NamedTuple
from swapcli.families.reading.call_encoding import (
    encode_call,
    read_address,
    read_list,
    read_word,
    read_words,
    to_address,
)
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead

Decode = Callable[[ReturnData, str], Any]
"""Decodes the return data of the named function, like `read_word`. Raises `InvalidUpstreamResponse`."""


PAIR_TOKENS: Final = ("token0()", "token1()")
"""The functions that return the tokens of Uniswap's pairs and of most other pairs."""


class View(NamedTuple):
    """A value to read: its name, the call that returns it, its decoder, and the function's name for errors."""

    field: str
    call: ContractCall
    decode: Decode
    function: str


def view(field: str, contract: str, signature: str, *arguments: int | str, decode: Decode = read_word) -> View:
    """Return the view of a function that every contract of the kind has."""
    return View(field, ContractCall(contract, encode_call(signature, *arguments)), decode, signature)


def optional_view(field: str, contract: str, signature: str, *arguments: int | str, decode: Decode = read_word) -> View:
    """Return the view of a function that may revert or be missing; its value is then None."""
    call = ContractCall(contract, encode_call(signature, *arguments), may_revert=True)
    return View(field, call, partial(_decode_optional, decode), signature)


def read_views(*views: View) -> BatchRead[dict[str, Any]]:
    """Read the values of views in one round of calls."""
    answers = yield [each.call for each in views]
    return {each.field: each.decode(answer, each.function) for each, answer in zip(views, answers, strict=True)}


def address_views(contract: str, signatures: Sequence[str] = PAIR_TOKENS) -> list[View]:
    """Return views that read addresses, by default a pair's tokens. The field names are the functions' names."""
    return [view(name, contract, name, decode=read_address) for name in signatures]


def read_addresses(
    contract: str, signatures: Sequence[str] = PAIR_TOKENS, *, may_revert: bool = False
) -> BatchRead[tuple[str, ...]]:
    """Read addresses that a contract's functions return, by default a pair's tokens, in one round of calls."""
    answers = yield [ContractCall(contract, encode_call(name), may_revert) for name in signatures]
    return tuple(map(read_address, answers, signatures))


def words(count: int) -> Decode:
    """Return the function that decodes the first `count` words."""
    return partial(_decode_words, count)


def decode_addresses(data: ReturnData, name: str) -> tuple[str, ...]:
    """Decode the list of addresses that a function returns."""
    return tuple(to_address(word, name) for word in read_list(data, name))


def read_address_list(contract: str, signature: str) -> BatchRead[tuple[str, ...]]:
    """Read the list of addresses that a function returns, such as a factory's pools, in one round of calls."""
    (answer,) = yield [ContractCall(contract, encode_call(signature))]
    return decode_addresses(answer, signature)


def _decode_words(count: int, data: ReturnData, name: str) -> tuple[int, ...]:
    return read_words(data, count, name)


def _decode_optional(decode: Decode, data: ReturnData, name: str) -> Any:
    return decode(data, name) if data else None
