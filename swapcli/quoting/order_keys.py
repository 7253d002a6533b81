"""The keys of an order in batch files, in `Market.quote_many` and in the tool `quote_batch`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

TOKEN_IN: Final = "tokenIn"
TOKEN_OUT: Final = "tokenOut"
AMOUNT: Final = "amount"
"""In whole tokens, like AMOUNT on the command line."""
INPUT_AMOUNT: Final = "inputAmount"
"""In base units, as in the output."""
OUTPUT_AMOUNT: Final = "outputAmount"
"""In base units as well, for an order that specifies the amount to buy."""
LABELS: Final = ("kind", "size", "usd")
"""Keys with which generated batches describe their orders; they have no effect."""

_SNAKE_CASE: Final[Mapping[object, str]] = MappingProxyType(
    {"token_in": TOKEN_IN, "token_out": TOKEN_OUT, "amount_in": INPUT_AMOUNT, "amount_decimal": AMOUNT}
)
"""Aliases, because many existing order files use them."""
_ELSEWHERE: Final[Mapping[object, str]] = MappingProxyType(
    {**_SNAKE_CASE, "tokenInAddress": TOKEN_IN, "tokenOutAddress": TOKEN_OUT}
)
"""Names in other formats. In the published interface `amount` is in base units, so its names are not aliases."""

V = TypeVar("V")


def with_current_keys(order: Mapping[Any, V]) -> dict[Any, V]:
    """Return an order with its alias keys replaced by the current ones, unless the current key is also present."""
    current = {key: _SNAKE_CASE.get(key, key) for key in order}
    return {key if current[key] in order else current[key]: value for key, value in order.items()}


def other_spelling(keys: Iterable[object]) -> tuple[str, str] | None:
    """Return the first key that belongs to another format, and the order key to use instead; None if there is no such
    key."""
    return next(((str(each), _ELSEWHERE[each]) for each in keys if each in _ELSEWHERE), None)
