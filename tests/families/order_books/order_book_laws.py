"""What holds for every side of an order book, however its contract rounds."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InsufficientLiquidity, PoolError
from swapcli.core.model.pool import Pool
from swapcli.testing.pool_laws import check_concave, swap_or_skip

Way = tuple[str, str]


def check_fills(pool: Pool, way: Way, first: int, second: int, dust: int = 0) -> None:
    """Require that more is paid for more, that parts of an order pay no more, and that the curve bounds what is paid.

    `dust` is what the contract's rounding may be worth, in base units of the output.
    """
    whole, after = swap_or_skip(pool, way, first + second)
    curve = pool.curve(*way)
    assert whole <= curve.amount_out(float(first + second)) * (1 + 1e-9) + 1
    assert whole <= curve.amount_out(curve.capacity) * (1 + 1e-9) + 1
    assert pool.gas_units(after) >= pool.swap_gas
    check_concave(curve, first / (first + second), 1.0)
    paid, pool_between = _swap(pool, way, first)
    assert paid <= whole + dust
    more, pool_after = _swap(pool_between, way, second)
    assert paid + more <= whole + dust
    assert pool_after.curve(*way).start_rate <= pool.curve(*way).start_rate * (1 + 1e-9)


def check_capacity(pool: Pool, way: Way, unit: int = 10**6) -> None:
    """Require that a swap takes what the curve says, and not much more: a part that finds no order is refused.

    `unit` is the least input that makes an order; less than that beyond the capacity is not taken.
    """
    capacity = pool.curve(*way).capacity
    if 1e6 < capacity < 1e30:
        pool.swap(*way, int(capacity))
        with pytest.raises(InsufficientLiquidity):
            pool.swap(*way, int(capacity * 1.001) + unit)


def _swap(pool: Pool, way: Way, amount_in: int) -> tuple[int, Pool]:
    """Swap; an amount that pays nothing changes nothing."""
    try:
        return pool.swap(*way, amount_in)
    except PoolError:
        return 0, pool
