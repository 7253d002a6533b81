"""The contracts' integer arithmetic: division with the rounding in its name, and the limit of a word."""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts

WORD_BITS: Final = 256
"""The number of bits in an EVM word."""
UINT256_LIMIT: Final = 1 << WORD_BITS
"""Above every uint256."""
UINT128_LIMIT: Final = 1 << 128
"""Above every uint128."""
CAPACITY_MARGIN: Final = 1.0 - 2.0**-46
"""A factor that keeps a capacity in floats below its real value despite their rounding."""


def div_up(numerator: int, denominator: int) -> int:
    """Return numerator / denominator, rounded up (towards plus infinity)."""
    return -(-numerator // denominator)


def mul_div_up(a: int, b: int, denominator: int) -> int:
    """Return a * b / denominator, rounded up, without losing bits of the product."""
    return -(-a * b // denominator)


def require_uint128(value: int) -> int:
    """Return the value if it fits in 128 bits. Raises `SwapReverts` otherwise."""
    if value >= UINT128_LIMIT:
        raise SwapReverts("an amount exceeds the 128 bits that it is stored in")
    return value


def require_uint256(value: int) -> int:
    """Return the value if it fits in 256 bits. Raises `SwapReverts` otherwise, as checked arithmetic reverts."""
    if value >= UINT256_LIMIT:
        raise SwapReverts("the amount overflows the contract's arithmetic")
    return value
