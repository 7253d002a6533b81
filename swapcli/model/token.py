"""A token of a network."""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """`address` is lower-case hex as the network writes it (20 bytes on EVM, 32 on Starknet).

    `price_usd` is a reference price that came with the data, if any; quotes derive their own from the pools.
    """

    address: str
    symbol: str
    name: str
    decimals: int
    price_usd: float | None = None
