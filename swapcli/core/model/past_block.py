"""The block to quote at: a recent block by its tag, or a past block by its number or hash."""

from __future__ import annotations

import re
from typing import TypeAlias

from swapcli.core.encoding.closest import closest_names, did_you_mean
from swapcli.core.encoding.text import printable, truncate
from swapcli.core.errors import InvalidOption
from swapcli.core.model.block_tag import BLOCK_TAGS, BlockTag

PastBlock: TypeAlias = int | str
"""The number of a block, or its hash: 0x and 64 hex digits in lower case."""

_MAX_DIGITS = 18  # a number with this many digits fits 64 bits
_is_hash = re.compile(r"0x[0-9a-f]{64}").fullmatch


def parse_block(block: int | str, option: str = "--block") -> BlockTag | PastBlock:
    """Return the recent or past block for a tag, number or hash; `option` is the name of the option in messages.

    Raises `InvalidOption`.
    """
    text = str(block).strip().lower().replace(",", "").replace("_", "")
    if text in BLOCK_TAGS:
        return BlockTag(text)
    if text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS:
        return int(text)
    if _is_hash(text):
        return text
    if text.startswith("0x"):
        hint = f"a hash consists of 0x and 64 hex digits, but this one has {len(text) - 2}"
    else:
        hint = did_you_mean(closest_names(text, BLOCK_TAGS)) or f"such as {option} 23456789 or {option} safe"
    shown = printable(truncate(str(block), 80))
    raise InvalidOption(f'{option}: "{shown}" is not a block tag, number or hash', hint=hint)
