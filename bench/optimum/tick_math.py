"""Prices of Uniswap V3 ticks, in contract integers."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from functools import cache

MIN_TICK, MAX_TICK = -887_272, 887_272
Q96 = 1 << 96

_DIGITS = 80
_TICK_BITS = 20  # index of the largest tick


def _powers() -> tuple[int, ...]:
    """Return 2**128 / 1.0001**(2**k / 2) for each bit k of a tick, rounded to the nearest integer."""
    with localcontext(prec=_DIGITS):
        root, powers = Decimal("1.0001").sqrt(), []
        for _ in range(_TICK_BITS):
            powers.append(int((Decimal(1 << 128) / root).to_integral_value(rounding=ROUND_HALF_UP)))
            root *= root
    return tuple(powers)


_POWERS = _powers()


@cache
def sqrt_price_at(tick: int) -> int:
    """Return sqrt(1.0001**tick) * 2**96 as the contract computes it: a product over the bits of the tick."""
    ratio = 1 << 128
    for bit, power in enumerate(_POWERS):
        if abs(tick) >> bit & 1:
            ratio = ratio * power >> 128
    if tick > 0:
        ratio = ((1 << 256) - 1) // ratio
    return -(-ratio >> 32)


def tick_at(sqrt_price: int) -> int:
    """Return the largest tick whose price is at most `sqrt_price`."""
    low, high = MIN_TICK, MAX_TICK
    while low < high:
        middle = (low + high + 1) // 2
        if sqrt_price_at(middle) <= sqrt_price:
            low = middle
        else:
            high = middle - 1
    return low
