"""The prices of Clober V2's ticks, which equal the contract's prices bit for bit.

A tick t represents the price 1.0001^t of the base token in the quote token, with 96 fractional bits. The contract
multiplies the factors 1.0001^(-2^k), one per set bit of |t|, truncating the product after each, and divides 2^192 by
the product for t > 0.
"""

from __future__ import annotations

from functools import lru_cache

from swapcli.core.annotations import Final

MAX_TICK: Final = (1 << 19) - 1  # `Tick.MAX_TICK`
PRICE_BITS: Final = 96  # fractional bits of a price
# 1.0001^(-2^k) in Q96 for k = 0 ... 18; the contract's constants.
_FACTORS: Final = (
    0xFFF97272373D413259A46990,
    0xFFF2E50F5F656932EF12357C,
    0xFFE5CACA7E10E4E61C3624EA,
    0xFFCB9843D60F6159C9DB5883,
    0xFF973B41FA98C081472E6896,
    0xFF2EA16466C96A3843EC78B3,
    0xFE5DEE046A99A2A811C461F1,
    0xFCBE86C7900A88AEDCFFC83B,
    0xF987A7253AC413176F2B074C,
    0xF3392B0822B70005940C7A39,
    0xE7159475A2C29B7443B29C7F,
    0xD097F3BDFD2022B8845AD8F7,
    0xA9F746462D870FDF8A65DC1F,
    0x70D869A156D2A1B890BB3DF6,
    0x31BE135F97D08FD981231505,
    0x9AA508B5B7A84E1C677DE54,
    0x5D6AF8DEDB81196699C329,
    0x2216E584F5FA1EA92604,
    0x48A170391F7DC42,
)


@lru_cache(maxsize=4096)
def price_of_tick(tick: int) -> int:
    """Return the price of a tick from -`MAX_TICK` to `MAX_TICK`, in Q96."""
    price = 1 << PRICE_BITS
    for k, factor in enumerate(_FACTORS):
        if abs(tick) >> k & 1:
            price = price * factor >> PRICE_BITS
    return (1 << 2 * PRICE_BITS) // price if tick > 0 else price
