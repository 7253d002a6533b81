"""Signed fixed-point numbers with 18 and 38 decimals, rounded as in Gyroscope's contracts.

In products and quotients of the same precision, "down" and "up" mean towards and away from zero. When a number with 18
decimals is multiplied by one with 38 decimals, they mean towards minus and plus infinity, and a product below one part
in 10^19 of a unit still counts as a whole unit.
"""

from __future__ import annotations

from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD

ONE_38: Final = 10**38
_HALF_38: Final = 10**19
_NEWTON_STEPS: Final = 7
"""The contract's number of steps: enough for 128 bits from a one-bit guess."""
_TOLERANCE: Final = 5
"""How far the square of a root may be from its argument, in units times the root: the contract's last argument."""
_GUESSES: Final = tuple((10**k, isqrt(10 ** (18 + k))) for k in range(1, 18))
"""(limit, root of the limit): the contract's first guess for arguments below one."""


def truncate(numerator: int, denominator: int) -> int:
    """Return numerator / denominator, rounded towards zero."""
    quotient = abs(numerator) // abs(denominator)
    return quotient if (numerator < 0) == (denominator < 0) else -quotient


def mul_down(a: int, b: int) -> int:
    """Return a * b, rounded towards zero."""
    product = a * b
    return product // WAD if product >= 0 else -(-product // WAD)


def mul_up(a: int, b: int) -> int:
    """Return a * b, rounded away from zero."""
    product = a * b
    return -(-product // WAD) if product >= 0 else product // WAD


def div_down(a: int, b: int) -> int:
    """Return a / b for b > 0, rounded towards zero; `a` may have any precision."""
    return a * WAD // b if a >= 0 else -(-a * WAD // b)


def div_up(a: int, b: int) -> int:
    """Return a / b for b > 0, rounded away from zero; `a` may have any precision."""
    return -(-a * WAD // b) if a >= 0 else a * WAD // b


def mul_38(a: int, b: int) -> int:
    """Return the product of two numbers with 38 decimals, rounded towards zero."""
    product = a * b
    return product // ONE_38 if product >= 0 else -(-product // ONE_38)


def div_38(a: int, b: int) -> int:
    """Return the quotient of two numbers with 38 decimals, b > 0, rounded towards zero."""
    return a * ONE_38 // b if a >= 0 else -(-a * ONE_38 // b)


def mul_mixed_down(a: int, b: int) -> int:
    """Return `a` with 18 decimals times `b` with 38, in 18 decimals, rounded towards minus infinity.

    The contract drops the last 19 digits of the product first; a negative product is at most -1.
    """
    product = a * b
    if product >= 0:
        return product // ONE_38
    return -((max(-product // _HALF_38, 1) - 1) // _HALF_38 + 1)


def mul_mixed_up(a: int, b: int) -> int:
    """Return `a` with 18 decimals times `b` with 38, in 18 decimals, rounded towards plus infinity."""
    return -mul_mixed_down(-a, b)


def sqrt(argument: int) -> int:
    """Return the contract's square root of `argument` >= 0, within one unit of the exact one.

    Raises `SwapReverts` if the contract rejects its root as too inaccurate.
    """
    if not argument:
        return 0
    root = _first_guess(argument)
    for _ in range(_NEWTON_STEPS):
        root = (root + argument * WAD // root) // 2
    if abs(root * root // WAD - argument) > -(-root * _TOLERANCE // WAD):
        raise SwapReverts("the pool's square root does not converge")
    return root


def _first_guess(argument: int) -> int:
    if argument >= WAD:
        return WAD << ((argument // WAD).bit_length() - 1) // 2
    return next((root for limit, root in _GUESSES if argument <= limit), argument)
