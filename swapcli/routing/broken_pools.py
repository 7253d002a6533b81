"""Find pools whose state breaks a computation, so that an order is answered without them.

No state that passes validation should do that. If one does, a pool that anybody may have created must not stop the
orders of everybody else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from math import isfinite
from typing import Final

from swapcli.errors import PoolError
from swapcli.model.pool import Pool

BROKEN: Final = (ArithmeticError, ValueError)
"""What a computation on an absurd state raises: a division by zero, an overflow, the root of a negative number."""

_RATES: Final = (1.0 - 1e-9, 0.5, 1e-3, 1e-12, 1e-60, 1e-120, 1e-240)
"""Parts of the spot rate: from the first units to the least ratio of two prices."""
_PARTS: Final = (1e-12, 1e-6, 1e-3, 0.5, 1.0)
"""Parts of the capacity."""
_UNBOUNDED_AMOUNT: Final = 2.0**128


def broken_pools(pools: Iterable[Pool]) -> frozenset[str]:
    """Return the keys of the pools whose curve or swap fails, or gives no finite number, at some rate or amount."""
    return frozenset(pool.key for pool in pools if _is_broken(pool))


def _is_broken(pool: Pool) -> bool:
    try:
        return any(_has_bad_number(pool, *pair) for pair in permutations(pool.tokens, 2))
    except BROKEN:
        return True


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
    ]
    return not all(isfinite(number) and number >= 0.0 for number in numbers)


def _swapped(pool: Pool, token_in: str, token_out: str, amounts: Iterable[float]) -> Iterator[float]:
    for amount in amounts:
        try:
            yield float(pool.swap(token_in, token_out, max(int(amount), 1))[0])
        except PoolError:
            continue
