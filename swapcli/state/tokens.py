"""Read the symbol, name and decimals of tokens, whether a token returns text as a string or as 32 bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final
from unicodedata import category

from swapcli.core.encoding.text import shorten_id
from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.token import Token
from swapcli.core.networks.token_facts import TokenFacts
from swapcli.families.reading.call_encoding import encode_call, invalid_response, read_word
from swapcli.families.reading.call_encoding import read_text as read_abi_text
from swapcli.families.reading.calls import ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.families.reading.starknet_calls import read_felt_text, starknet_call
from swapcli.state.rpc.multicall import MulticallReader

MAX_DECIMALS: Final = 36
"""No traded token has more decimals."""

_SYMBOL, _NAME, _DECIMALS = "symbol()", "name()", "decimals()"
_CALLDATA: Final = tuple(encode_call(name) for name in (_DECIMALS, _SYMBOL, _NAME))
_STARKNET_ADDRESS_LENGTH: Final = 66  # 0x and 64 digits
_MAX_SYMBOL: Final = 32  # characters that are kept; chosen
_MAX_NAME: Final = 64  # characters that are kept; chosen
_FACTS: Final = "token facts"
"""The group of calls that compare tokens: a single node call makes all of them."""
_BATCH_SIZE: Final = 500  # tokens read together; chosen
_NOT_UTF8: Final = "\ufffd"
"""Stands for bytes that are not UTF-8."""


def load_tokens(reader: MulticallReader, addresses: Sequence[str]) -> Iterator[Token | SkippedItem]:
    """Yield the token at each canonical address, in order, or the reason why it was skipped. Raises `UpstreamError`."""
    remaining = iter(addresses)
    while batch := list(islice(remaining, _BATCH_SIZE * reader.width)):
        yield from run_batched([(address, read_token(address)) for address in batch], reader.call)


def decimals_call(address: str) -> ContractCall:
    """Return the call that reads a token's decimals."""
    return _token_calls(address)[0]


def load_decimals(reader: MulticallReader, addresses: Sequence[str]) -> dict[str, int]:
    """Return the decimals of tokens, by canonical address. Tokens whose decimals cannot be read are omitted. Raises
    `UpstreamError` from the node."""
    found = {}
    for address, answer in zip(addresses, reader.call([decimals_call(each) for each in addresses]), strict=True):
        with suppress(InvalidUpstreamResponse):
            found[address] = read_word(answer, _DECIMALS)
    return found


def read_token_facts(address: str) -> BatchRead[TokenFacts]:
    """Read the decimals and symbol in a token's contract. They are called separately from all other calls in the
    round."""
    decimals, symbol = yield token_fact_calls(address)
    return parse_token_facts(address, decimals, symbol)


def token_fact_calls(address: str) -> list[ContractCall]:
    """Return the calls that read a token's decimals and symbol. Keep them together as one group."""
    return [each._replace(may_revert=True, group=_FACTS) for each in _token_calls(address)[:2]]


def parse_token_facts(address: str, decimals: ReturnData, symbol: ReturnData) -> TokenFacts:
    """Return the facts about a token from the results of `token_fact_calls`."""
    read_text = read_felt_text if len(address) == _STARKNET_ADDRESS_LENGTH else read_abi_text
    try:
        places: int | None = read_word(decimals, _DECIMALS)
    except InvalidUpstreamResponse:
        places = None
    return TokenFacts(places, _clean_text(read_text, symbol, _SYMBOL, _MAX_SYMBOL))


def _token_calls(address: str) -> list[ContractCall]:
    if len(address) == _STARKNET_ADDRESS_LENGTH:
        return [starknet_call(address, each.removesuffix("()")) for each in (_DECIMALS, _SYMBOL, _NAME)]
    return [ContractCall(address, each) for each in _CALLDATA]


def read_token(address: str) -> BatchRead[Token]:
    """Read a token in one round. Only the decimals are required. If the symbol cannot be read, the shortened address
    replaces it, and the address replaces the name."""
    read_text = read_felt_text if len(address) == _STARKNET_ADDRESS_LENGTH else read_abi_text
    decimals, symbol, name = yield _token_calls(address)
    decimal_places = read_word(decimals, _DECIMALS)
    if decimal_places > MAX_DECIMALS:
        raise invalid_response(
            _DECIMALS, f"{decimal_places} of them" if decimal_places < 1 << 64 else "an impossible number"
        )
    clean_symbol = _clean_text(read_text, symbol, _SYMBOL, _MAX_SYMBOL) or shorten_id(address)
    clean_name = _clean_text(read_text, name, _NAME, _MAX_NAME) or clean_symbol
    return Token(address, clean_symbol, clean_name, decimal_places)


def _clean_text(read_text: Callable[[ReturnData, str], str], found: ReturnData, name: str, max_characters: int) -> str:
    """Return the text returned by a call; empty if none of it can be shown."""
    try:
        return sanitize_text(read_text(found, name).replace(_NOT_UTF8, ""), max_characters)
    except InvalidUpstreamResponse:
        return ""


def sanitize_text(text: str, max_characters: int) -> str:
    """Return untrusted text without control or direction characters, with single spaces, cut to `max_characters`."""
    printable = "".join(
        " " if character.isspace() else character
        for character in text[: 8 * max_characters]
        if _is_printable(character)
    )
    return " ".join(printable.split())[:max_characters].strip()


def _is_printable(character: str) -> bool:
    return character.isspace() or not category(character).startswith("C")
