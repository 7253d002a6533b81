"""One direction of an E-CLP in floating point; every method has a closed form.

The balance of the sold token is x = a - r R sin(psi) with R^2 = (lambda c)^2 + s^2, where the angle psi falls as the
token is sold; r, a, s, c and lambda have the same meaning as in `eclp_math`. With k = lambda / R^2 the marginal rate is
g + k tan(psi), g = s c (lambda^2 - 1) / R^2, and its mean over a trade is the same expression at half the sum of both
angles.
"""

from __future__ import annotations

from math import hypot, sqrt

from swapcli.core.errors import SwapReverts
from swapcli.core.model.pool import RateCurve
from swapcli.core.model.units import WAD
from swapcli.families.balancer.eclp_math import EclpParameters, Invariant
from swapcli.families.hull_curve import ZeroCurve


def eclp_curve(
    parameters: EclpParameters, balances: tuple[int, int], token_in: int, units: tuple[float, float]
) -> RateCurve:
    """Return the curve for selling one token. Balances have 18 decimals; `units` are the numbers of base units per
    balance unit, for the input and for the output.

    The unit of the input includes the fee. The curve is empty if the pool has none of the other token, if it has more
    of the sold token than its range can hold, or if its contract would revert.
    """
    try:
        invariant = parameters.invariant(*balances)
    except SwapReverts:
        return ZeroCurve()
    if not balances[1 - token_in] or invariant.under <= 0:
        return ZeroCurve()
    curve = EclpCurve(parameters, balances, invariant, token_in, units)
    return curve if curve.capacity > 0.0 else ZeroCurve()


class EclpCurve:
    """The curve for selling one token. Angles are stored as sines and cosines, so that no difference cancels."""

    __slots__ = (
        "_cos",
        "_flat_rate",
        "_max_out",
        "_scale",
        "_sin",
        "_steepness",
        "_tan",
        "_unit_in",
        "_unit_out",
        "capacity",
        "start_rate",
    )

    def __init__(
        self,
        parameters: EclpParameters,
        balances: tuple[int, int],
        invariant: Invariant,
        token_in: int,
        units: tuple[float, float],
    ) -> None:
        """Take balances with 18 decimals; `units` are base units per such unit, in and out, fee included."""
        lambda_ = parameters.lambda_ / WAD
        s, c = parameters.s / WAD, parameters.c / WAD
        if token_in:
            s, c = c, s
        x = parameters.offset(invariant, token_in) - balances[token_in]
        y = parameters.offset(invariant, 1 - token_in) - balances[1 - token_in]
        # The point on the stretched circle: (lambda sin, cos) of the angle theta = psi - atan2(s, lambda c).
        stretched_sin, cos = c * x - s * y, s * x + c * y
        r_sin, r_cos = x, lambda_ * c * cos - s * stretched_sin / lambda_
        norm = hypot(r_sin, r_cos)
        radius_squared = (lambda_ * c) ** 2 + s * s
        self._sin, self._cos, self._tan = r_sin / norm, r_cos / norm, r_sin / r_cos
        self._scale = norm
        self._flat_rate = s * c * (lambda_ * lambda_ - 1.0) / radius_squared
        self._steepness = lambda_ / radius_squared
        self._unit_in, self._unit_out = units
        self._max_out = balances[1 - token_in] * units[1]  # floats err by up to 10^-16 lambda
        self.start_rate: float = self._to_rate(self._tan)
        self.capacity: float = (parameters.max_balance(invariant, token_in) - balances[token_in]) * units[0]

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        fall = self.start_rate - rate
        if fall <= 0.0:
            return 0.0, 0.0, 0.0
        cos, tan = self._cos, self._tan
        per_tan = self._steepness * self._unit_out / self._unit_in
        fall /= per_tan
        tan_after = tan - fall
        cos_after = 1.0 / hypot(1.0, tan_after)
        product = cos * cos_after
        sold = self._scale * fall * product * (cos + cos_after) / (1.0 + product * (1.0 + tan * tan_after))
        amount_in = sold * self._unit_in
        if amount_in >= self.capacity:
            return self.capacity, self.amount_out(self.capacity), 0.0
        slope = rate * self._scale * self._unit_in * cos_after**3 / per_tan
        amount_out = amount_in * self._mean_rate(tan_after * cos_after, cos_after)
        return amount_in, min(amount_out, self._max_out), slope

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in > self.capacity:
            amount_in = self.capacity
        if amount_in <= 0.0:
            return 0.0
        return min(amount_in * self._mean_rate(*self._angle_after(amount_in)), self._max_out)

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        sin, cos = self._angle_after(amount_in)
        return self._to_rate(sin / cos)

    def _angle_after(self, amount_in: float) -> tuple[float, float]:
        fall = amount_in / (self._unit_in * self._scale)
        return self._sin - fall, sqrt(self._cos * self._cos + fall * (2.0 * self._sin - fall))

    def _mean_rate(self, sin: float, cos: float) -> float:
        return self._to_rate((self._sin + sin) / (self._cos + cos))

    def _to_rate(self, tan: float) -> float:
        return (self._flat_rate + self._steepness * tan) * self._unit_out / self._unit_in
