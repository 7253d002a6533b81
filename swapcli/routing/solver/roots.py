"""Bracketing root finders of the routing core: bisection, false position and safeguarded Newton steps.

Each keeps an interval with a sign change, so that the kinks and jumps of pools cannot mislead it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log, sqrt

from swapcli.routing.solver.constants import (
    BRACKET_GROWTH,
    FIRST_BRACKET_STEP,
    ILLINOIS_ITERATIONS,
    LINE_SEARCH_ITERATIONS,
    MAX_BRACKET_STEP,
)


def bisect(is_low: Callable[[float], bool], low: float, high: float, iterations: int) -> tuple[float, float]:
    """Halve [low, high] around the point where `is_low` turns false; return the final interval."""
    for _ in range(iterations):
        middle = (low + high) / 2
        low, high = (middle, high) if is_low(middle) else (low, middle)
    return low, high


def least_integer(is_enough: Callable[[int], bool], guess: int, limit: int) -> int | None:
    """Return the least integer > 0 for which the monotone `is_enough` holds, searched around `guess` > 0.

    None when none below `limit` does, or none below 256 times `guess`.
    """
    step = max(1, guess >> 30)
    if is_enough(guess):
        enough, short = guess, guess - step
        while short > 0 and is_enough(short):
            enough, step = short, step * 4
            short -= step
        short = max(0, short)
    else:
        short, enough = guess, guess + step
        while not is_enough(enough):
            short, step = enough, step * 4
            enough += step
            if enough >= min(limit, guess << 8):
                return None
    while enough - short > 1:
        middle = (short + enough) // 2
        if is_enough(middle):
            enough = middle
        else:
            short = middle
    return enough


def find_log_root(rising: Callable[[float], float], start: float, tolerance: float) -> float:
    """Return a zero of `rising` (an amount by price) on a logarithmic scale, searched from `start` outwards.

    `tolerance` bounds the value, price times amount, that may be left. Returns the last price tried where none in
    reach changes the sign.
    """
    excess = rising(start)
    step = FIRST_BRACKET_STEP
    while abs(excess) * start > tolerance and step < MAX_BRACKET_STEP:
        other = start * exp(-step if excess > 0.0 else step)
        other_excess = rising(other)
        if (other_excess > 0.0) != (excess > 0.0):
            return _illinois(rising, (start, excess), (other, other_excess), tolerance)
        start, excess, step = other, other_excess, step * BRACKET_GROWTH
    return start


def _illinois(
    rising: Callable[[float], float], point: tuple[float, float], other: tuple[float, float], tolerance: float
) -> float:
    """Return the zero between two points of opposite sign, by false position with the Illinois rule.

    Source: Dowell, Jarratt, A modified regula falsi method for computing the root of an equation, BIT 11 (1971).
    """
    (a, excess_a), (b, excess_b) = point, other
    for _ in range(ILLINOIS_ITERATIONS):
        middle = exp((log(a) * excess_b - log(b) * excess_a) / (excess_b - excess_a))
        excess = rising(middle)
        if abs(excess) * middle <= tolerance:
            return middle
        if (excess > 0.0) == (excess_b > 0.0):
            excess_a *= 0.5
        else:
            a, excess_a = b, excess_b
        b, excess_b = middle, excess
    return b


def find_slope_root(slope: Callable[[float], float], at_start: float, at_end: float, tolerance: float) -> float:
    """Return the zero in [0, 1] of the rising, piecewise linear `slope`, whose values at the ends are given.

    False position that halves the opposite end's value at every step: between kinks it approaches a zero from both
    sides. It stays apart from `_illinois`, which halves only an end that it keeps, and works on logarithms.
    """
    low, high = 0.0, 1.0
    part = 0.0
    for _ in range(LINE_SEARCH_ITERATIONS):
        part = low + (high - low) * at_start / (at_start - at_end)
        value = slope(part)
        if abs(value) <= tolerance:
            break
        if value > 0.0:
            high, at_end, at_start = part, value, at_start * 0.5
        else:
            low, at_start, at_end = part, value, at_end * 0.5
    return part


def next_rate(rate: float, missing: float, slope: float, low: float, high: float) -> float:
    """Return the next rate to try for a root in (low, high): a Newton step on its logarithm, or a bisection step.

    `slope` is the change of the missing amount per unit of the logarithm; 0.0 asks for bisection, geometric where the
    ends are far apart. A `low` of 0.0 stands for no lower end.
    """
    if slope > 0.0:
        change = missing / slope
        guess = rate / (1.0 + change) if change > -0.5 else rate * (1.0 - change)
        if low < guess < high:
            return guess
    if low <= 0.0:
        return high * 0.25
    return (low + high) / 2 if high < 2.0 * low else sqrt(low) * sqrt(high)
