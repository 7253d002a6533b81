"""The integer maths of POE pools: the output of a sale around an oracle's price, rounded like the contract.

The oracle publishes the price P of X in Y and a concentration a > 1. As long as a sale brings the values of the two
reserves closer together, it is filled at P. The rest moves along a constant-product curve on virtual reserves, whose
prices range from P / a to P a. With Y' = y 10^24, the liquidity is

    L = (Y' + P x + root((Y' + P x)^2 + 4 (a - 1) Y' P x)) a / (2 (a - 1) root(a P 10^24)),

and the virtual reserves are x + L 10^24 / root(a P 10^24) and y + L root(a P 10^24) / (a 10^24); the sold token's is
rounded up, the bought token's down. Facts: developers.lfj.gg/poe, and KyberNetwork/kyberswap-dex-lib@ae6a99aa,
`lfj/poe`, whose authors compared it with the contract.
"""

from __future__ import annotations

from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.errors import InsufficientLiquidity
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import div_up, mul_div_up

PRICE_UNIT: Final = 10**24
"""The scale of prices: base units of Y for one of X."""


class VirtualReserves(NamedTuple):
    """The virtual reserves of the sold and the bought token on the constant-product curve, and the real reserve of the
    bought token."""

    sold: int
    bought: int
    real_bought: int


class FlatPart(NamedTuple):
    """The part of a sale that is filled at the oracle's price, and the reserves afterwards."""

    amount_in: int
    amount_out: int
    x: int
    y: int


def flat_part(x: int, y: int, price: int, amount_in: int, sells_x: bool) -> FlatPart:
    """Return the part of a sale that brings the values of the reserves closer together."""
    value_x, value_y = price * x, y * PRICE_UNIT
    if sells_x:
        part = min(amount_in, max(0, value_y - value_x) // (2 * price))
        paid = part * price // PRICE_UNIT
        return FlatPart(part, paid, x + part, y - paid)
    part = min(amount_in, max(0, value_x - value_y) // (2 * PRICE_UNIT))
    paid = part * PRICE_UNIT // price
    return FlatPart(part, paid, x - paid, y + part)


def virtual_reserves(x: int, y: int, price: int, alpha_bps: int, sells_x: bool) -> VirtualReserves:
    """Return the virtual reserves of the constant-product curve. `alpha_bps` must exceed 10,000 (100%)."""
    above = alpha_bps - BPS
    value_x, value_y = price * x, y * PRICE_UNIT
    value = value_x + value_y
    square = alpha_bps * price * PRICE_UNIT // BPS
    low = isqrt(square)
    high = low if low * low == square else low + 1
    root = isqrt(value * value + 4 * value_y * above // BPS * value_x)
    liquidity = (value + root) * alpha_bps // (2 * above * high)
    scale = alpha_bps * PRICE_UNIT
    if sells_x:
        return VirtualReserves(x + mul_div_up(liquidity, PRICE_UNIT, low), y + liquidity * low * BPS // scale, y)
    return VirtualReserves(y + div_up(liquidity * high * BPS, scale), x + liquidity * PRICE_UNIT // high, x)


def curve_part(reserves: VirtualReserves, amount_in: int) -> int:
    """Return the output for the part of a sale that is filled on the constant-product curve. Raises
    `InsufficientLiquidity` if it would drain the pool."""
    total = reserves.sold + amount_in
    amount_out = amount_in * reserves.bought // total if total else 0
    if amount_out > reserves.real_bought:
        raise InsufficientLiquidity("the pool would take only a part of the input")
    return amount_out
