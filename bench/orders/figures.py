"""Differences between the quotes of two revisions: CPU time, and output net of gas in basis points and dollars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from bench.orders.in_turn import WEI_A_GWEI, Quotes, Row

TOLERATED_BPS, TOLERATED_USD = 0.05, 0.01
"""A difference counts if it exceeds both: a smaller one may be rounding to base units, and no user would notice it."""


class Times(NamedTuple):
    """CPU milliseconds of orders; percentiles are by nearest rank."""

    mean: float
    p50: float
    p95: float
    maximum: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Times:
        """Return the times of `rows`, which must not be empty."""
        ordered = sorted(row.ms for row in rows)
        middle, high = (ordered[-int(-len(ordered) * part // 1) - 1] for part in (0.5, 0.95))
        return cls(fmean(ordered), middle, high, ordered[-1])

    def ratios_to(self, other: Times) -> Times:
        """Return these times as multiples of others."""
        return Times(*(ours / theirs for ours, theirs in zip(self, other, strict=True)))


class Lead(NamedTuple):
    """Our lead for an order, net of gas: in basis points of the larger gross amount, and in dollars.

    `number` is the order's number.
    """

    number: int
    bps: float
    usd: float

    @property
    def is_behind(self) -> bool:
        """Whether we are behind by more than is tolerated."""
        return self.bps < -TOLERATED_BPS and self.usd < -TOLERATED_USD

    @property
    def is_ahead(self) -> bool:
        """Whether we are ahead by more than is tolerated."""
        return self.bps > TOLERATED_BPS and self.usd > TOLERATED_USD


class Comparison(NamedTuple):
    """Our quotes compared with another revision's; `lost` and `found` are the orders routed only by the other revision,
    or only by this one."""

    quotes: Quotes
    ratios: Times
    leads: Sequence[Lead]
    lost: int
    found: int

    @property
    def mean_bps(self) -> float:
        """Return the mean lead in basis points."""
        return fmean(lead.bps for lead in self.leads) if self.leads else 0.0

    @property
    def usd(self) -> float:
        """Return the total lead over all orders, in dollars."""
        return sum(lead.usd for lead in self.leads)

    @property
    def behind(self) -> list[Lead]:
        """Return the orders in which we are behind, furthest first."""
        return sorted((lead for lead in self.leads if lead.is_behind), key=lambda lead: lead.bps)

    @property
    def worst_bps(self) -> float:
        """Return the smallest lead in basis points."""
        return min((lead.bps for lead in self.leads), default=0.0)


def compare(quotes: Quotes, other: int) -> Comparison:
    """Return our quotes compared with those of a revision, given by its number from 1."""
    ours, theirs = quotes.rows[0], quotes.rows[other]
    pairs = list(zip(ours, theirs, strict=True))
    return Comparison(
        quotes,
        Times.of(ours).ratios_to(Times.of(theirs)),
        list(_leads(quotes, pairs)),
        sum(theirs.is_routed and not ours.is_routed for ours, theirs in pairs),
        sum(ours.is_routed and not theirs.is_routed for ours, theirs in pairs),
    )


def _leads(quotes: Quotes, pairs: Sequence[tuple[Row, Row]]) -> Iterator[Lead]:
    """Yield the leads for orders that both route. Both sides are valued at our mid prices."""
    is_reverse = quotes.is_exact_output
    for number, (ours, theirs) in enumerate(pairs):
        if not (ours.is_routed and theirs.is_routed):
            continue
        gas = (theirs.gas_units - ours.gas_units) * _units_a_gas(ours, quotes.gas_gwei)
        amount = theirs.amount_in - ours.amount_in if is_reverse else ours.amount_out - theirs.amount_out
        lead = amount + gas
        gross = max(theirs.amount_in, ours.amount_in) if is_reverse else max(theirs.amount_out, ours.amount_out)
        yield Lead(number, lead / gross * 1e4, lead * ours.unit_usd)


def _units_a_gas(row: Row, gas_gwei: float) -> float:
    """Return the value of a unit of gas in base units of the requested amount."""
    return row.wei_usd * gas_gwei * WEI_A_GWEI / row.unit_usd if row.unit_usd else 0.0


def input_leads(forward: Quotes, exact_output: Quotes) -> list[Lead]:
    """Return how far the input and gas for each forward search's output are below that search's."""
    routed = [(number, row) for number, row in enumerate(forward.rows[0]) if row.is_routed]
    found = []
    for (number, sold), row in zip(routed, exact_output.rows[0], strict=False):
        if row.is_routed:
            gas = (sold.gas_units - row.gas_units) * _units_a_gas(row, forward.gas_gwei)
            less = sold.amount_in - row.amount_in + gas
            found.append(Lead(number, less / sold.amount_in * 1e4, less * row.unit_usd))
    return found
