"""Integer division with the rounding in its name, as the contracts' maths libraries have it."""

from __future__ import annotations


def div_up(numerator: int, denominator: int) -> int:
    """numerator / denominator, rounded up (towards plus infinity)."""
    return -(-numerator // denominator)


def mul_div_up(a: int, b: int, denominator: int) -> int:
    """a * b / denominator, rounded up, without losing bits of the product."""
    return -(-a * b // denominator)
