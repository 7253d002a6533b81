"""Measurements, grouped and reduced the way the tables need them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tests.bench.figures import Spread
from tests.bench.report.tables import NOISE_BPS, NOTHING, bps, number, pair
from tests.bench.results import Judged, Measured

Cases = Sequence[Measured]


def title(measured: Measured) -> str:
    """What a case is called."""
    case = measured.case
    return f"{case.pools:,} pools, seed {case.seed}" if case.pools else case.name


def by_pools(cases: Cases) -> Iterator[tuple[int, list[Measured]]]:
    """Made-up cases by the number of their pools, all seeds together."""
    for pools in dict.fromkeys(measured.case.pools for measured in cases if measured.case.pools):
        yield pools, [measured for measured in cases if measured.case.pools == pools]


def seeds(group: Cases) -> str:
    """The seeds of a group, in words."""
    named = [str(measured.case.seed) for measured in group]
    return f"seed{'s' if len(named) > 1 else ''} {', '.join(named)}"


def of_size(orders: Iterable[Judged], size: str) -> list[Judged]:
    """The orders of a class."""
    return [judged for judged in orders if judged.size == size]


def gaps(orders: Iterable[Judged]) -> list[float]:
    """Our certified gaps, where there is a bound."""
    return [gap for judged in orders if (gap := judged.gap_bps) is not None]


def peer_gaps(orders: Iterable[Judged]) -> list[float]:
    """The peer's certified gaps, where there is a bound and it has a route."""
    return [gap for judged in orders if (gap := judged.peer_gap_bps) is not None]


def leads(orders: Iterable[Judged]) -> list[float]:
    """Ours over theirs by order in basis points, where they have a route."""
    return [value for judged in orders if (value := judged.ahead_bps) is not None]


def losses(orders: Iterable[Judged], *limits_bps: float) -> str:
    """How many orders fall short of the peer's by more than each limit."""
    values = leads(orders)
    return " / ".join(str(sum(value < -limit for value in values)) for limit in limits_bps)


def median_and_maximum(values: Iterable[float | None]) -> str:
    """Both in one cell, of the values that are known."""
    known = [value for value in values if value is not None]
    return pair(bps(Spread.of(known).median), bps(Spread.of(known).maximum)) if known else NOTHING


def ratio(ours: float, theirs: float) -> str:
    """Ours as a multiple of theirs; a dash where theirs is next to nothing."""
    return number(ours / theirs, 2) if theirs > NOISE_BPS else NOTHING
