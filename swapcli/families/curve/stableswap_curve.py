"""StableSwap in floating point: one direction of a pool with any number of coins, including a dynamic fee.

With the other balances fixed and amounts in units of D, the invariant is x + y + c = k / (x y), so each of the two
balances solves a quadratic equation given the other. Newton steps on a nearly linear function of the rate (see
`_linearize_rate`) find a trade, about four for any distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1, inf, log, log1p, sqrt

from swapcli.families.hull_curve import HULL_SAMPLES, HullCurve


class StableSwapCurve(HullCurve):
    """One direction of the pool in units of D; t = ln(y before / y after) identifies a trade."""

    __slots__ = (
        "_c",
        "_chi",
        "_fee",
        "_k",
        "_multiplier",
        "_x",
        "_y",
    )

    def __init__(
        self,
        balances: Sequence[int],
        d: int,
        direction: tuple[int, int],
        amp: float,
        fee: float,
        multiplier: float,
        units: tuple[float, float],
    ) -> None:
        """Take scaled balances and their invariant; `fee` is a fraction, and `units` are base units per scaled unit, in
        and out."""
        n = len(balances)
        others, product = 0, 1.0
        for k, balance in enumerate(balances):
            if k not in direction:
                others += balance
                product *= n * balance / d
        ann = amp * n
        x, y = (balances[k] / d for k in direction)
        self._x, self._y = x, y
        self._k = 1.0 / (n * n * product * ann)
        self._c = (others - d) / d + 1.0 / ann
        self._chi = self._k / (x * y) ** 1.5
        self._fee, self._multiplier = fee, multiplier if multiplier > 1.0 else 0.0
        self._prepare((units[0] * d, units[1] * d), self._depths_of_falling_fee())

    def _depths_of_falling_fee(self) -> Sequence[float]:
        """Return trades t between which the fee falls, so that the rate may rise, until both balances are equal."""
        x, y = self._x, self._y
        if not self._multiplier or x >= y:
            return ()
        shortfall = 1.0 - x / y
        # The last one is separate: in floats, the shortfall of a nearly one-sided pool is 1.
        return [*(-log1p(-shortfall * k / HULL_SAMPLES) for k in range(HULL_SAMPLES)), log(y / x)]

    def _linearize_rate(self, rate: float) -> tuple[float, float]:
        """Return (h, -d h / d ln rate) for a function h of the rate that is nearly linear in t.

        With a constant product x y, h would be ln sqrt(x / y) at that rate. The flat part of the curve and its steep
        end both become a slope between one and two.
        """
        rate /= 1.0 - self._fee
        chi = self._chi
        gap = 1.0 - rate
        root = sqrt(gap * gap + 4.0 * chi * chi * rate)
        e = (root + gap) / (2.0 * chi * rate) if gap > 0.0 else 2.0 * chi / (root - gap)
        small, large = chi / e, chi * e
        return log(e), 1.0 / (small / (1.0 + small) + large / (1.0 + large))

    def _trade_by_input(self, sold: float) -> tuple[float, float]:
        """Return (gross, y after); gross is the output before the fee, computed without cancellation."""
        x, y, k = self._x, self._y, self._k
        x_after = x + sold
        b = x_after + self._c
        root = sqrt(b * b + 4.0 * k / x_after)
        gross = 2.0 * sold * (y + k / (x * x_after)) / (2.0 * y + b + root)
        return gross, 2.0 * k / (x_after * (b + root)) if b > 0.0 else 0.5 * (root - b)

    def _trade_by_log_depth(self, t: float) -> tuple[float, float, float]:
        """Return (sold, gross, y after) of the trade t; the inverse of `_trade_by_input`."""
        x, y = self._x, self._y
        gross, y_after = -y * expm1(-t), y * exp(-t)
        b = 2.0 * x + y_after + self._c
        lift = gross * (x + self._k / (y * y_after))
        root = sqrt(b * b + 4.0 * lift)
        return 2.0 * lift / (b + root) if b > 0.0 else 0.5 * (root - b), gross, y_after

    def _subtract_fee(self, sold: float, gross: float, state_after: float) -> float:
        del state_after
        m = self._multiplier
        if not m:
            return gross * (1.0 - self._fee)
        x, y = 2.0 * self._x + sold, 2.0 * self._y - gross
        z = (x - y) / (x + y)
        return gross * (1.0 - m * self._fee / (m - (m - 1.0) * z * z))

    def _marginal(self, sold: float, gross: float, state_after: float) -> tuple[float, float, float]:
        """Return (rate, -d sold / d ln rate, d sold / d t) after the trade.

        The price before the fee is the ratio of the invariant's partial derivatives; its own derivative follows the
        curve. The fee is m f / (m - (m - 1) z^2), z = (x - y) / (x + y) at the middle of the trade.
        """
        x, y = self._x + sold, state_after
        q = self._k / (x * y)
        qx, qy = q / x, q / y
        fx, fy = 1.0 + qx, 1.0 + qy
        price = fx / fy
        bend = (price * qx / y - 2.0 * qx / x) / fx + (qx / y - 2.0 * price * qy / y) / fy  # d ln price / d sold
        f, m = self._fee, self._multiplier
        if not m:
            return price * (1.0 - f), -1.0 / bend, y / price
        span = self._x + x + self._y + y
        z = (self._x + x - self._y - y) / span
        z1 = (1.0 + price - z * (1.0 - price)) / span
        z2 = (price * bend * (1.0 + z) - 2.0 * (1.0 - price) * z1) / span
        rest = m - (m - 1.0) * z * z
        fee = m * f / rest
        factor = 2.0 * fee * (m - 1.0) / rest
        fee1 = factor * z * z1
        fee2 = factor * (z1 * z1 + z * z2 + 4.0 * (m - 1.0) * (z * z1) ** 2 / rest)
        rate = price * (1.0 - fee) - gross * fee1
        rate1 = price * bend * (1.0 - fee) - 2.0 * price * fee1 - gross * fee2
        return rate, -rate / rate1 if rate1 else inf, y / price
