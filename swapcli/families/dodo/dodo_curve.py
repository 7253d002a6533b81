"""One direction of a DODO pool in floating point, for the solver.

A sale first raises the pool's balance of the sold token to its target, if it is below; the rest moves its balance of
the bought token away from the target. With the guide price i, fee included, both parts have a closed form:

    towards the target:   rate = i (1 - k + k (T / x)^2)    with x the balance of the sold token, up to T
    away from it:         rate = i / (1 - k + k (V / y)^2)  with y the balance of the bought token, from V1 down

The first part ends at the rate i; the second begins there if it starts at its target.
"""

from __future__ import annotations

from math import sqrt

from swapcli.core.annotations import Final
from swapcli.families.rounding import CAPACITY_MARGIN

_LEAST: Final = 1e-300
"""Stands in for a positive difference that floats round to zero or less when k is far below their precision."""


class DodoCurve:
    """The curve of one direction; see `RateCurve`. In the sold token, `balance_in` is below `target_in` by the amount
    of the first part; they are equal if there is none. The second part starts at `balance_out`, and is omitted if
    `target_out` is 0.

    `price` and both amounts of the bought token are after the fee. 0 < `k` <= 1; `max_in` is the largest input that
    the contract stores.
    """

    __slots__ = ("_balance_in", "_first", "_k", "_price", "_second", "_target_in", "capacity", "start_rate")

    def __init__(
        self,
        price: float,
        k: float,
        balance_in: int,
        target_in: int,
        balance_out: float,
        target_out: float,
        max_in: int,
    ) -> None:
        self._price, self._k = price, k
        self._balance_in, self._target_in = float(balance_in), float(target_in)
        # The input and the output of the whole first part.
        length = float(target_in - balance_in)
        self._first = length, self._towards(length) if length else 0.0
        # The second part: its balance and its target; (0, 0) if there is none.
        self._second = (balance_out, target_out) if target_out and balance_out else (0.0, 0.0)
        limit = float(max_in) if self._second[0] else min(length, float(max_in))
        self.capacity: float = limit * CAPACITY_MARGIN
        self.start_rate: float = self._start_rate() if self.capacity > 0.0 else 0.0

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        """Return (amount_in, amount_out, slope) of the trade that ends at the marginal rate `rate`; see `RateCurve`."""
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        k, length = self._k, self._first[0]
        if length and rate > self._price:
            end = self._target_in * sqrt(k / max(rate / self._price - (1.0 - k), _LEAST))
            sold = min(max(end - self._balance_in, 0.0), length)
            if sold >= self.capacity:
                return self.capacity, self.amount_out(self.capacity), 0.0
            slope = rate * end**3 / (2.0 * self._price * k * self._target_in * self._target_in)
            return sold, self._towards(sold), slope
        balance, target = self._second
        if not balance or rate >= self._second_rate(balance):
            return (length, self._first[1], 0.0) if length < self.capacity else self._at_capacity()
        left = min(target * sqrt(k / max(self._price / rate - (1.0 - k), _LEAST)), balance)
        if not (left and rate * rate):
            return self._at_capacity()  # the rate is so low that its square, or the rest, is zero in floats
        bought = balance - left
        ratio = target / left
        sold = length + bought * (1.0 - k + k * target / balance * ratio) / self._price
        if sold >= self.capacity:
            return self._at_capacity()
        return sold, self._first[1] + bought, self._price * left / (2.0 * k * ratio * ratio * rate * rate)

    def amount_out(self, amount_in: float) -> float:
        """Return the output for `amount_in`."""
        amount_in = min(amount_in, self.capacity)
        if amount_in <= 0.0:
            return 0.0
        length, received = self._first
        if amount_in <= length:
            return self._towards(amount_in)
        return received + self._away(amount_in - length)

    def rate(self, amount_in: float) -> float:
        """Return the marginal rate after `amount_in` has been sold."""
        if amount_in >= self.capacity:
            return 0.0
        amount_in = max(amount_in, 0.0)
        length = self._first[0]
        if amount_in < length:
            ratio = self._target_in / (self._balance_in + amount_in)
            return self._price * (1.0 - self._k + self._k * ratio * ratio)
        return self._second_rate(self._left_after(amount_in - length))

    def _at_capacity(self) -> tuple[float, float, float]:
        return self.capacity, self.amount_out(self.capacity), 0.0

    def _start_rate(self) -> float:
        if self._first[0]:
            ratio = self._target_in / self._balance_in
            return self._price * (1.0 - self._k + self._k * ratio * ratio)
        return self._second_rate(self._second[0])

    def _towards(self, sold: float) -> float:
        """Return the output of the first part for an input."""
        ratio = self._target_in / self._balance_in * (self._target_in / (self._balance_in + sold))
        return self._price * sold * (1.0 - self._k + self._k * ratio)

    def _second_rate(self, left: float) -> float:
        """Return the rate of the second part when `left` of the bought token is left."""
        if left <= 0.0:
            return 0.0
        ratio = self._second[1] / left
        return self._price / (1.0 - self._k + self._k * ratio * ratio)

    def _away(self, sold: float) -> float:
        """Return the output of the second part: the smaller root of a quadratic equation, without cancellation."""
        b, under_root, fair = self._quadratic(sold)
        return 2.0 * self._second[0] * fair / (b + sqrt(under_root))

    def _left_after(self, sold: float) -> float:
        """Return the remaining balance of the bought token, from the product of the roots if it is small."""
        balance, target = self._second
        if not balance:
            return 0.0
        b, under_root, fair = self._quadratic(sold)
        bought = 2.0 * balance * fair / (b + sqrt(under_root))
        if bought < 0.5 * balance:
            return balance - bought
        # With y = left / balance: (1 - k) y^2 + (fair - (1 - k) + kappa) y - kappa = 0.
        kappa = self._k * (target / balance) ** 2
        linear = fair - (1.0 - self._k) + kappa
        root = sqrt(linear * linear + 4.0 * (1.0 - self._k) * kappa)
        if linear >= 0.0:
            return balance * 2.0 * kappa / (linear + root)
        return balance * (root - linear) / (2.0 * (1.0 - self._k))

    def _quadratic(self, sold: float) -> tuple[float, float, float]:
        """Return b, b^2 - 4 a c and c of a z^2 - b z + c = 0 with z = output / balance: a = 1 - k, and c is the value
        of the input at the guide price, as a part of the balance."""
        balance, target = self._second
        a, kappa, fair = 1.0 - self._k, self._k * (target / balance) ** 2, self._price * sold / balance
        return a + kappa + fair, (a - fair) ** 2 + kappa * (kappa + 2.0 * (a + fair)), fair
