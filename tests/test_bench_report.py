"""What the benchmark's report says, and which of its figures it holds against a bar."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.bars import Check
from tests.bench.cases import SIZES, Case, made_up
from tests.bench.plan import Plan, parse
from tests.bench.report.machine import machine, processor, revision
from tests.bench.report.optimum import exactness_section, gap_section
from tests.bench.report.page import Circumstances, Findings, page, sections
from tests.bench.report.peer import peer_section, real_section
from tests.bench.report.select import ratio
from tests.bench.report.service import service_section
from tests.bench.report.speed import process_section, time_section
from tests.bench.report.tables import MISSED, Section, at_most, bps, number
from tests.bench.results import Exactness, Judged, Measured, Times
from tests.bench.service import ServiceFigures
from tests.bench.whole_process import Runs, WholeProcess
from tests.service.soak import Outcome


@given(st.floats(-1e6, 1e6))
def test_a_figure_reads_back_and_zero_has_no_sign(value: float) -> None:
    shown = number(value, 3)
    assert abs(float(shown.replace(",", "")) - value) <= 0.0005 + 1e-9
    assert not (shown.startswith("-") and float(shown.replace(",", "")) == 0.0)


@given(st.floats(1e-5, 1e4))
def test_gaps_show_two_digits_however_small(value: float) -> None:
    assert isclose(float(bps(value).replace(",", "")), value, rel_tol=0.06)
    assert bps(-value) == f"-{bps(value)}"


def test_gaps_below_the_noise_are_zero_and_give_no_ratio() -> None:
    assert bps(1e-6) == bps(-1e-12) == "0.000"
    assert ratio(0.5, 1e-9) == "–"
    assert ratio(0.5, 2.0) == "0.25"


def test_what_is_not_there_is_a_dash() -> None:
    assert number(None, 1) == at_most(None) == bps(None) == "–"
    assert at_most(0.05) == "≤ 0.05"


def test_a_figure_is_marked_if_any_of_its_checks_fails() -> None:
    section, good, bad = Section("Title"), Check("good", 1, 2), Check("bad", 2, 1)
    assert section.hold("1", good) == "1"
    assert section.hold("2", good, bad) == "2" + MISSED
    assert section.checks == [good, good, bad]


def orders(out: int = 999_999_999) -> tuple[Judged, ...]:
    """One order of each class, almost the best possible and 10 bps ahead of the peer, unless `out` says otherwise."""
    return tuple(Judged(number, size, out, 999_000_000.0, 1e9, 1e9 + 1) for number, size in enumerate(SIZES))


def measured(case: Case, *, out: int = 999_999_999) -> Measured:
    times = Times([[[50.0, 9.0, 9.0, 9.0], [4.0] * 4]], [[40.0] * 4])
    return Measured(case, Exactness(4, 4, 4, 0, ()), orders(out), times)


def made_up_measured(pools: int, seed: int, folder: Path, *, out: int = 999_999_999) -> Measured:
    everywhere = Exactness(4, 4, 1, 3, ())
    return replace(measured(made_up(pools, seed, folder), out=out), all_exactness=everywhere, all_orders=orders())


def real_measured(folder: Path) -> Measured:
    return measured(Case("somewhere_1", folder, "somewhere", ()))


@pytest.fixture
def findings(tmp_path: Path) -> Findings:
    bare, quote, version = (Runs((seconds,) * 3, 20_000_000) for seconds in (0.01, 0.1, 0.02))
    return Findings(
        [made_up_measured(pools, seed, tmp_path) for pools in (100, 10_000) for seed in (7, 1)],
        [real_measured(tmp_path)],
        WholeProcess(bare, quote, version, 250, ()),
        service_figures(),
    )


def service_figures(*, health_ms: float = 9.0, lost: str = "") -> ServiceFigures:
    """A service that meets every bar, unless told otherwise."""
    quiet, stopped = (Outcome(sent=["0", "1"], answered={"0": 200}, left={"1"}, exit_status=0) for _ in range(2))
    quiet.warm_bytes, quiet.end_bytes = 40_000_000, 41_000_000
    stopped.before_signal = {"0", "1", *lost}
    return ServiceFigures(36, 5_000, 500.0, 0.9, 0.6, (1.0,) * 98 + (health_ms,) * 2, quiet, stopped)


def written(plan: Plan, found: Findings) -> str:
    started = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
    return page(plan, found, Circumstances(started, 12.3, (0.1, 1.2), ("abc", "abc"), {"Node": "v20"}))


def test_a_report_has_every_part_and_whole_tables(findings: Findings) -> None:
    text = written(parse([]), findings)
    assert text.count("\n## ") == len(sections(findings)) + 3
    assert MISSED not in text.split("\n## ", 1)[1]
    assert "* revision: abc\n" in text
    assert "2030-01-02 03:04 UTC, 12 min, load average 0.10 before and 1.20 after" in text
    for above, below in pairwise(text.splitlines()):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|"), below


def test_a_report_names_no_folder_of_the_machine(findings: Findings, tmp_path: Path) -> None:
    text = written(parse(["--work", str(tmp_path), "--yardsticks", "/some/place"]), findings)
    assert str(tmp_path) not in text
    assert "/some/place" not in text
    assert str(Path.home()) not in text


def test_missed_bars_are_marked_and_listed(findings: Findings, tmp_path: Path) -> None:
    bad = made_up_measured(100, 9, tmp_path, out=998_700_000)
    text = written(parse([]), replace(findings, made_up=[*findings.made_up, bad]))
    verdict = text.split("## How it was measured")[0]
    assert "| gap, 100 pools, seed 9, small orders, median | 13.000 | ≤ 0.050 |" in verdict
    assert "| bps ahead of Tines, 100 pools, small orders, worst order | -3.003 | ≥ -2.000 |" in verdict
    assert f"13.000{MISSED} / 13.000{MISSED}" in text


def test_every_bar_is_held(findings: Findings) -> None:
    made_up_cases, real_cases = findings.made_up, findings.real
    held = {
        "exactness": exactness_section([*made_up_cases, *real_cases]),
        "gap": gap_section(made_up_cases),
        "peer": peer_section(made_up_cases),
        "real": real_section(real_cases),
        "time": time_section(made_up_cases, real_cases),
        "process": process_section(findings.processes),
        "service": service_section(findings.service),
    }
    # Markets by families, routed and exact; sizes and markets by class, less the two without a maximum; and so on.
    assert {name: len(section.checks) for name, section in held.items()} == {
        "exactness": 2 * (4 + 4 + 1),
        "gap": (2 + 4) * 4 + (1 + 2) * (3 + 2) + 2,
        "peer": 2 * 4 * 3,
        "real": 3,
        "time": 3 * 2 + 1,
        "process": 4,
        "service": 5,
    }
    assert all(check.is_met for section in held.values() for check in section.checks)


def test_slower_than_the_peer_is_a_miss_even_within_the_bar(tmp_path: Path) -> None:
    slow = replace(made_up_measured(1_000, 7, tmp_path), times=Times([[[50.0, 9.0], [4.0, 4.0]]], [[3.0, 3.0]]))
    missed = [check.what for check in time_section([slow], []).checks if not check.is_met]
    assert missed == [f"time in the core against Tines, 1,000 pools, {what}" for what in ("median", "p95")]


def test_an_order_that_only_the_peer_routes_is_a_miss(tmp_path: Path) -> None:
    case = replace(real_measured(tmp_path), orders=(orders()[0], replace(orders()[1], out=None)))
    missed = [check.what for check in real_section([case]).checks if not check.is_met]
    assert "somewhere_1: orders that only Tines routes" in missed


def test_a_report_says_what_it_was_measured_on(tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("processor\t: 0\nmodel name\t: Fast One\n")
    assert processor(described) == "Fast One"
    assert processor(tmp_path / "missing")
    assert revision(tmp_path) == "unknown"
    names = [name for name, _ in machine({"Node": "v20"})]
    assert names == ["processor", "memory", "system", "Python", "Node"]


def test_a_slow_health_check_or_a_lost_answer_of_the_service_is_a_miss() -> None:
    assert all(check.is_met for check in service_section(service_figures()).checks)
    for bad in (service_figures(health_ms=20.1), service_figures(lost="7")):
        assert sum(not check.is_met for check in service_section(bad).checks) == 1
