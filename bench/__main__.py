"""`python -m bench`: measure, and write the report."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.baselines import Baselines, find_folder, open_baselines
from bench.chain.measure import measure_chain
from bench.optimum.cases import copy_real_case, generated_case
from bench.optimum.contradictions import measure_contradictions
from bench.optimum.measure import measure_made_up, measure_real
from bench.plan import Plan, parse_plan
from bench.report.files import rewrite_report
from bench.report.machine import revision
from bench.report.page import Circumstances, Findings, build_sections, refresh_page, render_page
from bench.running import BenchmarkFailed
from bench.service.abuse import measure_abuse
from bench.service.service import measure_service
from bench.service.workers import measure_workers
from bench.simple_methods.figures import GainFigures
from bench.simple_methods.measure import measure_simple_methods
from bench.speed.store import measure_store
from bench.speed.whole_process import measure_processes


def main() -> int:
    """Run the plan. Return 1 if something that it needs is missing or fails; missed thresholds are only reported."""
    plan = parse_plan()
    try:
        with ExitStack() as stack:
            folder = plan.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            _bench(plan, _prepare_folder(folder.resolve()))
    except BenchmarkFailed as failure:
        report_progress(f"bench: {failure}")
        return 1
    return 0


def _prepare_folder(folder: Path) -> Path:
    """Create the work folder. The baselines derive the path of the orders by replacing text in that of the market."""
    if "market_" in str(folder) or ".json" in str(folder):
        raise BenchmarkFailed(f"{folder}: the path of the work folder must not contain market_ or .json")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _bench(plan: Plan, folder: Path) -> None:
    if plan.out and not plan.is_whole and not plan.out.is_file():
        raise BenchmarkFailed(f"{plan.out}: there is no such page to update")
    baselines = _open_baselines(plan)
    started, began_s, load, measured = datetime.now(UTC), time.monotonic(), os.getloadavg()[0], revision()
    found = measure(plan, baselines, folder)
    minutes = (time.monotonic() - began_s) / 60
    loads, revisions = (load, os.getloadavg()[0]), (measured, revision())
    circumstances = Circumstances(started, minutes, loads, revisions, baselines.versions() if baselines else {})
    _write(plan, found, circumstances)
    checks = [check for section in build_sections(found) for check in section.checks]
    met = sum(check.is_met for check in checks)
    report_progress(f"{met} of {len(checks)} figures meet their thresholds, in {minutes:.1f} minutes")


def _open_baselines(plan: Plan) -> Baselines | None:
    """Return the baselines; None if the plan does not need those that must be installed."""
    if "routes" not in plan.parts:
        return None
    report_progress("baselines")
    return open_baselines(plan.baselines)


def _write(plan: Plan, found: Findings, circumstances: Circumstances) -> None:
    if plan.out is None:
        print("\n\n".join(section.text for section in build_sections(found)))
    elif plan.is_whole:
        rewrite_report(plan.out, lambda previous: render_page(plan, found, circumstances, previous))
    else:
        rewrite_report(plan.out, lambda previous: refresh_page(previous, found, circumstances))


def measure(plan: Plan, baselines: Baselines | None, folder: Path) -> Findings:
    """Measure all parts of the plan in turn. Raises `BenchmarkFailed`."""
    found = Findings()
    if "simple" in plan.parts:
        report_progress("simple methods")
        found = replace(found, simple=_measure_simple_methods(plan))
        report_progress("contradictions")
        found = replace(found, contradictions=measure_contradictions(plan.contradiction_cases))
    if "process" in plan.parts:
        report_progress("whole process")
        found = replace(found, processes=measure_processes(plan.runs, folder))
    if "service" in plan.parts:
        report_progress("service")
        service = measure_service(plan.service_s, plan.soak_requests)
        report_progress("service among abusive clients")
        found = replace(found, service=replace(service, abuse=measure_abuse(plan.service_s)))
    if "workers" in plan.parts:
        report_progress("workers")
        found = replace(found, workers=measure_workers(plan.load_rounds, max(1, round(plan.service_s / 4))))
    if "store" in plan.parts:
        report_progress("stores")
        stores = measure_store(folder, find_folder(plan.baselines), plan.store_runs, plan.stores)
        found = replace(found, store=stores)
    if "chain" in plan.parts:
        found = replace(found, chain=measure_chain(plan.chain, folder, report_progress))
    if baselines:
        cases = [generated_case(pools, seed, folder) for pools in plan.sizes for seed in plan.seeds]
        measured = [measure_made_up(case, baselines, plan, report_progress) for case in cases]
        copies = [copy_real_case(market, folder) for market in baselines.real_markets()]
        real_cases = [measure_real(case, baselines, plan, report_progress) for case in copies]
        found = replace(found, made_up=measured, real=real_cases)
    return found


def _measure_simple_methods(plan: Plan) -> list[GainFigures]:
    """Return the figures of the real states; none where there is no such state."""
    try:
        return measure_simple_methods(plan.simple_orders)
    except BenchmarkFailed as failure:
        report_progress(f"simple methods: {failure}")
        return []


def report_progress(text: str) -> None:
    """Print the progress of the run."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
