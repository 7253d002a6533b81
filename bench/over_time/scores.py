"""The figures of judged plans, and their thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from bench.over_time.judging import Judged


class Score(NamedTuple):
    """A figure as a share; `bar` is its minimum, or its maximum if `is_upper`. None if there is no threshold."""

    figure: str
    value: float
    bar: float | None = None
    is_upper: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure meets its threshold."""
        return self.bar is None or (self.value <= self.bar if self.is_upper else self.value >= self.bar)

    def __str__(self) -> str:
        bar = "" if self.bar is None else f"{'at most' if self.is_upper else 'at least'} {self.bar:.0%}"
        return f"{self.figure:72} {self.value:>9.2%}  {bar:14} {'' if self.is_met else '✗'}".rstrip()


def scores(judged: Sequence[Judged], without_arbitrage: Sequence[Judged]) -> list[Score]:
    """Return the figures of orders in markets with arbitrage, and of orders in markets without."""
    measured = [each for each in judged if each.schedule.extremes is None]
    unknown = [each for each in judged if each.schedule.extremes is not None]
    figures = [
        Score("better than one swap, against the fair price", _share(judged, _is_better), 0.95),
        Score("the same in raw proceeds", _share(judged, lambda each: each.plan.net > each.one_shot.net)),
        Score("median of cost by that of one swap", median(each.plan.cost / each.one_shot.cost for each in judged)),
        Score("refill measured", len(measured) / len(judged)),
        Score("of these: median error of the forecast", median(map(_error, measured)), 0.1, is_upper=True),
        Score("of these: cost inside its band", _share(measured, _is_inside), 0.9),
        Score("of these: median half-width of the band", median(map(_half_width, measured)), 0.3, is_upper=True),
        Score("worst excess over equal parts, in proceeds", max(map(_excess, judged)), 0.02, is_upper=True),
        Score("worst excess over equal parts, in the cost", max(map(_relative_excess, judged)), 0.02, is_upper=True),
    ]
    if unknown:
        figures.append(Score("refill unknown: cost between both extremes", _share(unknown, _is_inside)))
    if without_arbitrage:
        calm = _share(without_arbitrage, lambda each: not each.schedule.waiting_gains)
        figures.append(Score("without arbitrage: the plan shows that waiting gains nothing", calm, 0.95))
        alone = _share(without_arbitrage, lambda each: len(each.schedule.parts) == 1)
        figures.append(Score("without arbitrage: the plan is one swap", alone))
    return figures


def _share(judged: Sequence[Judged], holds: Callable[[Judged], bool]) -> float:
    return sum(map(holds, judged)) / len(judged)


def _is_better(judged: Judged) -> bool:
    return judged.plan.cost < judged.one_shot.cost


def _error(judged: Judged) -> float:
    return abs(judged.plan.cost - judged.forecast[0]) / abs(judged.plan.cost)


def _is_inside(judged: Judged) -> bool:
    _, low, high = judged.forecast
    return low <= judged.plan.cost <= high


def _half_width(judged: Judged) -> float:
    cost, low, high = judged.forecast
    return (high - low) / 2.0 / abs(cost)


def _excess(judged: Judged) -> float:
    return judged.plan.cost - judged.equal.cost


def _relative_excess(judged: Judged) -> float:
    return _excess(judged) / abs(judged.equal.cost)
