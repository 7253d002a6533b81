"""Ticks and square-root prices of concentrated pools, equal to the contracts' `TickMath` bit for bit.

A tick t represents the price 1.0001^t (token1 per token0); pools hold its square root as a fixed-point number with 96
fractional bits (Q64.96). The contracts multiply 128-bit factors 1.0001^(-2^k / 2), one per set bit of |t|, truncating
the product after each; the order and the truncation are part of the result.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, log1p

MIN_TICK = -887_272
MAX_TICK = 887_272
MIN_SQRT_RATIO = 4_295_128_739
MAX_SQRT_RATIO = 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_342
"""The square-root prices at `MIN_TICK` and `MAX_TICK`."""

Q96 = 1 << 96

_LOW_BITS = 10
_LOW_MASK = (1 << _LOW_BITS) - 1
_ONE = 1 << 128
# 1.0001^(-2^k / 2) in Q128.128 for k = 0 ... 19, from `TickMath.getSqrtRatioAtTick`.
_FACTORS = (
    0xFFFCB933BD6FAD37AA2D162D1A594001,
    0xFFF97272373D413259A46990580E213A,
    0xFFF2E50F5F656932EF12357CF3C7FDCC,
    0xFFE5CACA7E10E4E61C3624EAA0941CD0,
    0xFFCB9843D60F6159C9DB58835C926644,
    0xFF973B41FA98C081472E6896DFB254C0,
    0xFF2EA16466C96A3843EC78B326B52861,
    0xFE5DEE046A99A2A811C461F1969C3053,
    0xFCBE86C7900A88AEDCFFC83B479AA3A4,
    0xF987A7253AC413176F2B074CF7815E54,
    0xF3392B0822B70005940C7A398E4B70F3,
    0xE7159475A2C29B7443B29C7FA6E889D9,
    0xD097F3BDFD2022B8845AD8F792AA5825,
    0xA9F746462D870FDF8A65DC1F90E061E5,
    0x70D869A156D2A1B890BB3DF62BAF32F7,
    0x31BE135F97D08FD981231505542FCFA6,
    0x09AA508B5B7A84E1C677DE54F3E99BC9,
    0x005D6AF8DEDB81196699C329225EE604,
    0x00002216E584F5FA1EA926041BEDFE98,
    0x00000000048A170391F7DC42444E8FA2,
)
_HIGH_FACTORS = tuple((1 << k, factor) for k, factor in enumerate(_FACTORS[_LOW_BITS:]))

_TICKS_PER_LOG = 2 / log1p(1e-4)
_LOG_Q96 = 96 * log(2)
# In ticks: the logarithm is accurate to 1e-9, and rounding moves a ratio by at most 1e-5 (at the lowest prices).
_MAX_LOG_ERROR = 1e-4


@lru_cache(maxsize=1 << 16)
def sqrt_ratio_at_tick(tick: int) -> int:
    """Return the Q64.96 square-root price at `tick`, MIN_TICK <= tick <= MAX_TICK."""
    if not MIN_TICK <= tick <= MAX_TICK:
        raise ValueError(f"tick {tick} is outside {MIN_TICK} to {MAX_TICK}")
    distance = abs(tick)
    ratio = _low_product(distance & _LOW_MASK)
    high = distance >> _LOW_BITS
    for bit, factor in _HIGH_FACTORS:
        if high & bit:
            ratio = ratio * factor >> 128
    if tick > 0:
        ratio = ((1 << 256) - 1) // ratio
    return (ratio + 0xFFFFFFFF) >> 32


@lru_cache(maxsize=1 << 16)
def limited_sqrt_ratio(tick: int) -> int:
    """Return the ratio at `tick`, clamped to the price limits of a swap, which are one unit inside the range at either
    end."""
    return min(max(sqrt_ratio_at_tick(tick), MIN_SQRT_RATIO + 1), MAX_SQRT_RATIO - 1)


def tick_at_sqrt_ratio(sqrt_price_x96: int) -> int:
    """Return the greatest tick whose ratio is at most `sqrt_price_x96`, MIN_SQRT_RATIO <= price < MAX_SQRT_RATIO."""
    if not MIN_SQRT_RATIO <= sqrt_price_x96 < MAX_SQRT_RATIO:
        raise ValueError(f"square-root price {sqrt_price_x96} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO} - 1")
    estimate = (log(sqrt_price_x96) - _LOG_Q96) * _TICKS_PER_LOG
    nearest = round(estimate)
    if abs(estimate - nearest) > _MAX_LOG_ERROR:
        return nearest if nearest < estimate else nearest - 1
    return nearest if sqrt_ratio_at_tick(nearest) <= sqrt_price_x96 else nearest - 1


@lru_cache(maxsize=_LOW_MASK + 1)
def _low_product(bits: int) -> int:
    ratio = _ONE
    for k, factor in enumerate(_FACTORS[:_LOW_BITS]):
        if bits >> k & 1:
            ratio = ratio * factor >> 128
    return ratio
