"""DODO's proactive market maker in integers, rounded like its contracts: the integral of the price, and its inverses.

A pool has a guide price i (output per input), a slippage factor k and a target V0 of the bought token. Selling lowers
the pool's balance of that token from V1 to V2, at the price i / (1 - k + k (V0 / V)^2). All three functions follow from
the integral of that price:

    i * sold = (V1 - V2) (1 - k + k V0^2 / (V1 V2))

i and k are fractions scaled by 10^18. Functions raise `SwapReverts` if the contracts revert, also because of an
overflow.
"""

from __future__ import annotations

from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import SwapReverts
from swapcli.core.model.units import WAD
from swapcli.families.rounding import UINT256_LIMIT, div_up, require_uint256

_WAD_SQUARED: Final = WAD * WAD


def invert_price(price: int) -> int:
    """Return the price of the opposite direction, rounded down."""
    return _WAD_SQUARED // price


def integrate(target: int, balance: int, sold: int, price: int, k: int) -> int:
    """Return the output of a sale that moves a balance back towards its target, from `balance` to `balance + sold`."""
    if not target:
        raise SwapReverts("a target of the pool is zero")
    fair_amount = require_uint256(price * sold)
    if not k:
        return fair_amount // WAD
    _require_positive(balance)
    square = require_uint256(target * target) // (balance + sold)
    penalty = require_uint256(k * (require_uint256(square * WAD) // balance)) // WAD
    return require_uint256((WAD - k + penalty) * fair_amount) // _WAD_SQUARED


def solve_for_target(balance: int, surplus: int, price: int, k: int) -> int:
    """Return the target to which selling `surplus` of the other token would bring a balance."""
    if not k:
        return require_uint256(balance + require_uint256(price * surplus) // WAD)
    if not balance:
        return 0
    factor = require_uint256(4 * k * price)
    fits = factor * surplus < UINT256_LIMIT
    under_root = factor * surplus // balance if fits else require_uint256(factor // balance * surplus)
    root = isqrt(require_uint256(under_root + _WAD_SQUARED)) if factor else WAD
    premium = (root - WAD) * WAD // (2 * k) + WAD
    return require_uint256(balance * premium) // WAD


def solve_for_trade(target: int, balance: int, sold: int, price: int, k: int) -> int:
    """Return the output of a sale that moves a balance away from its target."""
    if not target:
        raise SwapReverts("a target of the pool is zero")
    if not sold:
        return 0
    if not k:
        return min(require_uint256(price * sold) // WAD, balance)
    if k == WAD:
        return _trade_at_full_slippage(target, balance, sold, price)
    _require_positive(balance)
    part = require_uint256(require_uint256(k * target) // balance * target)
    b = require_uint256(part + require_uint256(price * sold)) - require_uint256((WAD - k) * balance)
    b_abs = abs(b) // WAD
    square = require_uint256(k * target) // WAD
    root = isqrt(
        require_uint256(
            require_uint256(b_abs * b_abs) + require_uint256(4 * (WAD - k) * require_uint256(square * target)) // WAD
        )
    )
    numerator = root - b_abs if b > 0 else require_uint256(root + b_abs)
    if b > 0 and not numerator:
        raise SwapReverts("the amount the pool would keep rounds to zero")
    return max(balance - div_up(require_uint256(numerator * WAD), 2 * (WAD - k)), 0)


def _trade_at_full_slippage(target: int, balance: int, sold: int, price: int) -> int:
    """Return the output of a sale for k = 1, with which the pool trades on x y = constant around its target."""
    fair_amount = require_uint256(price * sold)
    if fair_amount * balance < UINT256_LIMIT:
        ratio = fair_amount * balance // require_uint256(target * target)
    else:
        ratio = require_uint256(require_uint256(sold * balance) // target * price) // target
    return require_uint256(balance * ratio) // require_uint256(ratio + WAD)


def _require_positive(balance: int) -> None:
    """Raise an error unless the balance is positive, because the contracts divide by it."""
    if not balance:
        raise SwapReverts("the pool holds nothing of one token")
