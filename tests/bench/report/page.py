"""The whole report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.bench.plan import FEW_PASSES, Plan
from tests.bench.report.machine import machine
from tests.bench.report.optimum import exactness_section, families_section, gap_section
from tests.bench.report.peer import peer_section, real_section
from tests.bench.report.service import service_section
from tests.bench.report.speed import process_section, time_section
from tests.bench.report.tables import MISSED, Section, bps
from tests.bench.results import Measured
from tests.bench.service import ServiceFigures
from tests.bench.whole_process import WholeProcess


@dataclass(frozen=True, slots=True)
class Circumstances:
    """When and how a run went: minutes in all; one-minute load averages and revisions before and after."""

    started: datetime
    minutes: float
    load: tuple[float, float]
    revisions: tuple[str, str]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Findings:
    """All that a run measured."""

    made_up: Sequence[Measured]
    real: Sequence[Measured]
    processes: WholeProcess
    service: ServiceFigures


def sections(found: Findings) -> list[Section]:
    """The sections in order, with their checks."""
    return [
        exactness_section([*found.made_up, *found.real]),
        gap_section(found.made_up),
        families_section(found.made_up),
        peer_section(found.made_up),
        *([real_section(found.real)] if found.real else []),
        time_section(found.made_up, found.real),
        process_section(found.processes),
        service_section(found.service),
    ]


def page(plan: Plan, found: Findings, circumstances: Circumstances) -> str:
    """The report in Markdown."""
    parts = sections(found)
    head = [
        "# Benchmarks",
        "Written by `make bench`: every figure of one run beside its bar, and beside the peer's where there is one. "
        f"A figure that misses its bar is marked{MISSED}.",
        _verdict(parts),
        _method(plan, circumstances),
    ]
    return "\n\n".join([*head, *(part.text for part in parts), _remarks()]) + "\n"


def _verdict(parts: Sequence[Section]) -> str:
    summary = Section("Verdict")
    rows = [[p.title, str(len(p.checks)), str(sum(c.is_met for c in p.checks))] for p in parts if p.checks]
    summary.table(["figures", "held against a bar", "met"], rows)
    missed = [check for part in parts for check in part.checks if not check.is_met]
    if missed:
        summary.say("Missed:")
        signs = ["≥" if check.is_floor else "≤" for check in missed]
        bars = [f"{sign} {bps(check.limit)}" for sign, check in zip(signs, missed, strict=True)]
        figures = [[check.what, bps(check.value), bar] for check, bar in zip(missed, bars, strict=True)]
        summary.table(["figure", "reached", "bar"], figures)
    return summary.text


def _method(plan: Plan, circumstances: Circumstances) -> str:
    section = Section("How it was measured")
    began, (before, after) = circumstances.started.strftime("%Y-%m-%d %H:%M UTC"), circumstances.load
    rounds = f"{plan.rounds} round{'s' if plan.rounds > 1 else ''}"
    fewer = f" ({FEW_PASSES} on real markets and those of more than 1,000 pools)" if plan.passes > FEW_PASSES else ""
    facts = [
        ("command", f"`{plan.command}`"),
        ("date", f"{began}, {circumstances.minutes:.0f} min, load average {before:.2f} before and {after:.2f} after"),
        ("repetitions", f"{rounds} of {plan.passes} passes{fewer}; {plan.runs} runs of one-shot commands"),
        *machine(circumstances.versions),
        ("revision", ", then ".join(dict.fromkeys(circumstances.revisions))),
    ]
    section.items(f"{name}: {value}" for name, value in facts)
    section.say(
        "The yardsticks are a folder of four programs outside this repository, named by `YARDSTICKS`. "
        "`gen_market.py` makes markets up, free of arbitrage, with five pairs in four sizes as orders (a fraction of "
        "the depth of the thinner token: small 0.01 %, medium 0.3 %, large 3 %, huge 20 %). `dual_bound.py` proves "
        "an upper bound on what any router could pay out. `score.py` replays routes. `run_tines.mjs` runs the peer, "
        "Sushi's Tines, on the same files. numpy, scipy and the peer are installed into the user's cache folder."
    )
    return section.text


def _remarks() -> str:
    section = Section("Remarks")
    section.items(
        [
            "Bounds are in real numbers. Integer rounding in the pools, whole percents for segments and hundredths of "
            "a percent for pools are part of our gap; the peer's outputs carry none of these.",
            "The certified gap is what is left to a bound, not to a route: where a bound is loose, no router can have "
            "all of it.",
            "The certificate comes from the program that it judges. It is a bound by its construction, as any prices "
            "give one; here it is held against every route that is known.",
            "Times on a shared machine vary; ratios within a run vary less. Tines runs in compiled JavaScript and "
            "builds its graph for each order, as its interface asks; swapcli runs in plain CPython and keeps its "
            "graph after the first order of all.",
        ]
    )
    return section.text
