"""The steps of a swap in an iZiSwap pool, in integers that round like its contracts.

A point p represents the price 1.0001^p of X in Y, and every unit of liquidity at a point is worth sqrt(price) units of
Y or 1 / sqrt(price) units of X: inside a point, the price does not move. So a point with the liquidity L holds L *
sqrt(price) of Y or L / sqrt(price) of X, the current point holds some of both, and consecutive points hold a geometric
sum. Square roots of prices are fixed-point numbers with 96 fractional bits, the same as Uniswap V3's.

Selling X moves the price down, selling Y up. Functions take amounts after the fee.
"""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import mul_div_up
from swapcli.families.tick_math import Q96, sqrt_ratio_at_tick, tick_at_sqrt_ratio

SQRT_RATE: Final = sqrt_ratio_at_tick(1)
"""The square root of 1.0001, by which the square root of the price grows from one point to the next."""


class Position(NamedTuple):
    """The current point, its liquidity, and the part of that liquidity that is in X."""

    point: int
    liquidity: int
    liquidity_x: int


class RangeStep(NamedTuple):
    """The cost and the output of a swap over a run of points with the same liquidity, and the position at its end.
    `is_finished` means that the swap ends within that run."""

    cost: int
    acquired: int
    is_finished: bool
    point: int
    liquidity_x: int


def sell_x_to_order(amount: int, point: int, selling: int) -> tuple[int, int]:
    """Return (cost, acquired) for selling X to a limit order that sells Y at a point."""
    price = sqrt_ratio_at_tick(point)
    acquired = min((amount * price // Q96) * price // Q96, selling)
    return mul_div_up(mul_div_up(acquired, Q96, price), Q96, price), acquired


def sell_y_to_order(amount: int, point: int, selling: int) -> tuple[int, int]:
    """Return (cost, acquired) for selling Y to a limit order that sells X at a point."""
    price = sqrt_ratio_at_tick(point)
    acquired = min((amount * Q96 // price) * Q96 // price, selling)
    return mul_div_up(mul_div_up(acquired, price, Q96), price, Q96), acquired


def sell_x_in_range(position: Position, end: int, amount: int) -> RangeStep:
    """Sell X from the current point down to the point `end`, both included."""
    point, liquidity, liquidity_x = position
    price = sqrt_ratio_at_tick(point)
    cost = acquired = 0
    if liquidity_x < liquidity:
        if liquidity_x or end == point:
            cost, acquired, liquidity_x = _sell_x_at_point(amount, price, liquidity, liquidity_x)
            if liquidity_x < liquidity or cost >= amount:
                return RangeStep(cost, acquired, True, point, liquidity_x)
            amount -= cost
        else:  # a point that is all in Y is sold together with those below it
            point, price = point + 1, _next_price(price)
    if end >= point:
        return RangeStep(cost, acquired, False, point, liquidity_x)
    more, paid, last = _sell_x_in_points(liquidity, end, point, price, amount)
    cost, acquired, amount = cost + more, acquired + paid, amount - more
    if last is None:
        return RangeStep(cost, acquired, not amount, end, liquidity)
    more, paid, liquidity_x = _sell_x_at_point(amount, sqrt_ratio_at_tick(last), liquidity, 0)
    return RangeStep(cost + more, acquired + paid, True, last, liquidity_x)


def sell_y_in_range(position: Position, end: int, amount: int) -> RangeStep:
    """Sell Y from the current point up to the point `end`, which is not included.

    If the sale ends at `end`, `liquidity_x` has no meaning.
    """
    point, liquidity, liquidity_x = position
    price = sqrt_ratio_at_tick(point)
    cost = acquired = 0
    if liquidity_x < liquidity:
        cost, acquired, liquidity_x = _sell_y_at_point(amount, price, liquidity_x)
        if liquidity_x or cost >= amount:
            return RangeStep(cost, acquired, True, point, liquidity_x)
        amount, point = amount - cost, point + 1
        if point == end:
            return RangeStep(cost, acquired, False, point, liquidity_x)
        price = _next_price(price)
    more, paid, last = _sell_y_in_points(liquidity, point, end, price, amount)
    cost, acquired, amount = cost + more, acquired + paid, amount - more
    if last is None:
        return RangeStep(cost, acquired, not amount, end, liquidity_x)
    more, paid, liquidity_x = _sell_y_at_point(amount, sqrt_ratio_at_tick(last), liquidity)
    return RangeStep(cost + more, acquired + paid, True, last, liquidity_x)


def _next_price(price: int) -> int:
    return price + price * (SQRT_RATE - Q96) // Q96


def _sell_x_at_point(amount: int, price: int, liquidity: int, liquidity_x: int) -> tuple[int, int, int]:
    """Return (cost, acquired, liquidity of X afterwards) of a sale within a point."""
    moved = min(amount * price // Q96, liquidity - liquidity_x)
    return mul_div_up(moved, Q96, price), moved * price // Q96, liquidity_x + moved


def _sell_y_at_point(amount: int, price: int, liquidity_x: int) -> tuple[int, int, int]:
    """Return (cost, acquired, liquidity of X afterwards) of a sale within a point."""
    moved = min(amount * Q96 // price, liquidity_x)
    return mul_div_up(moved, price, Q96), moved * Q96 // price, liquidity_x - moved


def _sell_x_in_points(liquidity: int, left: int, right: int, price: int, amount: int) -> tuple[int, int, int | None]:
    """Sell X to the points from `right - 1` down to `left`; `price` is the price at `right`.

    Return the cost, the amount acquired, and the point in which the sale ends, which the first two omit; None if there
    is none.
    """
    step = price - mul_div_up(price, Q96, SQRT_RATE)
    whole = mul_div_up(liquidity, sqrt_ratio_at_tick(right - left) - Q96, step)
    if whole <= amount:
        return whole, liquidity * (price - sqrt_ratio_at_tick(left)) // (SQRT_RATE - Q96), None
    count = tick_at_sqrt_ratio(amount * step // liquidity + Q96)
    first = max(min(right - count, right), left + 1)
    if first == right:
        return 0, 0, right - 1
    cost = min(mul_div_up(liquidity, sqrt_ratio_at_tick(right - first) - Q96, step), amount)
    end_price = _next_price(sqrt_ratio_at_tick(first - 1))
    return cost, liquidity * (price - end_price) // (SQRT_RATE - Q96), first - 1


def _sell_y_in_points(liquidity: int, left: int, right: int, price: int, amount: int) -> tuple[int, int, int | None]:
    """Sell Y to the points from `left` up to `right - 1`; `price` is the price at `left`.

    Returns like `_sell_x_in_points`.
    """
    end_price = sqrt_ratio_at_tick(right)
    whole = mul_div_up(liquidity, end_price - price, SQRT_RATE - Q96)
    if whole <= amount:
        return whole, _x_in_points(liquidity, right - left, end_price), None
    last = tick_at_sqrt_ratio(amount * (SQRT_RATE - Q96) // liquidity + price)
    last = min(max(left, last), right - 1)
    if last == left:
        return 0, 0, left
    last_price = sqrt_ratio_at_tick(last)
    cost = min(mul_div_up(liquidity, last_price - price, SQRT_RATE - Q96), amount)
    return cost, _x_in_points(liquidity, last - left, last_price), last


def _x_in_points(liquidity: int, count: int, end_price: int) -> int:
    """Return the X of `count` points below a price, rounded down."""
    return liquidity * (sqrt_ratio_at_tick(count) - Q96) // (end_price - end_price * Q96 // SQRT_RATE)
