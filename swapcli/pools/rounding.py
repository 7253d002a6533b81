"""Integer division named by its rounding, as in the maths libraries of the contracts."""

from __future__ import annotations


def div_up(numerator: int, denominator: int) -> int:
    """Return numerator / denominator, rounded up (towards plus infinity)."""
    return -(-numerator // denominator)


def mul_div(a: int, b: int, denominator: int) -> int:
    """Return a * b / denominator, rounded down, without losing bits of the product."""
    return a * b // denominator


def mul_div_up(a: int, b: int, denominator: int) -> int:
    """Return a * b / denominator, rounded up, without losing bits of the product."""
    return -(-a * b // denominator)
