"""Natural exponential and logarithm in fixed point, exactly as Balancer V2's contracts compute them.

Numbers are integers scaled by 10^18. The algorithm is the published one of `LogExpMath`: the argument is decomposed
over the powers e^(2^7) ... e^(2^-4), the remainder goes through a short Taylor series, and every division truncates
towards zero. Internally, it uses twenty decimals (36 if the argument of the logarithm is within 10% of one).
"""

from __future__ import annotations

from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD

_ONE_20 = 10**20
_ONE_36 = 10**36

_LARGE_POWERS = (
    (128 * WAD, 38877084059945950922200000000000000000000000000000000000),
    (64 * WAD, 6235149080811616882910000000),
)
"""(k, e^k): k with 18 decimals, e^k with none. The constants x0, a0, x1, a1 of `LogExpMath`."""

_POWERS = (
    (3200 * WAD, 7896296018268069516100000000000000),
    (1600 * WAD, 888611052050787263676000000),
    (800 * WAD, 298095798704172827474000),
    (400 * WAD, 5459815003314423907810),
    (200 * WAD, 738905609893065022723),
    (100 * WAD, 271828182845904523536),
    (50 * WAD, 164872127070012814685),
    (25 * WAD, 128402541668774148407),
    (125 * 10**17, 113314845306682631683),
    (625 * 10**16, 106449445891785942956),
)
"""(k, e^k) for k = 32, 16, ... 1/16, both with 20 decimals: x2, a2 to x11, a11 of `LogExpMath`.

The exponential stops at k = 1/4."""

_POWERS_OF_EXP = _POWERS[:8]
# Numbers of terms and limits below are those of `LogExpMath`.
_TAYLOR_TERMS = range(2, 13)
_ATANH_TERMS_20 = range(3, 12, 2)
_ATANH_TERMS_36 = range(3, 16, 2)

_MIN_EXPONENT = -41 * WAD
_MAX_EXPONENT = 130 * WAD
_NEAR_ONE = (WAD - 10**17, WAD + 10**17)
_MAX_POWER_EXPONENT = 2**254 // _ONE_20


def power(base: int, exponent: int) -> int:
    """Return base ^ exponent as `LogExpMath.pow` does. Both arguments are non-negative.

    Raises `SwapReverts` when the contract reverts.
    """
    if exponent == 0:
        return WAD
    if base == 0:
        return 0
    if base >> 255 or exponent >= _MAX_POWER_EXPONENT:
        raise SwapReverts("the pool's power function does not accept numbers this large")
    if _NEAR_ONE[0] < base < _NEAR_ONE[1]:
        whole, rest = _divide_by_one(_ln_near_one(base))
        product = whole * exponent + _truncating_div(rest * exponent, WAD)
    else:
        product = _ln(base) * exponent
    product = _truncating_div(product, WAD)
    if not _MIN_EXPONENT <= product <= _MAX_EXPONENT:
        raise SwapReverts("the pool's power function leaves its range")
    return _exp(product)


def _exp(x: int) -> int:
    """Return e^x for -41 <= x <= 130."""
    if x < 0:
        return WAD * WAD // _exp(-x)
    first = 1
    for k, e_k in _LARGE_POWERS:
        if x >= k:
            x, first = x - k, e_k
            break
    x *= 100
    product = _ONE_20
    for k, e_k in _POWERS_OF_EXP:
        if x >= k:
            x -= k
            product = product * e_k // _ONE_20
    term = x
    series = _ONE_20 + term
    for n in _TAYLOR_TERMS:
        term = term * x // _ONE_20 // n
        series += term
    return product * series // _ONE_20 * first // 100


def _ln(x: int) -> int:
    """Return the natural logarithm of x > 0 with 18 decimals."""
    if x < WAD:
        return -_ln(WAD * WAD // x)
    total = 0
    for k, e_k in _LARGE_POWERS:
        if x >= e_k * WAD:
            x //= e_k
            total += k
    total *= 100
    x *= 100
    for k, e_k in _POWERS:
        if x >= e_k:
            x = x * _ONE_20 // e_k
            total += k
    z = (x - _ONE_20) * _ONE_20 // (x + _ONE_20)
    z_squared = z * z // _ONE_20
    series = term = z
    for n in _ATANH_TERMS_20:
        term = term * z_squared // _ONE_20
        series += term // n
    return (total + 2 * series) // 100


def _ln_near_one(x: int) -> int:
    """Return the natural logarithm of 0.9 < x < 1.1, with 36 decimals."""
    x *= WAD
    z = _truncating_div((x - _ONE_36) * _ONE_36, x + _ONE_36)
    z_squared = z * z // _ONE_36
    series = term = z
    for n in _ATANH_TERMS_36:
        term = _truncating_div(term * z_squared, _ONE_36)
        series += _truncating_div(term, n)
    return 2 * series


def _divide_by_one(x: int) -> tuple[int, int]:
    """Return the quotient and remainder of x / 10^18, both with the sign of x."""
    whole = _truncating_div(x, WAD)
    return whole, x - whole * WAD


def _truncating_div(numerator: int, denominator: int) -> int:
    """Return numerator / denominator (> 0), rounded towards zero."""
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)
