"""`python -m tests.bench`: measures, and writes the report."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.abuse import measure_abuse
from tests.bench.cases import made_up, real
from tests.bench.chain.measure import measure_chain
from tests.bench.measure import measure_made_up, measure_real
from tests.bench.plan import Plan, parse
from tests.bench.report.machine import revision
from tests.bench.report.page import Circumstances, Findings, page, refreshed, sections
from tests.bench.running import Failed
from tests.bench.service import measure_service
from tests.bench.store import measure_store
from tests.bench.whole_process import measure_processes
from tests.bench.yardsticks import Yardsticks, find_folder, open_yardsticks


def main() -> int:
    """Runs the plan; 1 where something that it needs is missing or fails. Missed bars are told, not punished."""
    plan = parse()
    try:
        with ExitStack() as stack:
            folder = plan.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            _bench(plan, _usable(folder.resolve()))
    except Failed as failure:
        note(f"bench: {failure}")
        return 1
    return 0


def _usable(folder: Path) -> Path:
    """The work folder, made if need be. The yardsticks find orders by a replacement in the whole path of a market."""
    if "market_" in str(folder) or ".json" in str(folder):
        raise Failed(f"{folder}: the path of the work folder must not contain market_ or .json")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bench(plan: Plan, folder: Path) -> None:
    if plan.out and not plan.is_whole and not plan.out.is_file():
        raise Failed(f"{plan.out}: there is no such page whose parts could be written anew")
    yardsticks = _yardsticks(plan)
    started, began_s, load, measured = datetime.now(UTC), time.monotonic(), os.getloadavg()[0], revision()
    found = measure(plan, yardsticks, folder)
    minutes = (time.monotonic() - began_s) / 60
    loads, revisions = (load, os.getloadavg()[0]), (measured, revision())
    circumstances = Circumstances(started, minutes, loads, revisions, yardsticks.versions() if yardsticks else {})
    _write(plan, found, circumstances)
    checks = [check for section in sections(found) for check in section.checks]
    note(f"{sum(check.is_met for check in checks)} of {len(checks)} figures meet their bar, in {minutes:.1f} minutes")


def _yardsticks(plan: Plan) -> Yardsticks | None:
    """None where the plan does without those that must be installed."""
    if "routes" not in plan.parts:
        return None
    note("yardsticks")
    return open_yardsticks(plan.yardsticks)


def _write(plan: Plan, found: Findings, circumstances: Circumstances) -> None:
    if plan.out is None:
        print("\n\n".join(section.text for section in sections(found)))
    elif plan.is_whole:
        plan.out.write_text(page(plan, found, circumstances))
    else:
        plan.out.write_text(refreshed(plan.out.read_text(), found, circumstances))


def measure(plan: Plan, yardsticks: Yardsticks | None, folder: Path) -> Findings:
    """All parts of the plan, one after the other. Raises `Failed`."""
    found = Findings()
    if "process" in plan.parts:
        note("whole process")
        found = replace(found, processes=measure_processes(plan.runs, folder))
    if "service" in plan.parts:
        note("service")
        service = measure_service(plan.service_s, plan.soaked)
        note("service among abusive clients")
        found = replace(found, service=replace(service, abuse=measure_abuse(plan.service_s)))
    if "store" in plan.parts:
        note("stores")
        stores = measure_store(folder, find_folder(plan.yardsticks), plan.store_runs, plan.stores)
        found = replace(found, store=stores)
    if "chain" in plan.parts:
        found = replace(found, chain=measure_chain(plan.chain, folder, note))
    if yardsticks:
        cases = [made_up(pools, seed, folder) for pools in plan.sizes for seed in plan.seeds]
        measured = [measure_made_up(case, yardsticks, plan, note) for case in cases]
        copies = [real(market, folder) for market in yardsticks.real_markets()]
        real_cases = [measure_real(case, yardsticks, plan, note) for case in copies]
        found = replace(found, made_up=measured, real=real_cases)
    return found


def note(text: str) -> None:
    """Tells how far the run is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
