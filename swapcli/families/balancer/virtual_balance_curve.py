"""The curve of pools that trade on x y = k, with virtual balances in addition to their real balances."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from swapcli.core.model.pool import RateCurve
from swapcli.families.hull_curve import ZeroCurve
from swapcli.families.uniswap.constant_product import ConstantProductCurve


def curve_with_virtual_balances(
    live: Sequence[int], virtual: Sequence[int], i: int, j: int, units: tuple[float, float]
) -> RateCurve:
    """Return the curve for selling the i-th token for the j-th, up to the pool's balance of the j-th token.

    `units` are the numbers of base units per balance unit, for the input (fee included) and for the output.
    """
    bought_balance, virtual_out = live[j], virtual[j]
    x, y = live[i] + virtual[i], bought_balance + virtual_out
    if not (bought_balance and x):
        return ZeroCurve()
    max_in = bought_balance * x / virtual_out if virtual_out else inf
    return ConstantProductCurve(x * units[0], y * units[1], 0, max_in * units[0])
