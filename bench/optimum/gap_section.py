"""Sections on exact amounts, and on the gap to the certified optimum."""

from __future__ import annotations

from collections.abc import Sequence

from bench.optimum.cases import SIZES
from bench.optimum.judged import Exactness, Judged, Measured
from bench.optimum.select import Cases, by_pools, gaps, median_and_maximum, of_size, seeds, title
from bench.report.figures import Spread
from bench.report.tables import NOTHING, Section, bps, format_limit, pair
from bench.report.thresholds import EXACT_PERCENT, FINE_GAPS, MAX_FINE_POOLS, Check, gap_threshold


def exactness_section(cases: Cases) -> Section:
    """Return the section on exact amounts."""
    section = Section("Exactness")
    section.add_paragraph(
        "Each route that `swapcli route --batch --json` prints is replayed in integers "
        "(`bench/optimum/replay.py`), which must come to `outputAmount` to the unit. Routes through pools that it "
        "cannot replay (stable and weighted ones) "
        f"are skipped. The bar: every order routed, {EXACT_PERCENT:g}% of the replayed routes exact."
    )
    rows = [_exactness_row(section, title(m), "two", m.exactness) for m in cases]
    rows += [_exactness_row(section, title(m), "five", m.all_exactness) for m in cases if m.all_exactness]
    section.add_table(["market", "families", "orders", "routed", "replayed", "exact", "skipped"], rows)
    if any(measured.errors for measured in cases):
        section.add_list(f"{title(measured)}, {error}" for measured in cases for error in measured.errors)
    return section


def _exactness_row(section: Section, market: str, families: str, found: Exactness) -> list[str]:
    exact = Check(f"exactness, {market}, {families} families", found.share, EXACT_PERCENT, is_floor=True)
    routed = Check(f"orders routed, {market}, {families} families", found.routed, found.orders, is_floor=True)
    return [
        market,
        families,
        str(found.orders),
        section.check(str(found.routed), routed),
        str(found.routed - found.skipped),
        section.check(f"{found.share:g}%", exact),
        str(found.skipped),
    ]


def gap_section(cases: Cases) -> Section:
    """Return the section on the gap to the certified optimum."""
    section = Section("Gap to the certified optimum")
    section.add_paragraph(
        "In basis points of an upper bound on any routing (any splits, hops and pools, in real numbers, without "
        "rounding), median / maximum, after rounding to the percentages of the interface; constant product and "
        "concentrated pools, gas price 0. *bound* is that of `bench/optimum/bound.py`, "
        "*certificate* the one that `--certify` prints, and *certified* the tighter of the two, order by order: both "
        "are valid, so the bar applies to it."
    )
    header = ["orders", "bound", "certificate", "certified", "bar"]
    for pools, group in by_pools(cases):
        section.add_paragraph(f"**{pools:,} pools**, {seeds(group)}")
        classes = [(size, of_size((judged for m in group for judged in m.orders), size)) for size in SIZES]
        section.add_table(header, [_gap_row(section, pools, size, orders) for size, orders in classes if orders])
    section.add_paragraph("The certified gap by market:")
    section.add_table(["market", *SIZES], [_market_row(section, measured) for measured in cases])
    _add_bounds(section, cases)
    return section


def _gap_row(section: Section, pools: int, size: str, orders: Sequence[Judged]) -> list[str]:
    bar = gap_threshold(pools, size)
    return [
        f"{len(orders)} {size}",
        median_and_maximum(judged.gap_to(judged.dual) for judged in orders),
        median_and_maximum(judged.gap_to(judged.own) for judged in orders),
        _checked_gap(section, f"{pools:,} pools", pools, size, orders),
        pair(format_limit(bar.median), format_limit(bar.maximum)),
    ]


def _market_row(section: Section, measured: Measured) -> list[str]:
    pools, where = measured.case.pools or 0, title(measured)
    classes = [(size, of_size(measured.orders, size)) for size in SIZES]
    return [
        where,
        *(_checked_gap(section, where, pools, size, orders) if orders else NOTHING for size, orders in classes),
    ]


def _checked_gap(section: Section, where: str, pools: int, size: str, orders: Sequence[Judged]) -> str:
    bar, found, what = gap_threshold(pools, size), Spread.of(gaps(orders)), f"gap, {where}, {size} orders"
    median = section.check(bps(found.median), Check(f"{what}, median", found.median, bar.median))
    if bar.maximum is None:
        return pair(median, bps(found.maximum))
    return pair(median, section.check(bps(found.maximum), Check(f"{what}, maximum", found.maximum, bar.maximum)))


def _add_bounds(section: Section, cases: Cases) -> None:
    """Add a paragraph on the reliability of the bounds."""
    orders = [judged for measured in cases for judged in measured.orders]
    loose = sum(not judged.converged for judged in orders)
    tighter = sum(judged.is_own_tighter for judged in orders)
    refuted = sum(judged.is_bound_refuted for judged in orders)
    lowered = sum(not measured.is_no_worse_with_proof for measured in cases)
    marked_refuted = section.check(str(refuted), Check("certificates below a known route", refuted, 0))
    marked_lowered = section.check(str(lowered), Check("markets where a certificate lowers amounts", lowered, 0))
    section.add_paragraph(
        f"`bench/optimum/bound.py` stopped before it converged on {loose} of {len(orders)} orders: its bound is valid "
        f"there, but loose. The certificate is tighter by more than 0.01 bps on {tighter}. Certificates below a route "
        f"known to it or to Tines: {marked_refuted} (there must be none). Markets on which asking for the "
        f"certificate lowered an amount: {marked_lowered}."
    )


def fine_shares_section(cases: Cases) -> Section:
    """Return the gap with shares of hundredths of a percent."""
    section = Section("Gap with fine shares")
    section.add_paragraph(
        "The certified gap of the same orders with `--shares fine` (segments in hundredths of a percent), median / p95 "
        "in basis points. The limits are those of large and huge orders on markets of up to 3,000 pools."
    )
    section.add_table(["market", "exact", *SIZES], [_fine_row(section, m) for m in cases if m.fine_orders])
    return section


def _fine_row(section: Section, measured: Measured) -> list[str]:
    where, exactness = title(measured), measured.fine_exactness
    share = exactness.share if exactness else 100.0
    exact = Check(f"exactness with fine shares, {where}", share, EXACT_PERCENT, is_floor=True)
    cells = [where, section.check(f"{share:g} %", exact)]
    for size in SIZES:
        found = Spread.of(gaps(of_size(measured.fine_orders, size)))
        bar = FINE_GAPS.get(size) if (measured.case.pools or 0) <= MAX_FINE_POOLS else None
        if bar is None:
            cells.append(pair(bps(found.median), bps(found.p95)))
            continue
        what = f"gap with fine shares, {where}, {size} orders"
        median = section.check(bps(found.median), Check(f"{what}, median", found.median, bar.median))
        cells.append(pair(median, section.check(bps(found.p95), Check(f"{what}, p95", found.p95, bar.p95))))
    return cells


def families_section(cases: Cases) -> Section:
    """Return the section on the gap over every family of pools."""
    section = Section("Gap over all five families")
    section.add_paragraph(
        "The same markets with their stable and weighted pools, against the tighter of the two bounds, median / "
        "maximum in basis points. There is no bar, and the peer has not all of these pools."
    )
    section.add_table(["market", *SIZES], [_families_row(measured) for measured in cases])
    return section


def _families_row(measured: Measured) -> list[str]:
    orders = measured.all_orders
    return [title(measured), *(median_and_maximum(gaps(of_size(orders, size))) for size in SIZES)]
