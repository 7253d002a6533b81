"""The root finders of the routing core, which keep a bracket: bisection, false position and safeguarded Newton steps.

Each method keeps an interval with a sign change, so kinks and jumps of pools cannot mislead it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, sqrt

from swapcli.core.records import NamedTuple
from swapcli.core.routing.solver.constants import (
    FIRST_STEP,
    LOG_ROOT_STEPS,
    MAX_DUE_WIDTHS,
    MAX_FUTILE,
    MAX_LOG_STEP,
    MIN_SLOPE_PROGRESS,
    SECANT_ITERATIONS,
    STEP_OUT,
    STEP_OUT_GROWTH,
)


def bisect(is_low: Callable[[float], bool], low: float, high: float, iterations: int) -> tuple[float, float]:
    """Halve [low, high] around the point at which `is_low` turns false; return the final interval."""
    for _ in range(iterations):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low, high


EstimateJump = Callable[[int, int], int | None]
"""Returns about the first integer, between two, from which the values jump; None if unknown."""


def _no_jump(_: int, __: int) -> int | None:
    return None


class _Sample(NamedTuple):
    """An integer and the value at it."""

    at: int
    value: int


def least_integer(
    value_at: Callable[[int], int],
    required: int,
    guess: int,
    limit: int,
    estimate_jump: EstimateJump = _no_jump,
    slope: float = 0.0,
) -> int | None:
    """Return the least integer > 0 at which the increasing `value_at` reaches `required` > 0, searched around `guess` >
    0.

    The result is None if no integer below `limit`, or below 256 times `guess`, suffices. The secant method comes close,
    growing steps bracket the result, and interpolation that falls back to bisection ends the search. `estimate_jump`
    may avoid most of the bisection, and `slope`, the approximate slope at `guess`, avoids the first secant.
    """
    limit = min(limit, guess << 8)
    short, enough = _Sample(0, 0), _Sample(limit, required)
    now, before, step = _Sample(guess, value_at(guess)), short, max(1, guess >> 30)
    for _ in range(SECANT_ITERATIONS):
        short, enough = (short, now) if now.value >= required else (now, enough)
        if now.value == before.value:
            break
        if slope > 0.0 and before.at == 0:  # there is no secant yet
            change = int((required - now.value) / slope)
        else:
            change = (required - now.value) * (now.at - before.at) // (now.value - before.value)
        following = min(max(now.at + change, short.at + 1), enough.at - 1)
        step = max(1, abs(following - now.at))
        if following in (now.at, short.at, enough.at):
            break
        now, before = _Sample(following, value_at(following)), now
    short, enough = (short, now) if now.value >= required else (now, enough)
    # No less than the input of one unit of the value: below it, the value may not change.
    step = max(step, now.at // max(1, now.value))
    short, enough = _step_out(value_at, required, (short, enough), step if now == enough else -step)
    found = _narrow(value_at, required, (short, enough), estimate_jump)
    return found if found < limit else None


def _step_out(
    value_at: Callable[[int], int], required: int, bracket: tuple[_Sample, _Sample], step: int
) -> tuple[_Sample, _Sample]:
    """Narrow `bracket` by growing steps: down from its upper end or, for a negative `step`, up from its lower end."""
    short, enough = bracket
    while short.at < (following := (enough if step > 0 else short).at - step) < enough.at:
        sample = _Sample(following, value_at(following))
        is_enough = sample.value >= required
        short, enough = (short, sample) if is_enough else (sample, enough)
        if is_enough != (step > 0):
            break
        step *= STEP_OUT_GROWTH
    return short, enough


def _narrow(
    value_at: Callable[[int], int],
    required: int,
    bracket: tuple[_Sample, _Sample],
    estimate_jump: EstimateJump,
) -> int:
    """Return the upper end of `bracket` once it is narrower than 2.

    The method is false position that halves the missing value at an end that stays twice (the Illinois method). After
    steps that leave too much of the bracket, it tries a jump of the values, or bisection.
    """
    low, high = bracket[0].at, bracket[1].at
    missing, surplus = required - bracket[0].value, bracket[1].value - required
    due = (high - low) << 2  # the first two steps may leave anything
    is_slow, futile = False, 0
    is_enough: bool | None = None
    while (width := high - low) > 1:
        jump = estimate_jump(low, high) if is_slow and futile < MAX_FUTILE else None
        middle = low + width * missing // (missing + surplus + 1)  # a fraction of a unit is left above
        if jump is not None or width > due:
            middle = (low + high) // 2 if jump is None else jump
        middle = max(low + 1, min(high - 1, middle))
        value = value_at(middle)
        was_enough, is_enough = is_enough, value >= required
        if is_enough:
            high, surplus = middle, value - required
            missing = (missing + 1) // 2 if was_enough else missing
        else:
            low, missing = middle, required - value
            surplus = surplus // 2 if was_enough is False else surplus
        due = min(due // 2 + 1, MAX_DUE_WIDTHS * (high - low))
        is_slow = high - low > width // 4
        if jump is not None:
            futile = futile + 1 if is_slow else 0
            is_enough = None  # it says nothing about the line between the ends
    return high


def find_log_root(rising: Callable[[float], tuple[float, float]], start: float, tolerance: float) -> float:
    """Return a zero of `rising`, searched from the price `start`. `rising` returns, for a price, an amount and its
    slope in the logarithm of the price.

    It takes Newton steps inside a growing bracket; if one leaves more than half of the amount, the next halves the
    bracket. `tolerance` bounds the remaining value, price times amount. At a jump over zero, or if no price in reach
    changes the sign, it returns the last price tried that has the sign of the start.
    """
    low, high, price, max_step, last_excess = 0.0, inf, start, FIRST_STEP, inf
    first_excess = 0.0
    for _ in range(LOG_ROOT_STEPS):
        excess, slope = rising(price)
        first_excess = first_excess or excess
        if abs(excess) * price <= tolerance:
            return price
        low, high = (low, price) if excess > 0.0 else (price, high)
        is_bracketed = low > 0.0 and high < inf
        step = -excess / slope if slope > 0.0 else -inf if excess > 0.0 else inf
        guess = price * exp(max(-max_step, min(max_step, step)))
        if is_bracketed and not (low < guess < high and abs(excess) <= MIN_SLOPE_PROGRESS * last_excess):
            guess = sqrt(low) * sqrt(high)
        elif not is_bracketed and abs(step) >= max_step:
            if max_step >= MAX_LOG_STEP:
                break
            max_step = min(max_step * STEP_OUT, MAX_LOG_STEP)
        price, last_excess = guess, abs(excess)
    return high if first_excess > 0.0 else low


def next_rate(rate: float, missing: float, slope: float, low: float, high: float) -> float:
    """Return the next rate to try for a root in (low, high): a Newton step on its logarithm, or a bisection step.

    `slope` is the change of the missing amount per unit of the logarithm; 0.0 requests bisection, geometric if the ends
    are far apart. A `low` of 0.0 means no lower end.
    """
    if slope > 0.0:
        change = missing / slope
        guess = rate / (1.0 + change) if change > -0.5 else rate * (1.0 - change)
        if low < guess < high:
            return guess
    if low <= 0.0:
        return high * 0.25
    return (low + high) / 2 if high < 2.0 * low else sqrt(low) * sqrt(high)
