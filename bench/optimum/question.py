"""How good are the routes?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.optimum.cases import SIZES, generated_case, real_case
from bench.optimum.contradictions import measure_contradictions
from bench.optimum.gap_section import exactness_section, families_section, fine_shares_section, gap_section
from bench.optimum.judged import Exactness, Judged, Measured
from bench.optimum.measure import Note, measure_made_up, measure_real
from bench.optimum.peer_section import peer_section, real_section
from bench.optimum.real_market import REAL_MARKET
from bench.optimum.select import by_pools, gaps, leads, of_size, peer_gaps
from bench.optimum.simple_methods.figures import GainFigures
from bench.optimum.simple_methods.measure import measure_rivals
from bench.optimum.simple_section import ContradictionFigures, contradictions_section, rivals_section
from bench.plan import Plan
from bench.report.answer import Answer, Row, Table, counted, row
from bench.report.figures import Spread
from bench.report.tables import bps
from bench.report.thresholds import (
    FINE_GAPS,
    MAX_BEHIND_BPS,
    MAX_BEHIND_REAL_BPS,
    MAX_FINE_POOLS,
    MAX_GAINING_PERCENT,
    MAX_RIVAL_GAIN_BPS,
    Check,
    gap_threshold,
)

_SEED = 1
"""The seed for the orders of simple methods, and for the cases of contradictions, on the page."""


class OptimumFigures(NamedTuple):
    """All results. Generated markets have an optimum; real ones may have arbitrage, which has none."""

    made_up: Sequence[Measured]
    real: Sequence[Measured]
    rivals: Sequence[GainFigures]
    contradictions: Sequence[ContradictionFigures]


def measure(plan: Plan, folder: Path, note: Note) -> Answer:
    """Answer the question, with files in `folder`. Raises `BenchmarkFailed`."""
    markets, seed = plan.markets or (REAL_MARKET,), _SEED if plan.seed is None else plan.seed
    made_up = [
        measure_made_up(generated_case(pools, each, folder), note) for pools in plan.sizes for each in plan.seeds
    ]
    real = [measure_real(real_case(market, folder, plan.real_orders), note) for market in markets]
    note("rivals")
    rivals = measure_rivals(plan.rival_orders, markets, seed, folder)
    note("contradictions")
    contradictions = measure_contradictions(plan.contradiction_cases, markets, seed)
    return answer(OptimumFigures(made_up, real, rivals, contradictions))


def answer(found: OptimumFigures) -> Answer:
    """Return the tables and sections of the figures."""
    return Answer(
        [optimum_table(found), others_table(found)],
        [
            exactness_section([*found.made_up, *found.real]),
            gap_section(found.made_up),
            fine_shares_section(found.made_up),
            families_section(found.made_up),
            peer_section(found.made_up),
            real_section(found.real),
            rivals_section(found.rivals),
            contradictions_section(found.contradictions),
        ],
    )


def optimum_table(found: OptimumFigures) -> Table:
    """Return how many routes are exact, and the gaps to the proven optimum next to the peer's."""
    cases = [*found.made_up, *found.real]
    whole = [measured.exactness for measured in cases]
    fine = [measured.fine_exactness for measured in cases if measured.fine_exactness]
    everything = [measured.all_exactness for measured in cases if measured.all_exactness]
    rows = [
        counted("orders with a route", sum(each.routed for each in whole), sum(each.orders for each in whole)),
        _exact_row(whole, fine, everything),
    ]
    for pools, group in by_pools(found.made_up):
        rows += _gap_rows(pools, [judged for measured in group for judged in measured.orders])
    rows += _fine_rows(found.made_up)
    refuted = sum(judged.is_bound_refuted for measured in found.made_up for judged in measured.orders)
    rows.append(row("certificates below a known route", Check("refuted", refuted, 0)))
    return Table(
        "Exactness and the gap to the optimum",
        "A second implementation of Uniswap V2 and V3 pools replays each quote in integers and must get the same "
        "output, to the base unit; all families are tested on real contracts (*Following a chain*) and on "
        "[recorded swaps](docs/exactness.md). Gaps on generated markets without arbitrage are basis points (bps) below "
        "a proven upper bound (any splits, hops and pools). Orders sell 0.01% (small), 0.3%, 3% and 20% (huge) of the "
        "thinner token's depth. Our outputs include all rounding, Tines' outputs none.",
        rows,
    )


def _exact_row(*kinds: Iterable[Exactness]) -> Row:
    """Return how many routes are exact: with whole percents, with fine shares, and over all families."""
    rows = [_exact(kind) for kind in kinds]
    return Row(
        "exact quotes: whole percents; fine shares; all families, where they can be replayed",
        "; ".join(each.bar for each in rows),
        "; ".join(each.reached for each in rows),
    )


def _exact(found: Iterable[Exactness]) -> Row:
    found = list(found)
    return counted("", sum(each.exact for each in found), sum(each.routed - each.skipped for each in found))


def _gap_rows(pools: int, orders: Sequence[Judged]) -> Iterator[Row]:
    """Yield the medians and the maxima of the sizes on markets of that many pools."""
    by_size = {size: chosen for size in SIZES if (chosen := of_size(orders, size))}
    ours = {size: Spread.of(gaps(chosen)) for size, chosen in by_size.items()}
    theirs = [Spread.of(values) if (values := peer_gaps(chosen)) else None for chosen in by_size.values()]
    bars = {size: gap_threshold(pools, size) for size in by_size}
    shown = " / ".join(by_size)
    medians = [Check("median", ours[size].median, bars[size].median) for size in by_size]
    maxima = [
        ours[size].maximum if (most := bars[size].maximum) is None else Check("maximum", ours[size].maximum, most)
        for size in by_size
    ]
    known = [peer for peer in theirs if peer]
    is_complete = len(known) == len(theirs)
    yield row(
        f"{pools:,} pools, {shown} orders: median gap",
        *medians,
        show=bps,
        peer=[peer.median for peer in known] if is_complete else (),
    )
    yield row(
        f"{pools:,} pools, {shown} orders: largest gap",
        *maxima,
        show=bps,
        peer=[peer.maximum for peer in known] if is_complete else (),
    )


def _fine_rows(cases: Sequence[Measured]) -> list[Row]:
    """Return the gaps with fine shares for the size classes that have thresholds, on markets that have them."""
    rows = []
    judged = [
        each for measured in cases if (measured.case.pools or 0) <= MAX_FINE_POOLS for each in measured.fine_orders
    ]
    for size, bar in FINE_GAPS.items():
        if values := gaps(of_size(judged, size)):
            found = Spread.of(values)
            checks = Check("median", found.median, bar.median), Check("p95", found.p95, bar.p95)
            rows.append(row(f"fine shares, {size} orders, median / p95", *checks, show=bps))
    return rows


def others_table(found: OptimumFigures) -> Table:
    """Return a comparison of our routes with others'."""
    rows = []
    for measured in found.real:
        orders = [judged for judged in measured.orders if judged.peer_out]
        lost = sum(judged.out is None for judged in orders)
        name = measured.case.name
        rows.append(row(f"{name}: orders that only Tines routes", Check("lost", lost, 0)))
        if orders:
            lead = Spread.of(leads(orders))
            mean = Check("mean", lead.mean, 0.0, is_floor=True)
            worst = Check("worst", lead.minimum, -MAX_BEHIND_REAL_BPS, is_floor=True)
            rows.append(row(f"{name}: bps ahead of Tines, mean / worst of {len(orders)} orders", mean, worst))
    if values := leads(judged for measured in found.made_up for judged in measured.orders):
        worst = Check("worst", min(values), -MAX_BEHIND_BPS, is_floor=True)
        rows.append(row(f"made-up markets: bps ahead of Tines, worst of {len(values)} orders", worst))
    kinds = dict.fromkeys(each.kind for each in found.rivals)
    rows += [_rivals_row(kind, [each for each in found.rivals if each.kind == kind]) for kind in kinds]
    above = sum(each.above for each in found.contradictions)
    compared = sum(each.compared for each in found.contradictions)
    rows.append(row(f"answers that a narrower order contradicts, of {compared:,}", Check("above", above, 0)))
    return Table(
        "Against Tines and simple methods",
        "Tines is Sushi's router, here with 100 flows. Real states contain small arbitrage cycles, so routers are "
        "compared with each other instead of a bound: *ahead* is our output relative to theirs. Rivals are Tines and "
        "simple methods: the best single path, filling in small chunks, and hill climbing with exact swaps, also from "
        "our own route. They are ahead if they gain 0.05 bps and a cent net of gas, at 0, 0.01 or 1 gwei. *Pushed* "
        "states have 30% of their pools out of line; *hundredfold* orders sell at least $100 million.",
        rows,
    )


def _rivals_row(kind: str, gains: Sequence[GainFigures]) -> Row:
    """Return how often and by how much a rival is ahead, over all gas prices."""
    orders = sum(each.orders for each in gains)
    percent = Check("ahead", 100.0 * sum(each.above[0] for each in gains) / orders, MAX_GAINING_PERCENT)
    most = Check("most", max(each.worst_bps for each in gains), MAX_RIVAL_GAIN_BPS)
    return row(f"{kind} orders: a rival is ahead, % of {orders} / by at most, bps", percent, most)
