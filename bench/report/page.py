"""Render the whole report, or replace some of its sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bench.chain.chain_section import chain_sections
from bench.chain.measure import ChainFigures
from bench.optimum.gap_section import exactness_section, families_section, fine_shares_section, gap_section
from bench.optimum.judged import Measured
from bench.optimum.peer_section import peer_section, real_section
from bench.optimum.simple_section import ContradictionFigures, contradictions_section, simple_section
from bench.plan import FEW_PASSES, PARTS, Plan
from bench.report.machine import machine
from bench.report.summary import TITLE as SUMMARY
from bench.report.summary import count_checks, read_summary, summary_section
from bench.report.tables import MISSED, Section
from bench.service.feed_section import FeedFigures, feed_section
from bench.service.service import ServiceFigures
from bench.service.service_section import service_section
from bench.service.workers_section import WorkersFigures, workers_section
from bench.simple_methods.figures import GainFigures
from bench.speed.hostile_section import HostileFigures, hostile_section
from bench.speed.store import StoreFigures
from bench.speed.store_section import store_section
from bench.speed.time_section import process_section, time_section
from bench.speed.whole_process import WholeProcess

METHOD, NOTES = "How it was measured", "Remarks"
OTHERS = "Measured by other commands"
"""The section of figures that people copy from the tables of other commands."""
BREAK = "\n## "
_AGAIN = "measured again"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The date, minutes and tool versions of a run, with load averages (one minute) and revisions before and after."""

    started: datetime
    minutes: float
    load: tuple[float, float]
    revisions: tuple[str, str]
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of a run; parts that it did not measure are empty."""

    made_up: Sequence[Measured] = ()
    real: Sequence[Measured] = ()
    processes: WholeProcess | None = None
    service: ServiceFigures | None = None
    workers: WorkersFigures | None = None
    store: StoreFigures = ()
    chain: ChainFigures | None = None
    hostile: Sequence[HostileFigures] = ()
    feed: FeedFigures | None = None
    simple: Sequence[GainFigures] = ()
    contradictions: Sequence[ContradictionFigures] = ()


def build_sections(found: Findings) -> list[Section]:
    """Return the sections in order, with their checks."""
    return [
        *(_route_sections(found) if found.made_up else []),
        *([real_section(found.real)] if found.real else []),
        *([simple_section(found.simple)] if found.simple else []),
        *([contradictions_section(found.contradictions)] if found.contradictions else []),
        *([time_section(found.made_up, found.real)] if found.made_up else []),
        *([process_section(found.processes)] if found.processes else []),
        *([service_section(found.service)] if found.service else []),
        *([workers_section(found.workers)] if found.workers else []),
        *([store_section(found.store)] if found.store else []),
        *(chain_sections(found.chain) if found.chain else []),
        *([hostile_section(found.hostile)] if found.hostile else []),
        *([feed_section(found.feed)] if found.feed else []),
    ]


def _route_sections(found: Findings) -> list[Section]:
    return [
        exactness_section([*found.made_up, *found.real]),
        gap_section(found.made_up),
        fine_shares_section(found.made_up),
        families_section(found.made_up),
        peer_section(found.made_up),
    ]


def render_page(plan: Plan, found: Findings, circumstances: Circumstances, previous: str = "") -> str:
    """Return the report in Markdown, with the sections of the previous page that this run did not measure.

    Commands of their own measure those, so that a run of `make bench` has no figures of them.
    """
    parts = build_sections(found)
    old_sections = split_sections(previous)
    old_counts = read_summary(old_sections.get(SUMMARY, ""))
    counts = count_checks(parts)
    rewritten = {SUMMARY, METHOD, NOTES, *(part.title for part in parts)}
    others = [title for title in old_sections if title not in rewritten]
    counts |= {title: old_counts[title] for title in others if title in old_counts}
    old = ["## " + old_sections[title].rstrip("\n") for title in others]
    head = [
        "# Benchmarks",
        "Each line of the summary is a kind of figure, with the value that comes nearest to its bar over all markets "
        f"and sizes of orders; every value that misses its bar is there, marked{MISSED}. `make bench` writes this page "
        "and, into [bench/HISTORY.md](bench/HISTORY.md), the tables of all values.",
        _measured(),
        summary_section(counts).text,
        _method(plan, circumstances, _lines_on(others, old_sections.get(METHOD, ""))),
    ]
    return "\n\n".join([*head, *(part.text for part in parts), *old, _notes()]) + "\n"


def refresh_page(text: str, found: Findings, circumstances: Circumstances) -> str:
    """Return a page whose sections are replaced by those of `found`; new sections come last."""
    parts = build_sections(found)
    head, blocks = text.partition(BREAK)[0], split_sections(text)
    notes = blocks.pop(NOTES)
    blocks |= {part.title: _block(part) for part in parts}
    blocks[METHOD] = _with_line(blocks[METHOD], parts, circumstances)
    counts = read_summary(blocks[SUMMARY]) | count_checks(parts)
    blocks[SUMMARY] = _block(summary_section({title: counts[title] for title in blocks if title in counts}))
    return BREAK.join([head, *blocks.values(), notes])


def split_sections(text: str) -> dict[str, str]:
    """Return the sections of a page by title, each without the `## ` before its title."""
    return {block.partition("\n")[0]: block for block in text.split(BREAK)[1:]}


def _block(section: Section) -> str:
    """Return the text of a section between two breaks."""
    return section.text.removeprefix("## ") + "\n"


def _lines_on(titles: Sequence[str], method: str) -> list[str]:
    """Return those facts of a section on the method that say when one of these sections was measured again."""
    lines = [line.removeprefix("* ") for line in method.splitlines() if line.startswith(f"* {_AGAIN} (")]
    return [line for line in lines if any(title in line.partition("): ")[0] for title in titles)]


def _with_line(method: str, parts: Sequence[Section], circumstances: Circumstances) -> str:
    """Add a line on the sections that were measured again to the section on the method."""
    name = f"* {_AGAIN} ({', '.join(part.title for part in parts)}): "
    lines = [line for line in method.splitlines() if not line.startswith(name)]
    last = max(at for at, line in enumerate(lines) if line.startswith("* "))
    circumstance = f"{_when(circumstances)}, revision {_revision(circumstances)}"
    return "\n".join([*lines[: last + 1], name + circumstance, *lines[last + 1 :]]) + "\n"


def _when(circumstances: Circumstances) -> str:
    began, (before, after) = circumstances.started.strftime("%Y-%m-%d %H:%M UTC"), circumstances.load
    return f"{began}, {circumstances.minutes:.0f} min, load average {before:.2f} before and {after:.2f} after"


def _revision(circumstances: Circumstances) -> str:
    return ", then ".join(dict.fromkeys(circumstances.revisions))


def _method(plan: Plan, circumstances: Circumstances, lines: Sequence[str]) -> str:
    """Return the section on the method; `lines` are facts on sections that this run did not measure."""
    section = Section(METHOD)
    rounds = f"{plan.rounds} round{'s' if plan.rounds > 1 else ''}"
    fewer = f" ({FEW_PASSES} on real markets and those of more than 1,000 pools)" if plan.passes > FEW_PASSES else ""
    facts = [
        ("command", f"`{plan.command}`"),
        ("date", _when(circumstances)),
        ("repetitions", f"{rounds} of {plan.passes} passes{fewer}; {plan.runs} runs of one-shot commands"),
        *machine(circumstances.versions),
        ("revision", _revision(circumstances)),
    ]
    section.add_list([*(f"{name}: {value}" for name, value in facts), *lines])
    section.add_paragraph(
        "The baselines are a folder of four programs outside this repository, named by `BASELINES`. "
        "`gen_market.py` generates markets without arbitrage, and orders for five pairs in four sizes (a fraction of "
        "the depth of the thinner token: small 0.01%, medium 0.3%, large 3%, huge 20%). `dual_bound.py` proves an "
        "upper bound on the output of any router. `score.py` replays routes. `run_tines.mjs` runs the peer, Sushi's "
        "Tines, on the same files. numpy, scipy and the peer are installed into the user's cache folder. "
        '`make bench ARGS="--only process,service --out BENCHMARKS.md"` measures some parts again, of '
        f"{', '.join(PARTS)}; all but routes need no baselines."
    )
    return section.text


def _measured() -> str:
    """Return what is measured, in words."""
    return "\n".join(
        f"* {each}"
        for each in (
            "**Exactness**: each quote replayed in integers by another program, or mined on a chain of real contracts.",
            "**Gap**: what the output lacks to a proven upper bound on any routing, in basis points (bps).",
            "**Tines**: the same gaps of a peer, and ours ahead of it order by order, on made-up and on real markets.",
            "**Simple methods, contradictions**: how often a fill, a climb, or the answer to a narrower order wins.",
            "**Times**: in the core and of whole commands, in turn with the peer or with a bare start of Python.",
            "**Service**: routes a second, what HTTP adds, overload, abusive clients, and requests lost on the way.",
            "**State**: first syncs, quotes from stores and nodes, following a chain, and the delay of new blocks.",
        )
    )


def _notes() -> str:
    section = Section(NOTES)
    section.add_list(
        [
            "Bounds are real numbers. Our gap includes integer rounding in the pools, whole percents for segments "
            "(except where a section says fine) and hundredths of a percent for pools; the outputs of the peer include "
            "none of these.",
            "The certified gap is the distance to a bound, not to a route: if the bound is loose, no router can reach "
            "it.",
            "The certificate comes from the program that is measured. It is a bound by construction, because any "
            "prices give one; here it is also compared with every known route.",
            "Times on a shared machine vary; ratios within a run vary less. Tines runs in compiled JavaScript and "
            "builds its graph for each order, as its interface requires; swapcli runs in plain CPython and reuses its "
            "graph after the first order.",
        ]
    )
    return section.text
