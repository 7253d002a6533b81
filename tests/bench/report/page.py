"""The whole report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.bench.chain.measure import ChainFigures
from tests.bench.plan import FEW_PASSES, Plan
from tests.bench.report.chain import chain_sections
from tests.bench.report.machine import machine
from tests.bench.report.optimum import exactness_section, families_section, gap_section
from tests.bench.report.peer import peer_section, real_section
from tests.bench.report.service import service_section
from tests.bench.report.speed import process_section, time_section
from tests.bench.report.store import store_section
from tests.bench.report.tables import MISSED, Section
from tests.bench.report.verdict import TITLE as VERDICT
from tests.bench.report.verdict import counts_of, read_verdict, verdict
from tests.bench.results import Measured
from tests.bench.service import ServiceFigures
from tests.bench.store import StoreFigures
from tests.bench.whole_process import WholeProcess

_METHOD, _REMARKS = "How it was measured", "Remarks"
_BREAK = "\n## "


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
    """All that a run measured; nothing in the place of parts that it left out."""

    made_up: Sequence[Measured] = ()
    real: Sequence[Measured] = ()
    processes: WholeProcess | None = None
    service: ServiceFigures | None = None
    store: StoreFigures = ()
    chain: ChainFigures | None = None


def sections(found: Findings) -> list[Section]:
    """The sections in order, with their checks."""
    return [
        *(_route_sections(found) if found.made_up else []),
        *([real_section(found.real)] if found.real else []),
        *([time_section(found.made_up, found.real)] if found.made_up else []),
        *([process_section(found.processes)] if found.processes else []),
        *([service_section(found.service)] if found.service else []),
        *([store_section(found.store)] if found.store else []),
        *(chain_sections(found.chain) if found.chain else []),
    ]


def _route_sections(found: Findings) -> list[Section]:
    return [
        exactness_section([*found.made_up, *found.real]),
        gap_section(found.made_up),
        families_section(found.made_up),
        peer_section(found.made_up),
    ]


def page(plan: Plan, found: Findings, circumstances: Circumstances) -> str:
    """The report in Markdown."""
    parts = sections(found)
    head = [
        "# Benchmarks",
        "Written by `make bench`: every figure of one run beside its bar, and beside the peer's where there is one. "
        f"A figure that misses its bar is marked{MISSED}.",
        verdict(counts_of(parts)).text,
        _method(plan, circumstances),
    ]
    return "\n\n".join([*head, *(part.text for part in parts), _remarks()]) + "\n"


def refreshed(text: str, found: Findings, circumstances: Circumstances) -> str:
    """A page with the sections of these findings in the place of its own; what it does not have comes last."""
    parts = sections(found)
    head, *blocks = text.split(_BREAK)
    kept = {block.partition("\n")[0]: block for block in blocks}
    remarks = kept.pop(_REMARKS)
    kept |= {part.title: _block(part) for part in parts}
    kept[_METHOD] = _with_line(kept[_METHOD], parts, circumstances)
    before = read_verdict(kept[VERDICT])
    counts = {title: each for title, each in before.items() if title in kept} | counts_of(parts)
    kept[VERDICT] = _block(verdict({title: counts[title] for title in kept if title in counts}))
    return _BREAK.join([head, *kept.values(), remarks])


def _block(section: Section) -> str:
    """As it stands between two breaks."""
    return section.text.removeprefix("## ") + "\n"


def _with_line(method: str, parts: Sequence[Section], circumstances: Circumstances) -> str:
    """What is told of how a page was measured, and of sections that were measured anew."""
    name = f"* measured anew ({', '.join(part.title for part in parts)}): "
    lines = [line for line in method.splitlines() if not line.startswith(name)]
    last = max(at for at, line in enumerate(lines) if line.startswith("* "))
    told = f"{_when(circumstances)}, revision {_revision(circumstances)}"
    return "\n".join([*lines[: last + 1], name + told, *lines[last + 1 :]]) + "\n"


def _when(circumstances: Circumstances) -> str:
    began, (before, after) = circumstances.started.strftime("%Y-%m-%d %H:%M UTC"), circumstances.load
    return f"{began}, {circumstances.minutes:.0f} min, load average {before:.2f} before and {after:.2f} after"


def _revision(circumstances: Circumstances) -> str:
    return ", then ".join(dict.fromkeys(circumstances.revisions))


def _method(plan: Plan, circumstances: Circumstances) -> str:
    section = Section(_METHOD)
    rounds = f"{plan.rounds} round{'s' if plan.rounds > 1 else ''}"
    fewer = f" ({FEW_PASSES} on real markets and those of more than 1,000 pools)" if plan.passes > FEW_PASSES else ""
    facts = [
        ("command", f"`{plan.command}`"),
        ("date", _when(circumstances)),
        ("repetitions", f"{rounds} of {plan.passes} passes{fewer}; {plan.runs} runs of one-shot commands"),
        *machine(circumstances.versions),
        ("revision", _revision(circumstances)),
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
    section = Section(_REMARKS)
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
