"""Find pools whose state or code breaks a computation, so that a quote skips them.

No validated state and no family should do that. If one does, a pool that anyone may have created must not stop everyone
else's orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from math import isfinite
from typing import TYPE_CHECKING, Final, TypeVar

from swapcli.core.errors import PoolError, UncomputableSwap
from swapcli.core.model.pool import Pool, RateCurve
from swapcli.core.model.skipped_pool import SkippedPool, fault_reason

if TYPE_CHECKING:
    from swapcli.core.routing.graph.market_graph import Arc

_T = TypeVar("_T")

_RATES: Final = (1.0 - 1e-9, 0.5, 1e-3, 1e-12, 1e-60, 1e-120, 1e-240)
"""Parts of the spot rate: from that of the first units down to the least ratio of two prices."""
_PARTS: Final = (1e-12, 1e-6, 1e-3, 0.5, 1.0)
"""Parts of the capacity."""
_UNBOUNDED_AMOUNT: Final = 2.0**128  # stands in for an infinite capacity


def broken_pools(pools: Iterable[Pool]) -> tuple[SkippedPool, ...]:
    """Return the pools whose curve or swap fails, or returns a number that is not finite, at some rate or amount."""
    return tuple(SkippedPool(pool.key, pool.protocol, why) for pool in pools if (why := _why_broken(pool)))


def _why_broken(pool: Pool) -> str:
    """Return why a pool is broken; empty if it is not broken."""
    try:
        is_bad = any(_has_bad_number(pool, *pair) for pair in permutations(pool.tokens, 2))
    except Exception as error:
        return fault_reason(error)
    return "its rates or amounts are not finite" if is_bad else ""


def _has_bad_number(pool: Pool, token_in: str, token_out: str) -> bool:
    curve = pool.curve(token_in, token_out)
    if not curve.start_rate:
        return False
    capacity = min(curve.capacity, _UNBOUNDED_AMOUNT)
    amounts = [capacity * part for part in _PARTS]
    trades = [curve.trade_to_marginal_rate(curve.start_rate * part) for part in _RATES]
    numbers = [
        curve.start_rate,
        *(number for trade in trades for number in trade),
        *(number for amount in amounts for number in (curve.amount_out(amount), curve.rate(amount))),
        *_swapped(pool, token_in, token_out, amounts),
        pool.gas_units_to(token_in, token_out, curve.start_rate),
    ]
    return not all(isfinite(number) and number >= 0.0 for number in numbers)


def _swapped(pool: Pool, token_in: str, token_out: str, amounts: Iterable[float]) -> Iterator[float]:
    for amount in amounts:
        amount_in = max(int(amount), 1)
        try:
            amount_out, after = pool.swap(token_in, token_out, amount_in)
        except UncomputableSwap:
            raise
        except PoolError:
            continue
        yield from (float(amount_out), pool.gas_units(after), pool.unspent(token_in, token_out, amount_in))


class CurveWatch:
    """A monitor for the curves of arcs. `broken` has the pools, by key, whose curves failed at a rate or an amount."""

    def __init__(self) -> None:
        self.broken: dict[str, SkippedPool] = {}

    def add_to(self, arcs: Iterable[Arc]) -> None:
        """Replace the curves of `arcs` with watched ones."""
        for arc in arcs:
            arc.curve = _WatchedCurve(arc.curve, arc.pool, self.broken)
            arc.trade_to_marginal_rate = arc.curve.trade_to_marginal_rate


class _WatchedCurve:
    """The curve of a pool, which records the pool if the curve fails."""

    def __init__(self, curve: RateCurve, pool: Pool, broken: dict[str, SkippedPool]) -> None:
        self._curve, self._pool, self._broken = curve, pool, broken

    @property
    def start_rate(self) -> float:
        return self._curve.start_rate

    @property
    def capacity(self) -> float:
        return self._watch(lambda: self._curve.capacity)

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        return self._watch(lambda: self._curve.trade_to_marginal_rate(rate))

    def amount_out(self, amount_in: float) -> float:
        return self._watch(lambda: self._curve.amount_out(amount_in))

    def rate(self, amount_in: float) -> float:
        return self._watch(lambda: self._curve.rate(amount_in))

    def _watch(self, compute: Callable[[], _T]) -> _T:
        try:
            return compute()
        except Exception as error:
            key, protocol = self._pool.key, self._pool.protocol
            self._broken[key] = SkippedPool(key, protocol, fault_reason(error))
            raise
