"""Laws that the pools of all families satisfy."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TypeVar

import pytest
from hypothesis import assume, reject

from swapcli.core.errors import PoolError, UncomputableSwap
from swapcli.core.model.pool import Pool, RateCurve

PoolT = TypeVar("PoolT", bound=Pool)

LARGEST_AMOUNT = 1e36
"""The largest amount of a trade in the laws, in base units, for pools that take any input."""
_LAST_BITS = 1e-15
_NORMAL = 1e-290
"""The lower limit of normal floats: below it, floats lose digits, and the midpoint of two may be zero."""


def swap_or_refuse(pool: PoolT, way: tuple[str, str], amount_in: int) -> tuple[int, PoolT] | None:
    """Return the output of a swap and the pool after it; None if the pool rejects it. `way` is (token in, token out).

    An exception in the family's code is raised unchanged.
    """
    try:
        return pool.swap(*way, amount_in)
    except UncomputableSwap as error:
        raise (error.__cause__ or error) from None
    except PoolError:
        return None


def swap_or_skip(pool: PoolT, way: tuple[str, str], amount_in: int) -> tuple[int, PoolT]:
    """Swap like `swap_or_refuse`, and discard the test example if the pool rejects the swap."""
    swapped = swap_or_refuse(pool, way, amount_in)
    if swapped is None:
        reject()
    return swapped


def swap_there_and_back(pool: Pool, token_in: str, token_out: str, amount_in: int) -> int:
    """Return how much `token_in` is left after selling `amount_in` and selling the output back. Discard the example if
    the pool rejects a sale."""
    amount_out, between = swap_or_skip(pool, (token_in, token_out), amount_in)
    return swap_or_skip(between, (token_out, token_in), amount_out)[0]


def check_state_round_trip(pool: Pool) -> None:
    """Require that the pool equals the one read from its state in the form of a market file."""
    assert type(pool).from_state(pool.identity, json.loads(json.dumps(pool.state()))) == pool


def trade_to_rate(curve: RateCurve, part: float, nudge: float) -> tuple[float, float, float]:
    """Return the trade that lowers the rate to a fraction of the start rate. It must end at that rate, or at a jump of
    the rate.

    At a jump, the trade to a rate that is lower by `nudge` must be the same.
    """
    assume(curve.start_rate > 0)
    rate = curve.start_rate * part
    amount_in, amount_out, slope = curve.trade_to_marginal_rate(rate)
    assert amount_out == pytest.approx(curve.amount_out(amount_in), rel=1e-11)
    if slope > 0 and amount_in < curve.capacity * (1 - 1e-12):
        nudged, _, _ = curve.trade_to_marginal_rate(rate * (1 - nudge))
        # An amount is accurate only up to its last bits, which may include the whole distance from a jump to here.
        before, after = (curve.rate(amount_in * (1 + bits)) for bits in (-_LAST_BITS, _LAST_BITS))
        assert after * (1 - 1e-6) <= rate <= before * (1 + 1e-6) or nudged == amount_in
    return amount_in, amount_out, slope


def check_concave(curve: RateCurve, a: float, b: float) -> None:
    """Require that outputs increase and rates fall between two fractions of the capacity, or of 10^36 if it is
    unlimited."""
    reach = min(curve.capacity, LARGEST_AMOUNT)
    low, high = sorted((reach * a, reach * b))
    assume(high > _NORMAL)
    middle = low / 2 + high / 2
    ends = [curve.amount_out(amount) for amount in (low, middle, high)]
    assert ends[0] <= ends[1] * (1 + 1e-12)
    assert ends[1] <= ends[2] * (1 + 1e-12)
    assert ends[1] >= (ends[0] / 2 + ends[2] / 2) * (1 - 1e-12)
    rates = [curve.start_rate, *(curve.rate(amount) for amount in (low, middle, high))]
    assert all(more * (1 + 1e-9) >= less for more, less in pairwise(rates))


def check_swap_laws(pool: Pool, way: tuple[str, str], amount_in: int, dust: int = 2, tolerance: float = 0.0) -> None:
    """Require that a larger input pays more, and that neither splitting an order nor swapping back gains anything.

    `dust` is the possible gain from the contract's rounding, in base units of either token; `tolerance` is a fraction
    of the output, for contracts whose fee is rounded to coarse steps. Test examples that the pool rejects are
    discarded.
    """
    whole, after = swap_or_skip(pool, way, amount_in)
    less = swap_or_skip(pool, way, max(1, amount_in // 2))[0]
    # The differences are of integers: a sum with a float would lose units.
    assert less - whole <= whole * tolerance + dust
    if amount_in > 1:
        check_two_parts(pool, way, amount_in, 0.5, whole * tolerance + dust)
    back = swap_or_skip(after, (way[1], way[0]), whole)[0]
    assert back - amount_in <= amount_in * tolerance + dust


def check_two_parts(pool: Pool, way: tuple[str, str], amount_in: int, part: float, dust: float) -> None:
    """Require that two swaps, the first with `part` of the amount, pay no more than one swap of the whole amount, up to
    `dust`."""
    first = max(int(amount_in * part), 1)
    assume(first < amount_in)
    whole, _ = swap_or_skip(pool, way, amount_in)
    paid, between = swap_or_skip(pool, way, first)
    rest, _ = swap_or_skip(between, way, amount_in - first)
    assert paid + rest - whole <= dust


def check_curve_follows(pool: Pool, way: tuple[str, str], amount_in: int, relative: float = 1e-9) -> None:
    """Require that the curve matches the exact swap's output, and that the curve is increasing and concave up to that
    amount."""
    exact = swap_or_skip(pool, way, amount_in)[0]
    curve = pool.curve(*way)
    assert curve.start_rate > 0
    assert curve.amount_out(float(amount_in)) == pytest.approx(exact, rel=relative, abs=3 * (1 + curve.start_rate))
    parts = [curve.amount_out(amount_in * part) for part in (0.25, 0.5, 1.0)]
    assert parts[0] <= parts[1] <= parts[2]
    assert parts[1] * 2 >= parts[2] * (1 - 1e-12)
    rates = [curve.start_rate, curve.rate(amount_in * 0.5), curve.rate(float(amount_in))]
    assert all(more * (1 + 1e-9) >= less for more, less in pairwise(rates))
    bought, paid, _ = curve.trade_to_marginal_rate(curve.start_rate * 0.999)
    assert paid == pytest.approx(curve.amount_out(bought), rel=1e-9)
