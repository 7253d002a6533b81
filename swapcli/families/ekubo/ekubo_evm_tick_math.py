"""Ticks and square-root ratios of Ekubo's EVM contracts, equal to theirs in every bit.

Ticks stand for the same prices as on Starknet, 1.000001^t. The EVM core keeps the square root of a price as a 96-bit
floating-point number: two bits of exponent and a mantissa of 94 bits, which it expands to 128 fractional bits for its
maths. Here all ratios are the expanded ones, rounded to what that form can hold.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from swapcli.families.ekubo import ekubo_tick_math

MAX_TICK: Final = 88_722_835
MIN_TICK: Final = -MAX_TICK

_MANTISSA_BITS: Final = 94
_MANTISSA_MASK: Final = (1 << _MANTISSA_BITS) - 1
# Ratios below 2^96, 2^128, 2^160 and 2^192 are multiples of 2^2, 2^34, 2^66 and 2^98.
_EXPONENTS: Final = (2, 34, 66, 98)
_MAX_COMPACT_BITS: Final = 96


def round_ratio(ratio: int, *, up: bool = False) -> int:
    """Return the greatest ratio up to `ratio` that the core can store; with `up`, the least one that is not below it.

    Beyond the greatest ratio that can be stored, it returns a number above all of them.
    """
    for shift in _EXPONENTS:
        lifted = ratio + (1 << shift) - 1 if up else ratio
        if not lifted >> (shift + _MANTISSA_BITS):
            return lifted >> shift << shift
    return 1 << (_EXPONENTS[-1] + _MANTISSA_BITS)


def expand_ratio(compact: int) -> int:
    """Return a stored ratio, of 96 bits, with 128 fractional bits."""
    return (compact & _MANTISSA_MASK) << _EXPONENTS[compact >> _MANTISSA_BITS]


def is_compact_ratio(compact: int) -> bool:
    """Return whether a number fits the form in which the core stores ratios."""
    return 0 <= compact < 1 << _MAX_COMPACT_BITS


@lru_cache(maxsize=1 << 14)
def sqrt_ratio_at_tick(tick: int) -> int:
    """Return the square-root ratio at `tick` with 128 fractional bits, MIN_TICK <= tick <= MAX_TICK."""
    if not MIN_TICK <= tick <= MAX_TICK:
        raise ValueError(f"tick {tick} is outside {MIN_TICK} to {MAX_TICK}")
    return round_ratio(ekubo_tick_math.sqrt_ratio_at_tick(tick))


MIN_SQRT_RATIO: Final = sqrt_ratio_at_tick(MIN_TICK)
MAX_SQRT_RATIO: Final = sqrt_ratio_at_tick(MAX_TICK)


def tick_at_sqrt_ratio(sqrt_ratio: int) -> int:
    """Return the greatest tick whose ratio is at most `sqrt_ratio`, MIN_SQRT_RATIO <= ratio <= MAX_SQRT_RATIO."""
    if not MIN_SQRT_RATIO <= sqrt_ratio <= MAX_SQRT_RATIO:
        raise ValueError(f"square-root ratio {sqrt_ratio} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO}")
    tick = ekubo_tick_math.tick_at_sqrt_ratio(sqrt_ratio)
    # The exact ratio of the next tick can be above the rounded one.
    return tick + 1 if tick < MAX_TICK and sqrt_ratio_at_tick(tick + 1) <= sqrt_ratio else tick
