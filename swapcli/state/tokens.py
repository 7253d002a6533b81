"""Read the symbol, name and decimals of tokens, in both text encodings that tokens use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final
from unicodedata import category

from swapcli.core.errors import InvalidUpstreamResponse
from swapcli.core.model.token import Token
from swapcli.state.rpc.call_encoding import encode_call, invalid_response, read_word
from swapcli.state.rpc.call_encoding import read_text as read_abi_text
from swapcli.state.rpc.lockstep_reads import BatchRead, SkippedItem, run_batched
from swapcli.state.rpc.multicall import BlockReader
from swapcli.state.rpc.node import ContractCall
from swapcli.state.rpc.starknet_calls import read_felt_text, starknet_call

MAX_DECIMALS: Final = 36
"""No traded token has more."""

_SYMBOL, _NAME, _DECIMALS = "symbol()", "name()", "decimals()"
_CALLDATA: Final = tuple(encode_call(name) for name in (_DECIMALS, _SYMBOL, _NAME))
_STARKNET_ADDRESS_LENGTH: Final = 66
_MAX_SYMBOL: Final = 32
_MAX_NAME: Final = 64
_BATCH_SIZE: Final = 500


def load_tokens(reader: BlockReader, addresses: Sequence[str]) -> Iterator[Token | SkippedItem]:
    """Yield the tokens at canonical addresses, in order, or why one was skipped. Raises `UpstreamError`."""
    remaining = iter(addresses)
    while batch := list(islice(remaining, _BATCH_SIZE * reader.width)):
        yield from run_batched([(address, _token(address)) for address in batch], reader.call)


def _token(address: str) -> BatchRead[Token]:
    """Read a token in one round. The name is optional; decimals and symbol are needed to show an amount."""
    is_starknet = len(address) == _STARKNET_ADDRESS_LENGTH
    read_text = read_felt_text if is_starknet else read_abi_text
    calls = [ContractCall(address, each) for each in _CALLDATA]
    if is_starknet:
        calls = [starknet_call(address, each.removesuffix("()")) for each in (_DECIMALS, _SYMBOL, _NAME)]
    decimals, symbol, name = yield calls
    decimal_places = read_word(decimals, _DECIMALS)
    if decimal_places > MAX_DECIMALS:
        raise invalid_response(
            _DECIMALS, f"{decimal_places} of them" if decimal_places < 1 << 64 else "an absurd number of them"
        )
    clean_symbol = sanitize_text(read_text(symbol, _SYMBOL), _MAX_SYMBOL)
    if not clean_symbol:
        raise invalid_response(_SYMBOL, "nothing that can be shown")
    try:
        clean_name = sanitize_text(read_text(name, _NAME), _MAX_NAME)
    except InvalidUpstreamResponse:
        clean_name = ""
    return Token(address, clean_symbol, clean_name or clean_symbol, decimal_places)


def sanitize_text(text: str, max_characters: int) -> str:
    """Return untrusted text without control or direction characters, with single spaces, cut to the limit."""
    printable = "".join(
        " " if character.isspace() else character
        for character in text[: 8 * max_characters]
        if _is_printable(character)
    )
    return " ".join(printable.split())[:max_characters].strip()


def _is_printable(character: str) -> bool:
    return character.isspace() or not category(character).startswith("C")
