"""The curve of EulerSwap in integers: reserves on two halves that meet at the equilibrium.

With less of the first token than the equilibrium x0, the reserve of the second token is

    y = y0 + (px / py) (x0 - x) (c + (1 - c) x0 / x)

where the concentration c blends constant product (0) and constant sum (1); the other half is the same with the tokens
exchanged. The second version rounds less often than the first, and returns `NO_RESERVE` in cases in which the first one
reverts.

Source: `CurveLib.sol` of euler-xyz/euler-swap, tags eulerswap-1.0 and eulerswap2-cantina-audit-fixes.
"""

from __future__ import annotations

from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import UINT256_LIMIT, div_up

RESERVE_BITS: Final = 112  # reserves are uint112
NO_RESERVE: Final = UINT256_LIMIT - 1
"""The second version returns this instead of a reserve of more than 112 bits."""
_V1_LIMIT: Final = 1 << 248  # from here on the first version reverts
_DIRECT_SQUARE: Final = 10**36  # a smaller value is squared without losing bits
_HALF_WAD_ODD: Final = 3_814_697_265_625
"""5 x 10^17 without its factors of two; the second version uses it to bound the bits of a product."""


class Half(NamedTuple):
    """One half of the curve: one token is below its equilibrium `x0`, the other above its own equilibrium, `y0`.

    The equilibrium is in base units, and `concentration` is a fraction scaled by 10^18; only the ratio of the prices
    matters.
    """

    x0: int
    y0: int
    price_x: int
    price_y: int
    concentration: int


def reserve_above(half: Half, x: int, *, version: int) -> int:
    """Return the least reserve, rounded up, of the token above its equilibrium, given the reserve `x` <= x0 of the
    other token. Raises `SwapReverts`."""
    x0, y0, px, py, c = half
    if version > 1:
        if c == WAD:
            reserve = y0 + div_up((x0 - x) * px, py)
        elif not x:
            return NO_RESERVE
        else:
            reserve = y0 + div_up(px * (x0 - x) * (c * x + (WAD - c) * x0), WAD * x * py)
        return reserve if not reserve >> RESERVE_BITS else NO_RESERVE
    if not x:
        raise SwapReverts("the EulerSwap curve has no point at a reserve of zero")
    value = div_up(px * (x0 - x) * (c * x + (WAD - c) * x0), x * WAD)
    if value >= _V1_LIMIT:
        raise SwapReverts("the EulerSwap curve overflows")
    return y0 + div_up(value, py)


def reserve_below(half: Half, y: int, *, version: int) -> int:
    """Return the least reserve of the token below its equilibrium, given the reserve `y` >= y0 of the other token: the
    inverse of `reserve_above`. Raises `SwapReverts`."""
    return _inverse(half, y) if version > 1 else _first_inverse(half, y)


def _inverse(half: Half, y: int) -> int:
    """Solve the quadratic equation of the second version, in a form that loses no digits."""
    x0, y0, px, py, c = half
    first, second = WAD * ((y - y0) * py + x0 * px), 2 * c * x0 * px
    is_negative = first < second
    difference = abs(first - second)
    b = div_up(difference, px) if is_negative else difference // px
    shift = max(0, b.bit_length() - 127, (x0 * _HALF_WAD_ODD).bit_length() - 109)
    four_ac = 4 * c * (WAD - c) * x0 * x0
    if is_negative:
        discriminant = _shift_up(four_ac, 2 * shift) + _shift_up(b * b, 2 * shift)
        x = div_up(b + (_root_up(discriminant) << shift), 2 * c)
    else:
        discriminant = (four_ac >> 2 * shift) + (b * b >> 2 * shift)
        divisor = b + (isqrt(discriminant) << shift)
        x = div_up(2 * (WAD - c) * x0 * x0, divisor) if divisor else 0
    return x - 1 if x > x0 else x


def _first_inverse(half: Half, y: int) -> int:
    """Solve the same equation like the first version. Raises `SwapReverts`."""
    x0, y0, px, py, c = half
    first, second = div_up(py * WAD * (y - y0), px), (2 * c - WAD) * x0
    if first >= UINT256_LIMIT >> 1:
        raise SwapReverts("the EulerSwap curve overflows")
    b_is_positive = first - second >= WAD
    b = abs(first - second) // WAD
    constant = div_up((WAD - c) * x0 * x0, WAD)
    four_ac = div_up(4 * c * constant, WAD)
    if b < _DIRECT_SQUARE:
        root = _root_up(b * b + four_ac)
    else:
        scale = 1 << max(0, b.bit_length() - 128)
        square = div_up((b // scale) * b, scale)
        if square + four_ac // (scale * scale) >= UINT256_LIMIT:
            raise SwapReverts("the EulerSwap curve overflows")
        root = _root_up(square + four_ac // (scale * scale)) * scale
    if b_is_positive:
        x = div_up(2 * constant, b + root) + 1
    elif not c:
        raise SwapReverts("the EulerSwap curve divides by a concentration of zero")
    else:
        x = div_up((b + root) * WAD, 2 * c) + 1
    return min(x, x0)


def _shift_up(value: int, bits: int) -> int:
    return -(-value >> bits)


def _root_up(value: int) -> int:
    root = isqrt(value)
    return root + (root * root < value)
