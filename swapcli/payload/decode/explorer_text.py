"""Read a call in the form in which explorers show it: its function, its selector, and its words, one per line."""

from __future__ import annotations

import re
from typing import Final

from swapcli.core.encoding.text import SHOWN_CHARACTERS, printable, truncate
from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.given_transaction import parse_calldata

_METHOD: Final = re.compile(r"Method ?I[Dd]:\s*(0x[0-9a-fA-F]{8})")
_HAS_METHOD: Final = re.compile(r"^\s*Method ?I[Dd]:\s*0x", re.MULTILINE)
_FUNCTION: Final = re.compile(r"Function:.*")
_WORD: Final = re.compile(r"\[([0-9]{1,5})\]:\s*((?:[0-9a-fA-F]{2}){1,32})")
_WORD_DIGITS: Final = 64  # of a word in hex


def is_explorer_text(text: str) -> bool:
    """Return whether a text is a call in an explorer's form."""
    return _HAS_METHOD.search(text) is not None


def parse_explorer_text(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the calldata, and a sentence for each line that does not belong to it.

    Raises `InvalidInput` for missing words or words out of order.
    """
    selectors: list[str] = []
    words: list[str] = []
    oddities: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if found := _METHOD.fullmatch(stripped):
            selectors.append(found[1])
        elif found := _WORD.fullmatch(stripped):
            if int(found[1]) != len(words) or (words and len(words[-1]) < _WORD_DIGITS):
                raise InvalidInput(f"line {number}: expected word {len(words)}", hint="give the whole input data")
            words.append(found[2])
        elif stripped and not (_FUNCTION.fullmatch(stripped) and not selectors):
            oddities.append(f"line {number} is not part of the call: {printable(truncate(stripped, SHOWN_CHARACTERS))}")
    if len(selectors) != 1:
        raise InvalidInput(f"expected one MethodID, not {len(selectors)}", hint="give the whole input data")
    return parse_calldata(selectors[0] + "".join(words)), tuple(oddities)
