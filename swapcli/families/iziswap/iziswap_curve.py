"""Convert the points and orders that a sale meets in an iZiSwap pool into bins of one rate each, for the solver.

Each point is one bin. After a hundred points with liquidity, points are joined into groups, with one more point per
group for each hundred that the sale has passed. At the ends of a group, the amounts are exact, and inside it, the rate
is its mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import exp, expm1, log, log1p

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

_LOG_RATE: Final = log1p(1e-4) / 2.0
"""The logarithm of the square root of 1.0001."""
_GROUP_PART: Final = 100
"""The size of groups: within a group, the output is at most one basis point too low, after 20,000 points, over which
the price moves to seven times itself; the whole range then takes some 600 bins."""


class LiquidityLevel(NamedTuple):
    """A run of points from `first` to `last` with constant liquidity (empty if `last` is below `first`), and the amount
    for sale in limit orders in that run."""

    first: int
    last: int
    liquidity: int
    selling: int


def bins_of_levels(levels: Iterable[LiquidityLevel], gamma: float, sells_x: bool) -> Iterator[tuple[float, int]]:
    """Yield (rate with fee, output) of each bin; `gamma` is one minus the fee."""
    passed = 0
    for level in levels:
        if level.selling:
            yield gamma * _price(level.first, sells_x), level.selling
        count = level.last - level.first + 1 if level.liquidity else 0
        while count > 0:
            length = min(1 + passed // _GROUP_PART, count)
            # The rest of the level: a sale of X takes its last points first.
            first = level.first + count - length if sells_x else level.last - count + 1
            amount_x, amount_y = _amounts(level.liquidity, first, first + length - 1)
            amount_in, amount_out = (amount_x, amount_y) if sells_x else (amount_y, amount_x)
            if amount_in >= 1.0:
                yield gamma * amount_out / amount_in, int(amount_out)
            passed, count = passed + length, count - length


def point_of_rate(rate: float, sells_x: bool) -> int:
    """Return the point at which the sold token's price equals a rate before the fee."""
    point = log(rate) / (2.0 * _LOG_RATE)
    return round(point if sells_x else -point)


def _price(point: int, sells_x: bool) -> float:
    """Return the price of the sold token in the other one."""
    return exp((2.0 if sells_x else -2.0) * _LOG_RATE * point)


def _amounts(liquidity: int, first: int, last: int) -> tuple[float, float]:
    """Return the amounts that points hold if they are all in X, and if they are all in Y: geometric sums."""
    growth = liquidity * expm1((last - first + 1) * _LOG_RATE) / expm1(_LOG_RATE)
    return growth * exp(-last * _LOG_RATE), growth * exp(first * _LOG_RATE)
