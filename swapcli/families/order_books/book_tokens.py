"""The tokens that a new order book trades, one of which may be the native currency."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.order_books.price_levels import NATIVE_TOKENS
from swapcli.families.reading.call_encoding import invalid_response, to_address


def book_tokens(words: Sequence[int], wrapped_native: str | None) -> tuple[tuple[str, ...], str]:
    """Return the base and quote tokens for two currencies, and which one is native, as in `NATIVE_TOKENS`; an empty
    string if neither is.

    Raises `InvalidUpstreamResponse` for the native currency on a network without a wrapped form.
    """
    currencies = [to_address(word, "currency") for word in words]
    native = dict(zip(currencies, NATIVE_TOKENS, strict=True)).get(ZERO_ADDRESS, "")
    if native and wrapped_native is None:
        raise invalid_response(native, "the network has no wrapped form of the native token")
    return tuple(wrapped_native if each == ZERO_ADDRESS and wrapped_native else each for each in currencies), native
