"""One direction of a Fluid pool in floating point, for the solver: one or two constant products with a common price.

The contract splits a swap so that both sides end at the same price before the fee. This curve equalises the prices
after the fee; the difference is far smaller than the fee. The curve ends when one side reaches a limit: the contract
does not switch to the other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, sqrt

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

_CAPACITY_MARGIN: Final = 1.0 - 1e-9
"""Keeps the capacity within the contract's limits despite float rounding."""


class SideLimits(NamedTuple):
    """The reserves on one side of the pool (collateral or debt), and the most that the liquidity layer pays out of that
    side. All amounts have 12 decimals."""

    real_in: float
    real_out: float
    imaginary_in: float
    imaginary_out: float
    limit: float


class FluidCurve:
    """The curve of one direction; see `RateCurve`. `units` are the base units per unit with 12 decimals, of the input
    and of the output.

    `gamma` is one minus the fee; `added` is one minus the protocol's part of the fee. `min_price`, output per input, is
    the limit from the price of the last swap at which the curve ends. A side keeps at least `min_left` units of the
    output per unit of the input.
    """

    __slots__ = (
        "_end_rate",
        "_gamma",
        "_products",
        "_roots",
        "_sides",
        "_unit_in",
        "_unit_rate",
        "capacity",
        "start_rate",
    )

    def __init__(
        self,
        sides: Sequence[SideLimits],
        gamma: float,
        added: float,
        min_price: float,
        min_left: float,
        units: tuple[float, float],
    ) -> None:
        self._unit_in, unit_out = units
        self._unit_rate = unit_out / self._unit_in
        self._gamma = gamma
        self._sides = sorted(sides, key=lambda side: -side.imaginary_out / side.imaginary_in)
        # After an input of `a` before the fee, the rate of a side is (root / (imaginary_in / gamma + a)) ** 2.
        self._roots = [sqrt(side.imaginary_in * side.imaginary_out / gamma) for side in self._sides]
        # For `_trade_to`: the root, the input reserve before the fee, and output / (input * sqrt(final rate)).
        self._products = [
            (root, side.imaginary_in / gamma, side.imaginary_out / root)
            for root, side in zip(self._roots, self._sides, strict=True)
        ]
        self.start_rate: float = self._start(0) * self._unit_rate
        max_inputs = [self._max_input(side, added, min_price, min_left) for side in self._sides]
        self._end_rate = self._find_end_rate(max_inputs)
        self.capacity: float = self._trade_to(self._end_rate)[0] * self._unit_in

    def _find_end_rate(self, max_inputs: Sequence[float]) -> float:
        """Return the rate at which the curve ends: the highest at which a side, or the whole pool, reaches a limit."""
        end_rates = [
            self._side_rate(k, max_input * _CAPACITY_MARGIN) if max_input > 0.0 else self._start(k)
            for k, max_input in enumerate(max_inputs)
        ]
        # The contract reverts for more than half of the input reserve.
        half = 0.5 * sum(side.imaginary_in for side in self._sides) * _CAPACITY_MARGIN
        return max([*end_rates, self._rate_at(half)])

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        rate /= self._unit_rate
        if rate <= self._end_rate:
            return self.capacity, self.amount_out(self.capacity), 0.0
        sold, bought, slope = self._trade_to(rate)
        return sold * self._unit_in, bought * self._unit_rate * self._unit_in, slope * self._unit_in

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        if amount_in <= 0.0:
            return 0.0
        sold = min(amount_in, self.capacity) / self._unit_in
        rate = self._rate_at(sold)
        # The first side takes the rest, so that a small output does not depend on a difference of large numbers.
        second = self._side_input(1, rate) if len(self._sides) > 1 else 0.0
        bought = self._side_output(0, sold - second) + (self._side_output(1, second) if second else 0.0)
        return bought * self._unit_rate * self._unit_in

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        return self._rate_at(max(amount_in, 0.0) / self._unit_in) * self._unit_rate

    def _start(self, k: int) -> float:
        """Return the rate of the first unit on a side."""
        return self._gamma * self._sides[k].imaginary_out / self._sides[k].imaginary_in

    def _side_rate(self, k: int, amount: float) -> float:
        """Return the rate on a side after an input."""
        ratio = self._roots[k] / (self._sides[k].imaginary_in / self._gamma + amount)
        return ratio * ratio

    def _side_input(self, k: int, rate: float) -> float:
        """Return the input that lowers the rate on a side to `rate`; 0.0 if it is already lower."""
        return max(self._roots[k] / sqrt(rate) - self._sides[k].imaginary_in / self._gamma, 0.0)

    def _trade_to(self, rate: float) -> tuple[float, float, float]:
        """Return (sold, bought, -d sold / d ln rate) of the trade that ends at a rate, in units with 12 decimals."""
        root = sqrt(rate)
        sold = bought = roots = 0.0
        for side_root, reserve_in, out_per_in in self._products:
            amount = side_root / root - reserve_in
            if amount > 0.0:
                sold += amount
                bought += amount * out_per_in * root
                roots += side_root
        return sold, bought, 0.5 * roots / root

    def _side_output(self, k: int, amount: float) -> float:
        net = self._gamma * amount
        return net * self._sides[k].imaginary_out / (self._sides[k].imaginary_in + net)

    def _rate_at(self, sold: float) -> float:
        """Return the common rate after an input, in units with 12 decimals."""
        rate = self._side_rate(0, sold)
        if len(self._sides) > 1 and rate < self._start(1):
            reserve_in = sum(side.imaginary_in for side in self._sides) / self._gamma
            ratio = sum(self._roots) / (reserve_in + sold)
            rate = ratio * ratio
        return rate

    def _max_input(self, side: SideLimits, added: float, min_price: float, min_left: float) -> float:
        """Return the input on a side at which the first of its limits is reached."""
        gamma, x, y = self._gamma, side.imaginary_in, side.imaginary_out
        # real_out - out >= min_left * (real_in + input): with out <= real_out, its linear part is tiny.
        max_out = min(side.real_out - min_left * side.real_in, side.limit)
        if max_out <= 0.0:
            return 0.0
        by_output = x * max_out / ((y - max_out) * gamma) if max_out < y else inf
        if by_output < inf:
            # Repeated with the increase that this input causes in the amount that must be left.
            max_out = min(side.real_out - min_left * (side.real_in + by_output), side.limit)
            if max_out <= 0.0:
                return 0.0
            by_output = x * max_out / ((y - max_out) * gamma)
        # (y - out) / (x + added * input) >= min_price, where y - out = x * y / (x + gamma * input).
        product = x * y / min_price - x * x
        if product <= 0.0:
            return 0.0
        linear = (gamma + added) * x
        by_price = 2.0 * product / (linear + sqrt(linear * linear + 4.0 * gamma * added * product))
        return min(by_output, by_price)
