"""The integer maths of Curve's StableSwap contracts, shared by swaps, deposits and withdrawals.

The maths is that of StableSwap-NG unless noted otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.rounding import require_uint256

# Constants of the contract: `A_PRECISION`, `FEE_DENOMINATOR`.
A_PRECISION: Final = 100
"""Units of the amplification in the contract's `A_precise()`."""
FEE_DENOMINATOR: Final = 10**10
"""A fee of 100% in Curve's pools."""
PACKED_BITS: Final = 128
"""The number of bits in which the contract packs each oracle price."""
MAX_NEWTON_STEPS: Final = 255
"""The number of steps after which the contract reverts."""


def dynamic_fee(fee: int, multiplier: int, x: int, y: int) -> int:
    """Return the fee, scaled by 10^10 as `fee` and `multiplier` are, at the scaled balances `x` and `y`."""
    if multiplier <= FEE_DENOMINATOR:
        return fee
    closeness = require_uint256((multiplier - FEE_DENOMINATOR) * 4 * x * y) // require_uint256((x + y) ** 2)
    return multiplier * fee // (closeness + FEE_DENOMINATOR)


def invariant(
    balances: Sequence[int], amp: int, divides_each_factor: bool = False, precision: int = A_PRECISION
) -> int:
    """Return the invariant as the contract's `get_D` does: the D with A n S + D = A n D + D^(n+1) / (n^n * product).

    `amp` is A times `precision`; `balances` are positive. D^(n+1) is divided by n^n once or, with
    `divides_each_factor`, by n with each balance, which rounds differently.
    """
    n, total = len(balances), sum(balances)
    ann = amp * n
    factor, rest = (n, 1) if divides_each_factor else (1, n**n)
    d = total
    for _ in range(MAX_NEWTON_STEPS):
        d_p = d
        for balance in balances:
            d_p = require_uint256(d_p * d) // (balance * factor)
        d_p //= rest
        before = d
        numerator = require_uint256((ann * total // precision + d_p * n) * d)
        d = numerator // ((ann - precision) * d // precision + (n + 1) * d_p)
        if -1 <= d - before <= 1:
            return d
    raise _no_convergence()


def find_balance(balances: Sequence[int], j: int, amp: int, d: int, precision: int = A_PRECISION) -> int:
    """Return the j-th balance that gives the invariant `d` with the other balances, as the contract's `get_y` does.

    `amp` is A times `precision`."""
    n = len(balances)
    ann = amp * n
    total, c = 0, d
    for k, balance in enumerate(balances):
        if k != j:
            total += balance
            c = require_uint256(c * d) // (balance * n)
    c = require_uint256(c * d * precision) // (ann * n)
    b = total + d * precision // ann
    y = d
    for _ in range(MAX_NEWTON_STEPS):
        before = y
        divisor = 2 * y + b - d
        if divisor <= 0:
            break
        y = require_uint256(y * y + c) // divisor
        if -1 <= y - before <= 1:
            return y
    raise _no_convergence()


def check_price_oracle(balances: Sequence[int], amp: int, d: int) -> None:
    """Raise `SwapReverts` if the contract's price oracle, which every swap updates, would revert."""
    first = balances[0]
    amplified, ratio = _price_terms(balances, amp, d)
    for balance in balances[1:]:
        require_uint256(WAD * (amplified + ratio * first // balance))
    require_uint256(ratio * first)
    if d >> PACKED_BITS:
        raise SwapReverts("the invariant is too large for the contract's oracle")


def check_plain_price_oracle(balances: Sequence[int], amp: int, d: int) -> None:
    """Raise `SwapReverts` if the oracle of a two-coin pool from before StableSwap-NG would revert.

    That oracle stores the price in 128 bits without a limit, whereas StableSwap-NG limits the price.
    """
    if price_of_second(balances, amp, d) >> PACKED_BITS:
        raise SwapReverts("the price is too high for the contract's oracle")


def price_of_second(balances: Sequence[int], amp: int, d: int, precision: int = A_PRECISION) -> int:
    """Return the price of the second of two coins in units of the first, scaled by 10^18, as the contract's `get_p`
    does."""
    first, second = balances
    amplified, ratio = _price_terms(balances, amp, d, precision)
    if not amplified + ratio:
        raise SwapReverts("the contract's price divides by zero")
    return require_uint256(WAD * (amplified + require_uint256(ratio * first) // second)) // (amplified + ratio)


def _price_terms(balances: Sequence[int], amp: int, d: int, precision: int = A_PRECISION) -> tuple[int, int]:
    """Return A n x_0 and D^(n+1) / (n^n prod x), the terms of a price in `_get_p` of the contracts."""
    n = len(balances)
    ratio = d // n**n
    for balance in balances:
        if not balance:
            raise SwapReverts("the bought coin would run out")
        ratio = require_uint256(ratio * d) // balance
    return require_uint256(amp * n * balances[0]) // precision, ratio


def scale_to_18_decimals(reserves: Sequence[int], rates: Sequence[int]) -> list[int]:
    return [require_uint256(reserve * rate) // WAD for reserve, rate in zip(reserves, rates, strict=True)]


def _no_convergence() -> SwapReverts:
    return SwapReverts("the contract's iteration does not converge")
