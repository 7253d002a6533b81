"""A block that quotes are asked for by its number or its hash, instead of a recent one."""

from __future__ import annotations

import re
from typing import TypeAlias

from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption

PastBlock: TypeAlias = int | str
"""The number of a block, or its hash: 0x and 64 hex digits in lower case."""

_MAX_DIGITS = 18  # numbers with as many digits fit 64 bits
_is_hash = re.compile(r"0x[0-9a-f]{64}").fullmatch


def parse_block(block: int | str, option: str = "--block") -> PastBlock:
    """Return the block that a number or a text names; `option` is the name for messages. Raises `InvalidOption`."""
    text = str(block).strip().lower().replace(",", "").replace("_", "")
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
        return int(text)
    if _is_hash(text):
        return text
    hint = f"such as {option} 23456789"
    if text in ("latest", "pending", "safe", "finalized"):
        hint = f"{text} is a recent block: leave {option} out, and give --state {text}"
    elif text.startswith("0x"):
        hint = f"a hash is 0x and 64 hex digits; this has {len(text) - 2}"
    shown = printable(truncate(str(block), 80))
    raise InvalidOption(f'{option}: "{shown}" is neither the number nor the hash of a block', hint=hint)
