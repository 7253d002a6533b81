"""Tokens as their contracts describe themselves: in two ways of writing text, or in none that can be used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final
from unicodedata import category

from swapcli.chain.batch_read import BatchRead, SkippedItem, run_batched
from swapcli.chain.contract_functions import encode_call, invalid_response, read_text, read_word
from swapcli.chain.multicall import BlockReader
from swapcli.chain.node import ContractCall
from swapcli.errors import InvalidUpstreamResponse
from swapcli.model.token import Token

MAX_DECIMALS: Final = 36
"""Whatever has more is no token that anybody trades."""

_SYMBOL, _NAME, _DECIMALS = "symbol()", "name()", "decimals()"
_CALLDATA: Final = tuple(encode_call(name) for name in (_DECIMALS, _SYMBOL, _NAME))
_MOST_SYMBOL: Final = 32
_MOST_NAME: Final = 64
_PORTION: Final = 500


def load_tokens(view: BlockReader, addresses: Sequence[str]) -> Iterator[Token | SkippedItem]:
    """The tokens at canonical addresses, in order, or why one was left out. Raises `UpstreamError`."""
    waiting = iter(addresses)
    while portion := list(islice(waiting, _PORTION)):
        yield from run_batched([(address, _token(address)) for address in portion], view.call)


def _token(address: str) -> BatchRead[Token]:
    """One round. A name is nice to have; without decimals or a symbol nobody can say an amount of it."""
    decimals, symbol, name = yield [ContractCall(address, each) for each in _CALLDATA]
    places = read_word(decimals, _DECIMALS)
    if places > MAX_DECIMALS:
        raise invalid_response(_DECIMALS, f"{places} of them" if places < 1 << 64 else "an absurd number of them")
    label = sanitize_text(read_text(symbol, _SYMBOL), _MOST_SYMBOL)
    if not label:
        raise invalid_response(_SYMBOL, "nothing that can be shown")
    try:
        title = sanitize_text(read_text(name, _NAME), _MOST_NAME)
    except InvalidUpstreamResponse:
        title = ""
    return Token(address, label, title or label, places)


def sanitize_text(text: str, most: int) -> str:
    """What a stranger's text may show: no control or direction signs, single spaces, at most `most` characters."""
    kept = "".join(" " if letter.isspace() else letter for letter in text[: 8 * most] if _may_show(letter))
    return " ".join(kept.split())[:most].strip()


def _may_show(letter: str) -> bool:
    return letter.isspace() or not category(letter).startswith("C")
