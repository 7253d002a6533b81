"""Sections that compare our outputs with those of Tines."""

from __future__ import annotations

from collections.abc import Sequence

from bench.optimum.cases import SIZES
from bench.optimum.judged import Judged, Measured
from bench.optimum.select import Cases, by_pools, gaps, leads, losses, of_size, peer_gaps, seeds, title
from bench.report.figures import Spread
from bench.report.tables import Section, bps, pair, ratio
from bench.report.thresholds import MAX_BEHIND_BPS, MAX_BEHIND_REAL_BPS, Check

_TIE_BPS = 0.01


def peer_section(cases: Cases) -> Section:
    """Return the comparison with Tines on generated markets."""
    section = Section("Tines with 100 flows, made-up markets")
    section.add_paragraph(
        "Gaps in basis points to the same bounds, median / p95 (of few orders, the last but one). Routes of Tines "
        "are evaluated in real numbers along the pools' curves: it gives no exact amounts, and its shares are not "
        "rounded. *Ahead* is ours over theirs by order, in basis points of the output; *behind* counts orders that "
        "fall short by more than 1 / 2 bps. The bar: median and p95 no worse, and no order more than "
        f"{MAX_BEHIND_BPS:g} bps behind."
    )
    header = ["orders", "swapcli", "Tines", "ratio of medians", "ahead: least", "median", "behind"]
    for pools, group in by_pools(cases):
        section.add_paragraph(f"**{pools:,} pools**, {seeds(group)}")
        routed = [judged for measured in group for judged in measured.orders if judged.peer_out]
        classes = [(size, of_size(routed, size)) for size in SIZES]
        section.add_table(header, [_peer_row(section, pools, size, orders) for size, orders in classes if orders])
    return section


def _peer_row(section: Section, pools: int, size: str, orders: Sequence[Judged]) -> list[str]:
    ours, theirs, lead = Spread.of(gaps(orders)), Spread.of(peer_gaps(orders)), Spread.of(leads(orders))
    what = f"{pools:,} pools, {size} orders"
    median = section.check(bps(ours.median), Check(f"gap against Tines, {what}, median", ours.median, theirs.median))
    p95 = section.check(bps(ours.p95), Check(f"gap against Tines, {what}, p95", ours.p95, theirs.p95))
    least = Check(f"bps ahead of Tines, {what}, worst order", lead.minimum, -MAX_BEHIND_BPS, is_floor=True)
    return [
        f"{len(orders)} {size}",
        pair(median, p95),
        pair(bps(theirs.median), bps(theirs.p95)),
        ratio(ours.median, theirs.median),
        section.check(bps(lead.minimum), least),
        bps(lead.median),
        losses(orders, 1.0, 2.0),
    ]


def real_section(cases: Cases) -> Section:
    """Return the comparison with Tines on real markets."""
    section = Section("Tines with 100 flows, real markets")
    section.add_paragraph(
        "Real states of a chain have small arbitrage cycles, so that no bound is attainable and only routers can be "
        "compared. *Ahead* is ours, exact and rounded to the unit, over theirs in real numbers, in basis points of "
        f"the output; a win or a loss is one by more than {_TIE_BPS:g} bps, *behind* counts those by more than 1 / 2. "
        f"The bar: every order routed that Tines routes, never more than {MAX_BEHIND_REAL_BPS:g} bps below, above it "
        "on average."
    )
    for measured in cases:
        _add_real_market(section, measured)
    return section


def _add_real_market(section: Section, measured: Measured) -> None:
    market, orders = title(measured), [judged for judged in measured.orders if judged.peer_out]
    missing = sum(judged.out is None for judged in orders)
    marked = section.check(str(missing), Check(f"{market}: orders that only Tines routes", missing, 0))
    section.add_paragraph(
        f"**{market}**: {len(measured.orders)} orders. swapcli routes {measured.exactness.routed} and Tines "
        f"{len(orders)} of them; routed by Tines alone: {marked}."
    )
    if not orders:
        return
    classes = [(size, of_size(orders, size)) for size in dict.fromkeys((*SIZES, *(judged.size for judged in orders)))]
    rows = [_real_row(size, group) for size, group in classes if group]
    rows.append(_every_order_row(section, market, orders))
    section.add_table(["orders", "ahead: mean", "median", "least", "most", "wins / losses", "behind"], rows)
    section.add_paragraph("The orders furthest behind; outputs in base units. Rounding takes up to one unit per pool:")
    worst = sorted(orders, key=lambda judged: judged.ahead_bps or 0.0)[:5]
    section.add_table(
        ["order", "swapcli", "Tines", "ahead"],
        [[f"{j.order} ({j.size})", f"{j.out or 0:,}", f"{j.peer_out or 0:,.1f}", bps(j.ahead_bps)] for j in worst],
    )


def _real_row(what: str, orders: Sequence[Judged]) -> list[str]:
    lead, values = Spread.of(leads(orders)), leads(orders)
    wins, lost = sum(value > _TIE_BPS for value in values), sum(value < -_TIE_BPS for value in values)
    return [
        f"{len(orders)} {what}",
        *(bps(value) for value in (lead.mean, lead.median, lead.minimum, lead.maximum)),
        pair(str(wins), str(lost)),
        losses(orders, 1.0, 2.0),
    ]


def _every_order_row(section: Section, market: str, orders: Sequence[Judged]) -> list[str]:
    lead = Spread.of(leads(orders))
    mean = Check(f"{market}: bps ahead of Tines on average", lead.mean, 0.0, is_floor=True)
    least = Check(f"{market}: bps ahead of Tines, worst order", lead.minimum, -MAX_BEHIND_REAL_BPS, is_floor=True)
    row = _real_row("in all", orders)
    row[1], row[3] = section.check(row[1], mean), section.check(row[3], least)
    return row
