"""A token of a network, and the formatting of its amounts."""

from __future__ import annotations

from swapcli.core.records import NamedTuple

MAX_TOKEN_DECIMALS = 77
"""The maximum number of decimals: 10**77 is the greatest power of ten below 2^256."""


class Token(NamedTuple):
    """A token. `address` is lower-case hex as the network writes it (20 bytes on EVM, 32 on Starknet).

    `price_usd` is a reference price that came with the data, if any; quotes derive their own from the pools.
    """

    address: str
    symbol: str
    name: str
    decimals: int
    price_usd: float | None = None


def whole_tokens(amount: int, decimals: int) -> str:
    """Format base units as whole tokens, exactly, with thousands separators: 1234500000 -> "1,234.5"."""
    text = fixed_point(amount, decimals)
    return text.rstrip("0").rstrip(".") if "." in text else text


def in_tokens(amount: int, token: Token) -> str:
    """Format base units as whole tokens with the token's symbol."""
    return f"{whole_tokens(amount, token.decimals)} {token.symbol}"


def fixed_point(amount: int, decimals: int) -> str:
    """Format base units as whole tokens, with all decimals."""
    whole, fraction = divmod(abs(amount), 10**decimals)
    sign = "-" if amount < 0 else ""
    return f"{sign}{whole:,}.{fraction:0{decimals}d}" if decimals else f"{sign}{whole:,}"
