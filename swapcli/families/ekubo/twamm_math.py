"""The price after Ekubo's TWAMM has sold both tokens, equal to the contract's bit for bit.

Two sales at constant rates in a constant-product pool move the square-root price s along s(t) = r (e^a - c) / (e^a +
c), with r the square root of the ratio of both rates, c = (r - s(0)) / (r + s(0)) and a proportional to the time
(`math/twamm` and `math/exp` of EkuboProtocol/starknet-contracts, commit a5b2c7fc). Numbers have 128 fractional bits.
"""

from __future__ import annotations

from functools import cache
from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.families.ekubo.ekubo_tick_math import Q128, STARKNET_TICKS
from swapcli.families.rounding import UINT256_LIMIT, mul_div_up, require_uint256

_MAX_EXPONENT: Final = 1_623_313_478_486_440_542_208
"""The contract's limit, about ln(2^128) with 64 fractional bits: beyond it, the price equals the ratio of the rates."""
_TWO: Final = 2 << 64
_FACTOR_BITS: Final = 65
_PRECISION: Final = 420
"""The number of bits of the computed factors: 64 squarings lose 65 of 420 bits, and 128 are needed."""


def next_sqrt_ratio(sqrt_ratio: int, liquidity: int, sale_rates: tuple[int, int], elapsed_s: int, fee_x128: int) -> int:
    """Return the square-root ratio after both tokens were sold at `sale_rates` for `elapsed_s`; both rates are above 0.

    Rates are base units per second with 32 fractional bits. Raises `SwapReverts` if the contract panics.
    """
    rate0, rate1 = sale_rates
    sale_ratio = (rate1 << 128) // rate0
    target = isqrt(sale_ratio) << 64 if sale_ratio >> 128 else isqrt(sale_ratio << 128)
    after = target
    if sqrt_ratio != target and liquidity:
        after = _towards(sqrt_ratio, target, liquidity, isqrt(rate0 * rate1), elapsed_s, fee_x128)
    if not STARKNET_TICKS.min_ratio <= after < STARKNET_TICKS.max_ratio:
        raise SwapReverts("virtual orders would move the price out of its range")
    return after


def _towards(sqrt_ratio: int, target: int, liquidity: int, sqrt_rate: int, elapsed_s: int, fee_x128: int) -> int:
    """Return the ratio on the way to `target`, rounded towards `sqrt_ratio`."""
    down = sqrt_ratio > target
    scale = mul_div_up if down else _mul_div
    c = scale(abs(sqrt_ratio - target), Q128, target + sqrt_ratio)
    if not c:
        return target
    net_rate = sqrt_rate - mul_div_up(sqrt_rate, fee_x128, Q128)
    # Twice the net rate without its 32 fractional bits, times the time, in units of the liquidity, with 64 bits.
    exponent = scale(net_rate * elapsed_s, 1 << 33, liquidity)
    if exponent > _MAX_EXPONENT:
        return target
    power = exp(exponent)
    above, below = (power + c, power - c) if down else (power - c, power + c)
    if not below:
        raise SwapReverts("virtual orders divide by zero")
    factor = require_uint256(scale(above, Q128, below))
    return require_uint256(scale(target, factor, Q128))


def exp(exponent: int) -> int:
    """Return e to the power of a number with 64 fractional bits; the result has 128 fractional bits."""
    if exponent >= _TWO:
        half = exp(exponent // 2)
        return require_uint256(half * half >> 128)
    if not exponent:
        return Q128
    inverse = Q128
    for bit, factor in enumerate(_inverse_powers()):
        if exponent >> bit & 1:
            inverse = inverse * factor >> 128
    return (UINT256_LIMIT - 1) // inverse


@cache
def _inverse_powers() -> tuple[int, ...]:
    """Return round(2^128 * e^(-2^k / 2^64)) for each bit k of an exponent below 2: a series, then squares."""
    one = 1 << _PRECISION
    x = one >> 64
    power, term, count = 0, one, 0
    while term:
        power += -term if count % 2 else term
        count += 1
        term = term * x // (count << _PRECISION)
    powers = []
    for _ in range(_FACTOR_BITS):
        powers.append((power + (1 << (_PRECISION - 129))) >> (_PRECISION - 128))
        power = power * power >> _PRECISION
    return tuple(powers)


def _mul_div(a: int, b: int, denominator: int) -> int:
    return a * b // denominator
