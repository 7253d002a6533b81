"""Sections with all values of users' orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bench.optimum.net_proof import Proof
from bench.orders.ablation import Ablation
from bench.orders.figures import Times, compare, input_leads
from bench.orders.in_turn import Quotes
from bench.report.figures import Spread
from bench.report.tables import NOTHING, Section, bps, ms, number

_HEADER = ("orders", "gas, gwei", "number", "revision", "CPU ms: mean", "p50", "p95", "max")
_COMPARED = ("ahead: mean, bps", "$ in all", "worst, bps", "behind", "ahead", "lost", "found")


def orders_section(found: Sequence[Quotes], revisions: Sequence[str]) -> Section:
    """Return the section with a row for each world, gas price and revision."""
    section = Section("Users' orders")
    section.add_paragraph(
        "CPU milliseconds in the core, of revisions in turn on the same orders, each with its least time over the "
        "rounds. Ratios are in brackets. *Ahead* is our output over theirs, net of gas at mid prices, in basis points "
        "of the larger and in dollars; *behind* and *ahead* count orders by more than 0.05 bps and a cent; *lost* and "
        "*found* are the orders that only they or only we route. *Exact output* asks for the output of our route. "
        "`python -m bench.orders` measures single worlds."
    )
    section.add_table([*_HEADER, *_COMPARED], [row for each in found for row in _rows(each, revisions)])
    rows = [
        [one.world.name, f"{one.gas_gwei:g}", str(len(leads)), str(sum(lead.is_behind for lead in leads)), bps(worst)]
        for one, two in pairwise(found)
        if two.is_exact_output and (leads := input_leads(one, two))
        for worst in [max(-lead.bps for lead in leads)]
    ]
    if rows:
        section.add_paragraph("Inputs of exact output above that of the forward search that pays the same:")
        section.add_table(["orders", "gas, gwei", "number", "above by > 0.05 bps and a cent", "worst, bps"], rows)
    return section


def _rows(quotes: Quotes, revisions: Sequence[str]) -> Iterator[list[str]]:
    what = f"{quotes.world.name}{', exact output' if quotes.is_exact_output else ''}"
    start = [what, f"{quotes.gas_gwei:g}", str(len(quotes.orders))]
    yield [*start, revisions[0], *map(ms, Times.of(quotes.rows[0])), *[NOTHING] * len(_COMPARED)]
    for other, name in enumerate(revisions[1:], 1):
        compared = compare(quotes, other)
        times = zip(Times.of(quotes.rows[other]), compared.ratios, strict=True)
        yield [
            *start,
            name,
            *(f"{ms(value)} ({number(ratio, 2)})" for value, ratio in times),
            number(compared.mean_bps, 4),
            number(compared.usd, 2),
            bps(compared.worst_bps),
            str(len(compared.behind)),
            str(sum(lead.is_ahead for lead in compared.leads)),
            str(compared.lost),
            str(compared.found),
        ]


def gap_section(found: Sequence[tuple[str, float, Sequence[Proof]]]) -> Section:
    """Return the section with the proofs of each world at a gas price."""
    section = Section("Gap net of gas")
    section.add_paragraph(
        "How much more any acyclic route could pay, by the proof net of gas, in basis points of our output net of gas, "
        "and the time of the proof as a multiple of that of the search. `python -m bench.optimum.net_proof` proves "
        "more orders."
    )
    header = ["orders", "gas, gwei", "number", "gap, bps: p50", "p95", "max", "time: p50", "p95", "complete"]
    rows = []
    for world, gas_gwei, proofs in found:
        gaps = Spread.of(each.gap_bps for each in proofs)
        times = Spread.of(each.proof_s / each.search_s for each in proofs)
        complete = sum(each.is_complete for each in proofs)
        shown = [bps(gaps.median), bps(gaps.p95), bps(gaps.maximum), number(times.median, 1), number(times.p95, 1)]
        rows.append([world, f"{gas_gwei:g}", str(len(proofs)), *shown, str(complete)])
    section.add_table(header, rows)
    return section


def ablation_section(found: Sequence[Ablation]) -> Section:
    """Return the section with a table for each world and gas price."""
    section = Section("Ablation")
    section.add_paragraph(
        "The search without one mechanism compared with the whole search on the same orders, net of gas: the mean, the "
        "sum, the worst order, the orders worse and better by more than 0.05 bps and a cent, those without a route, "
        "and the CPU time. `python -m bench.orders.ablation` measures more orders."
    )
    section.add_table(
        ["mechanism", "worlds and gas prices that lose without it", "the most: world", "mean, bps", "$"],
        [_gain_row(found, mechanism) for mechanism in dict.fromkeys(each.mechanism for each in found)],
    )
    header = ["without", "mean, bps", "$", "worst, bps", "worse", "better", "lost", "CPU"]
    places = dict.fromkeys(each.place for each in found)
    for name, gas_gwei in places:
        rows = [each for each in found if each.place == (name, gas_gwei)]
        section.add_paragraph(f"**{name}**, gas {gas_gwei:g} gwei, {len(rows[0].without.quotes.orders)} orders")
        section.add_table(header, map(_ablation_row, rows))
    return section


def _gain_row(found: Sequence[Ablation], mechanism: str) -> list[str]:
    """Return in how many worlds a mechanism gains, and the gain in its best world."""
    gaining = [each for each in found if each.mechanism == mechanism and each.gains]
    if not gaining:
        return [mechanism, "0", NOTHING, NOTHING, NOTHING]
    most = min(gaining, key=lambda each: each.without.usd).without
    return [mechanism, str(len(gaining)), most.quotes.world.kind, number(most.mean_bps, 2), number(most.usd, 2)]


def _ablation_row(ablation: Ablation) -> list[str]:
    without = ablation.without
    return [
        ablation.mechanism,
        number(without.mean_bps, 4),
        number(without.usd, 2),
        bps(without.worst_bps),
        str(len(without.behind)),
        str(sum(lead.is_ahead for lead in without.leads)),
        str(without.lost),
        number(without.ratios.mean, 2),
    ]
