"""Bin prices, bit for bit equal to the `PriceHelper` of Liquidity Book and of PancakeSwap Infinity.

A bin holds two tokens at one constant price, Y per X in 128.128 fixed point: (1 + bin_step / 10,000)^(id - 2^23). The
contracts multiply repeated squares and truncate each product; the order and the truncation are part of the result.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp, log1p

from swapcli.core.annotations import Final
from swapcli.core.errors import InvalidPoolState
from swapcli.core.model.units import BPS
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.rounding import div_up

SCALE_BITS: Final = 128  # the number of fractional bits of a price
BASE_ID: Final = 1 << 23
"""The ID of the bin with price 1."""
MAX_ID: Final = (1 << 24) - 1  # ids are uint24
MAX_BIN_STEP: Final = (1 << 16) - 1  # basis points, a uint16

_SCALE: Final = 1 << SCALE_BITS
_MAX_EXPONENT: Final = (1 << 20) - 1
"""The contracts' `pow` reverts from 2^20 upwards."""
_MAX_FLOAT_LOG_PRICE: Final = 40.0
"""Up to e^40, a float is far cheaper than the exact price; beyond it, the truncation to 128 bits could matter."""


@lru_cache(maxsize=1 << 16)
def price_of_bin(bin_step: int, bin_id: int) -> int:
    """Return the price of a bin, Y per X in 128.128 fixed point. Raises `InvalidPoolState` if the contracts revert.

    `bin_step` is in basis points.
    """
    exponent = bin_id - BASE_ID
    result, square, remaining = (
        _SCALE,
        MAX_UINT256 // (_SCALE + (bin_step << SCALE_BITS) // BPS),
        abs(exponent),
    )
    while remaining:
        if remaining & 1:
            result = result * square >> SCALE_BITS
        square = square * square >> SCALE_BITS
        remaining >>= 1
    if not result or abs(exponent) > _MAX_EXPONENT:
        raise InvalidPoolState("bins", f"bin {bin_id} has no price at a bin step of {bin_step}")
    # The square is that of 1 / base, since the base is above 1.
    return MAX_UINT256 // result if exponent > 0 else result


def rate_of_bin(bin_step: int, bin_id: int, swap_for_y: bool) -> float:
    """Return a bin's output for one unit of input without the fee, accurate to 2 units in the 14th digit."""
    log_price = (bin_id - BASE_ID) * log1p(bin_step / BPS)
    if abs(log_price) > _MAX_FLOAT_LOG_PRICE:
        price = price_of_bin(bin_step, bin_id) / _SCALE
        return price if swap_for_y else 1.0 / price
    return exp(log_price if swap_for_y else -log_price)


def value_up(amount: int, price: int, swap_for_y: bool) -> int:
    """Return the input, without the fee and rounded up, that buys `amount` from a bin.

    `swap_for_y` sells X for Y.
    """
    return div_up(amount << SCALE_BITS, price) if swap_for_y else div_up(amount * price, _SCALE)


def output_of(amount_in: int, price: int, swap_for_y: bool) -> int:
    """Return a bin's output for `amount_in` without the fee, rounded down."""
    return amount_in * price >> SCALE_BITS if swap_for_y else (amount_in << SCALE_BITS) // price
