"""Group and reduce measurements for the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from bench.optimum.cases import Case
from bench.optimum.judged import Judged, Measured
from bench.report.figures import Spread
from bench.report.tables import NOTHING, bps, pair

Cases = Sequence[Measured]


class OfCase(Protocol):
    """A measurement on a case."""

    @property
    def case(self) -> Case:
        """Return the case."""


T = TypeVar("T", bound=OfCase)


def title(measured: OfCase) -> str:
    """Return the name of a case."""
    case = measured.case
    return f"{case.pools:,} pools, seed {case.seed}" if case.pools else case.name


def by_pools(cases: Sequence[T]) -> Iterator[tuple[int, list[T]]]:
    """Yield generated cases by their number of pools, with all seeds."""
    for pools in dict.fromkeys(measured.case.pools for measured in cases if measured.case.pools):
        yield pools, [measured for measured in cases if measured.case.pools == pools]


def seeds(group: Sequence[OfCase]) -> str:
    """Return the seeds of a group in words."""
    named = [str(measured.case.seed) for measured in group]
    return f"seed{'s' if len(named) > 1 else ''} {', '.join(named)}"


def of_size(orders: Iterable[Judged], size: str) -> list[Judged]:
    """Return the orders of a class."""
    return [judged for judged in orders if judged.size == size]


def gaps(orders: Iterable[Judged]) -> list[float]:
    """Return our certified gaps of orders with a bound."""
    return [gap for judged in orders if (gap := judged.gap_bps) is not None]


def peer_gaps(orders: Iterable[Judged]) -> list[float]:
    """Return the peer's certified gaps of orders with a bound and its route."""
    return [gap for judged in orders if (gap := judged.peer_gap_bps) is not None]


def leads(orders: Iterable[Judged]) -> list[float]:
    """Return our leads over the peer in basis points, for orders that the peer routes."""
    return [value for judged in orders if (value := judged.ahead_bps) is not None]


def losses(orders: Iterable[Judged], *limits_bps: float) -> str:
    """Count the orders that fall short of the peer by more than each limit."""
    values = leads(orders)
    return " / ".join(str(sum(value < -limit for value in values)) for limit in limits_bps)


def median_and_maximum(values: Iterable[float | None]) -> str:
    """Return the median and maximum of the known values in one cell."""
    known = [value for value in values if value is not None]
    return pair(bps(Spread.of(known).median), bps(Spread.of(known).maximum)) if known else NOTHING
