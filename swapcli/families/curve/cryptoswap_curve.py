"""Cryptoswap in floating point: one direction of a pool of two or three coins, with the fee that grows out of balance.

In units of the invariant D, with x and y the two balances, w the third (if any), n coins, c = n^n w and

    K0 = c x y = 1 - gamma z,   S = x + y + w = 1 + b Q(z),   Q(z) = z (1 + z)^2 / (1 - gamma z),   b = gamma / amp,

every point of the invariant has one z >= 0, zero in balance. With one balance fixed, z solves a convex equation, for
which Newton's method converges from above. Trades are computed as differences, so that small ones keep their digits.

The price is the ratio of the invariant's partial derivatives, (1 + H / x) / (1 + H / y) with
H = ((1 + z) (1 + 3 z) + gamma Q(z)) / amp.
"""

from __future__ import annotations

from math import cbrt, expm1, inf, log, log1p, sqrt

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.families.hull_curve import HULL_SAMPLES, HullCurve

_MAX_NEWTON_STEPS: Final = 60
"""Far more than the five to eight steps that are needed."""
_STEP_TOLERANCE: Final = 1e-9
"""Newton steps converge quadratically: after such a step the next is below the rounding of a float."""
_CLOSENESS: Final = 0.6
"""The ratio of successive distances from balance of the points at which a rising rate is looked for.

The last of sixteen is at 3e-4 of the first, which finds fees that change within a thousandth of balance.
"""


class CryptoFee(NamedTuple):
    """The fee: `low` in balance, growing to `high`. `gamma` is the imbalance at which it is about halfway."""

    low: float
    high: float
    gamma: float


class CryptoSwapCurve(HullCurve):
    """One direction of the pool in units of D; see `HullCurve`.

    The curve starts at the sold balance on the invariant. This matches the pool's bought balance, unless D comes from
    other parameters: then a swap pays the difference at once, and the curve omits it.
    """

    __slots__ = ("_a", "_b", "_c", "_fee", "_gamma", "_n", "_q0", "_x", "_y", "_z")

    def __init__(
        self,
        position: tuple[float, float, float],
        amp: float,
        gamma: float,
        fee: CryptoFee,
        share_range: tuple[float, float],
        units: tuple[float, float],
    ) -> None:
        """Start at `position`: the share of the sold coin, that of a third coin (0.0 for none), and S - 1 at K0 = 1.

        Shares and `units` (base units, in and out) are of D; `amp` is A n^n. Trades end when a balance leaves
        `share_range`, in which it must be at the start.
        """
        x, w, excess = position
        self._n = 3 if w else 2
        self._c = 27.0 * w if w else 4.0
        self._a, self._gamma, self._b = amp, gamma, gamma / amp
        self._fee = fee
        self._x = x
        self._z, self._q0 = 0.0, 1.0
        self._z = self._spread(excess, x)
        self._q0 = 1.0 - gamma * self._z
        self._y = self._q0 / (self._c * x)
        min_share, max_share = share_range
        depth = max(log(self._y / min_share), 0.0)
        if x + self._trade_by_log_depth(depth)[0] > max_share:
            depth = -log1p(-self._trade_by_input(max_share - x)[0] / self._y)
        rising = self._depths_before_balance(w) if fee.high > fee.low and x < self._y else ()
        self._prepare(units, [t for t in rising if t < depth], depth)
        if not depth:
            self.start_rate = 0.0

    def _depths_before_balance(self, w: float) -> list[float]:
        """Return trades t that come closer and closer to the one at which x = y, and that trade."""
        excess = max(w + 2.0 / sqrt(self._c) - 1.0, 0.0)
        z = _largest_spread(excess, self._gamma, self._b)
        for _ in range(_MAX_NEWTON_STEPS):
            q = 1.0 - self._gamma * z
            side = sqrt(q / self._c)
            slope = self._b * _dq(z, self._gamma) + self._gamma * side / q
            step = (1.0 - w + self._b * z * (1.0 + z) ** 2 / q - 2.0 * side) / slope
            z = max(z - step, 0.0)
            if abs(step) <= _STEP_TOLERANCE * z:
                break
        balance = log(self._y / sqrt((1.0 - self._gamma * z) / self._c))
        return [*(balance * (1.0 - _CLOSENESS**k) for k in range(HULL_SAMPLES)), balance]

    def _spread(self, change: float, side: float) -> float:
        """Return dz if the sum and the product of the balances require S - K0 / (c `side`) to grow by `change`.

        It solves gamma dz / (c side) + b (Q(z + dz) - Q(z)) = change; the left side is convex and increasing.
        """
        z0, q0, gamma, b = self._z, self._q0, self._gamma, self._b
        linear = gamma / (self._c * side)
        n0 = z0 * (1.0 + z0) ** 2
        total = change + linear * z0 + b * n0 / q0
        if total <= 0.0:
            return -z0
        dz = min(total / (linear + b), _largest_spread(total, gamma, b)) - z0
        dz = min(dz, change / (linear + b * _dq(z0, gamma)))  # the tangent at z0
        for _ in range(_MAX_NEWTON_STEPS):
            z = z0 + dz
            q = 1.0 - gamma * z
            dn = dz * ((1.0 + z0) * (1.0 + 3.0 * z0) + dz * (2.0 + 3.0 * z0 + dz))
            value = linear * dz + b * (dn * q0 + gamma * dz * n0) / (q0 * q) - change
            step = value / (linear + b * _dq(z, gamma))
            dz -= step
            if abs(step) <= _STEP_TOLERANCE * abs(dz):
                break
        return dz

    def _trade_by_input(self, sold: float) -> tuple[float, float]:
        x = self._x + sold
        dz = self._spread(sold * (x - self._y) / x, x)
        return (self._y * sold + self._gamma * dz / self._c) / x, self._z + dz

    def _trade_by_log_depth(self, t: float) -> tuple[float, float, float]:
        gross = -self._y * expm1(-t)
        y = self._y - gross
        dz = self._spread(gross * (self._x - y) / y, y)
        return (self._x * gross - self._gamma * dz / self._c) / y, gross, self._z + dz

    def _subtract_fee(self, sold: float, gross: float, state_after: float) -> float:
        del sold
        return gross * (1.0 - self._fee_at(state_after)[0])

    def _fee_at(self, z: float) -> tuple[float, float, float]:
        """Return the fee, the share of the lowest fee in it, and k = n^n x y w / S^n."""
        q = 1.0 - self._gamma * z
        log_k = log1p(-self._gamma * z) - self._n * log1p(self._b * z * (1.0 + z) ** 2 / q)
        low, high, gamma = self._fee
        share = gamma / (gamma - expm1(log_k))
        return high - (high - low) * share, share, 1.0 + expm1(log_k)

    def _marginal(self, sold: float, gross: float, state_after: float) -> tuple[float, float, float]:
        z, x, n = state_after, self._x + sold, self._n
        q = 1.0 - self._gamma * z
        y = q / (self._c * x)
        curved = (1.0 + z) ** 2 * z / q
        h = ((1.0 + z) * (1.0 + 3.0 * z) + self._gamma * curved) / self._a
        h_z = (4.0 + 6.0 * z + self._gamma * _dq(z, self._gamma)) / self._a
        divisor = x * (y + h)
        tilt = (y - x) / divisor  # 1/x - price/y
        price = 1.0 + h * tilt
        sold_by_t = y / price if price else inf  # far out of balance, the price can cancel to nothing
        h_x = -h_z * q / self._gamma * tilt
        tilt_x = (-price - 1.0 - tilt * (y + h + x * (h_x - price))) / divisor
        price_x = h_x * tilt + h * tilt_x
        fee, share, k = self._fee_at(z)
        spread = self._fee.high - self._fee.low
        if not spread:
            return price * (1.0 - fee), -price / price_x if price_x else inf, sold_by_t
        total = 1.0 + self._b * curved
        weight = 1.0 + n * h / total
        log_k_slope = tilt * weight  # d ln k / d x
        log_k_slope_x = tilt_x * weight + tilt * n * (h_x + h * h * tilt / total) / total
        k_x, k_xx = k * log_k_slope, k * (log_k_slope * log_k_slope + log_k_slope_x)
        fee_x = -spread * share * share * k_x / self._fee.gamma
        share_x = share * share * k_x / self._fee.gamma
        fee_xx = -spread * share * (2.0 * share_x * k_x + share * k_xx) / self._fee.gamma
        rate = price * (1.0 - fee) - gross * fee_x
        rate_x = price_x * (1.0 - fee) - 2.0 * price * fee_x - gross * fee_xx
        return rate, -rate / rate_x if rate_x else inf, sold_by_t


def _largest_spread(total: float, gamma: float, b: float) -> float:
    """Return a z above the one at which b Q(z) is `total`, from Q(z) >= z^3 and Q(z) >= z / (1 - gamma z)."""
    return min(cbrt(total / b), total / (b + gamma * total))


def _dq(z: float, gamma: float) -> float:
    """Return the derivative of Q."""
    q = 1.0 - gamma * z
    return ((1.0 + z) * (1.0 + 3.0 * z) + gamma * z * (1.0 + z) ** 2 / q) / q
