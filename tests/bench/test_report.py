"""The benchmark's report contains every figure and checks it against its threshold."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import isclose
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.chain.block_to_quote import Announced
from bench.chain.chain_section import (
    announced_section,
    following_section,
    live_section,
    received_section,
    sync_section,
)
from bench.chain.first_sync import SyncFigures
from bench.chain.following import Followed, FollowFigures
from bench.chain.live import LiveQuote
from bench.chain.measure import ChainFigures
from bench.chain.one_sync import Synced
from bench.chain.received import Mined
from bench.optimum.cases import SIZES, Case, generated_case
from bench.optimum.gap_section import exactness_section, gap_section
from bench.optimum.judged import Exactness, Judged, Measured, Times
from bench.optimum.peer_section import peer_section, real_section
from bench.optimum.select import ratio
from bench.optimum.simple_section import ContradictionFigures, contradictions_section, simple_section
from bench.plan import PAGE, Plan, parse_plan
from bench.report.files import join_report, read_report, rewrite_report, split_report, tables_file
from bench.report.machine import machine, processor, revision
from bench.report.page import OTHERS, Circumstances, Findings, build_sections, refresh_page, render_page
from bench.report.summary import Counts, format_figure, read_summary, shown_checks, summary_section
from bench.report.tables import MISSED, Section, bps, format_limit, number
from bench.report.thresholds import Check
from bench.running import BenchmarkFailed, run
from bench.service.abuse import AbuseFigures, Load
from bench.service.feed_section import FeedFigures, feed_section
from bench.service.service import ServiceFigures
from bench.service.service_section import service_section
from bench.service.workers_section import Throughput, WorkersFigures, WorkersRound, workers_section
from bench.simple_methods.figures import GainFigures
from bench.speed.hostile_section import DustFigures, HostileFigures, SolveTimes, hostile_section
from bench.speed.store import Part, StoreResult
from bench.speed.store_section import store_section
from bench.speed.time_section import process_section, time_section
from bench.speed.whole_process import Runs, WholeProcess
from tests.faces.service.soak import Outcome


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


def test_a_missing_figure_is_a_dash() -> None:
    assert number(None, 1) == format_limit(None) == bps(None) == "–"
    assert format_limit(0.05) == "≤ 0.05"


def test_a_figure_is_marked_if_any_of_its_checks_fails() -> None:
    section, good, bad = Section("Title"), Check("good", 1, 2), Check("bad", 2, 1)
    assert section.check("1", good) == "1"
    assert section.check("2", good, bad) == "2" + MISSED
    assert section.checks == [good, good, bad]


def orders(out: int = 999_999_999) -> tuple[Judged, ...]:
    """Return one order of each class, by default almost optimal and 10 bps ahead of the peer."""
    return tuple(Judged(number, size, out, 999_000_000.0, 1e9, 1e9 + 1) for number, size in enumerate(SIZES))


def measured(case: Case, *, out: int = 999_999_999) -> Measured:
    times = Times([[[50.0, 9.0, 9.0, 9.0], [4.0] * 4]], [[40.0] * 4])
    return Measured(case, Exactness(4, 4, 4, 0, ()), orders(out), times)


def made_up_measured(pools: int, seed: int, folder: Path, *, out: int = 999_999_999) -> Measured:
    all_families = Exactness(4, 4, 1, 3, ())
    return replace(
        measured(generated_case(pools, seed, folder), out=out), all_exactness=all_families, all_orders=orders()
    )


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
        workers_figures(),
        (store_result(1_000, 0.2), store_result(100_000, 0.3)),
        chain_figures(),
        simple=[GAINS, GAINS._replace(market="somewhere, pushed")],
        contradictions=[NO_LOSS],
    )


def store_result(pools: int, seconds: float, *, peak_bytes: int = 60_000_000, gap: float = 0.01) -> StoreResult:
    """Return store figures that meet every threshold by default."""
    runs = tuple((size, Runs((seconds,) * 3, peak_bytes)) for size in SIZES)
    return StoreResult(pools, 10**6, 1.0, runs, tuple(Part(size, gap, 700, 12.0) for size in SIZES for _ in range(2)))


def chain_figures() -> ChainFigures:
    """Return chain figures that meet every threshold."""
    v2, v3 = Synced(0.5, 1_000, 700, 2, 18, 40_000_000), Synced(0.5, 200, 40, 1, 9, 50_000_000)
    syncs = [SyncFigures(("uniswapV2",), (v2, v2)), SyncFigures(("uniswapV3",), (v3,))]
    syncs.append(SyncFigures(("uniswapV2", "uniswapV3"), (v2._replace(pools=1_200),)))
    mined = [Mined(100, 100, 1_000, 1_050)] * 20
    return ChainFigures("anvil/v1", syncs, [live_quote(0.2)], follow_figures(), [announced_figures()], mined)


def announced_figures(delay_s: float = 0.1, blocks: int = 20) -> Announced:
    """Return figures of 20 announced blocks that were shown after the delay, out of `blocks`."""
    return Announced("serve", 0.3, blocks, [delay_s] * 20)


def live_quote(live_s: float, round_trips: int = 3) -> LiveQuote:
    live, offline, embedded = (Runs((seconds,) * 3, 40_000_000) for seconds in (live_s, 0.15, 0.1))
    return LiveQuote("one for another", 64, round_trips, live, offline, embedded)


def follow_figures(*, changed_without_event: int = 0, wrong: int = 0, round_trips: int = 3) -> FollowFigures:
    stores = [Followed(1, [0.02] * 100, 1_000), Followed(10, [0.03] * 10, 230, changed_without_event, wrong)]
    return FollowFigures(100, 50, Counter({"uniswapV2": 4, "algebra": 2}), stores, [2, round_trips])


def service_figures(*, health_ms: float = 9.0, lost: str = "") -> ServiceFigures:
    """Return service figures that meet every threshold by default."""
    quiet, stopped = (Outcome(sent=["0", "1"], answered={"0": 200}, left={"1"}, exit_status=0) for _ in range(2))
    quiet.warm_bytes, quiet.end_bytes = 40_000_000, 41_000_000
    stopped.before_signal = {"0", "1", *lost}
    return ServiceFigures(36, 5_000, 500.0, 0.9, 0.6, (1.0,) * 98 + (health_ms,) * 2, quiet, stopped)


def workers_figures(*, few_per_s: float = 400.0, many_per_s: float = 390.0, worker_mb: int = 40) -> WorkersFigures:
    """Return figures of workers that meet every threshold by default."""
    few, many = Throughput(few_per_s, 4.0), Throughput(many_per_s, 4.0)
    memory = (20_000_000, *[worker_mb * 10**6] * 2)
    return WorkersFigures(2, (WorkersRound(Throughput(230.0, 3.8), few, many),) * 3, memory)


def abuse_figures(**others: Any) -> AbuseFigures:
    """Return figures of abuse that meet every threshold by default."""
    few, many, mega = Load(200.0, 0.0), Load(180.0, 100.0), 10**6
    figures = AbuseFigures(2_000.0, (5.0,) * 200, (9.0,) * 200, 7, few, many, 50, 0, 45 * mega, 60 * mega)
    return replace(figures, **others)


def test_each_threshold_of_abusive_clients_can_be_missed() -> None:
    def missed(abuse: AbuseFigures) -> list[str]:
        section = service_section(replace(service_figures(), abuse=abuse))
        assert len(section.checks) == 9
        return [check.figure for check in section.checks if not check.is_met]

    assert missed(abuse_figures()) == []
    assert missed(abuse_figures(beside_ms=(50.1,) * 200)) == ["service, times longer beside abusive clients, p99"]
    assert missed(abuse_figures(many=Load(159.0, 9.0))) == ["service, good answers kept in overload, %"]
    assert missed(abuse_figures(memory_bytes=151 * 10**6)) == ["service, memory after header lines, MB"]
    assert missed(abuse_figures(lost=1)) == ["service, requests lost in 50 reloads"]


def test_each_threshold_of_workers_can_be_missed() -> None:
    def missed(figures: WorkersFigures) -> list[str]:
        section = workers_section(figures)
        assert len(section.checks) == 3
        return [check.figure for check in section.checks if not check.is_met]

    assert missed(workers_figures()) == []
    assert missed(workers_figures(few_per_s=367.0, many_per_s=350.0)) == ["workers, speedup"]
    assert missed(workers_figures(many_per_s=319.0)) == ["workers, good answers in overload, %"]
    assert missed(workers_figures(worker_mb=51)) == ["workers, memory, MB"]


def written(plan: Plan, found: Findings) -> str:
    return render_page(plan, found, circumstances())


def circumstances(day: int = 2, revision: str = "abc") -> Circumstances:
    started = datetime(2030, 1, day, 3, 4, tzinfo=UTC)
    return Circumstances(started, 12.3, (0.1, 1.2), (revision, revision), {"Node": "v20"})


def test_a_report_has_every_part_and_whole_tables(findings: Findings) -> None:
    text = written(parse_plan([]), findings)
    assert text.count("\n## ") == len(build_sections(findings)) + 3
    assert MISSED not in text.split("\n## ", 1)[1]
    assert "* revision: abc\n" in text
    assert "2030-01-02 03:04 UTC, 12 min, load average 0.10 before and 1.20 after" in text
    for above, below in pairwise(text.splitlines()):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|"), below


def test_a_report_contains_no_folder_of_the_machine(findings: Findings, tmp_path: Path) -> None:
    text = written(parse_plan(["--work", str(tmp_path), "--baselines", "/some/place"]), findings)
    assert str(tmp_path) not in text
    assert "/some/place" not in text
    assert str(Path.home()) not in text


def test_missed_thresholds_are_marked_and_listed(findings: Findings, tmp_path: Path) -> None:
    bad = made_up_measured(100, 9, tmp_path, out=998_700_000)
    text = written(parse_plan([]), replace(findings, made_up=[*findings.made_up, bad]))
    summary = text.split("## How it was measured")[0]
    assert f"| gap, 100 pools, seed 9, small orders, median | 13{MISSED} | ≤ 0.05 |" in summary
    assert f"| bps ahead of Tines, 100 pools, small orders, worst order | -3{MISSED} | ≥ -2 |" in summary
    assert f"13.000{MISSED} / 13.000{MISSED}" in text


def test_every_threshold_is_checked(findings: Findings) -> None:
    made_up_cases, real_cases = findings.made_up, findings.real
    assert findings.processes
    assert findings.service
    assert findings.chain
    by_name = {
        "exactness": exactness_section([*made_up_cases, *real_cases]),
        "gap": gap_section(made_up_cases),
        "peer": peer_section(made_up_cases),
        "real": real_section(real_cases),
        "time": time_section(made_up_cases, real_cases),
        "process": process_section(findings.processes),
        "service": service_section(findings.service),
        "store": store_section(findings.store),
        "sync": sync_section("anvil/v1", findings.chain.syncs),
        "live": live_section(findings.chain.live, [2, 3]),
        "following": following_section(findings.chain.following),
        "announced": announced_section(findings.chain.announced),
        "received": received_section(findings.chain.mined),
    }
    # Markets by families, routed and exact; sizes and markets by class, less the two without a maximum; and so on.
    assert {name: len(section.checks) for name, section in by_name.items()} == {
        "exactness": 2 * (4 + 4 + 1),
        "gap": (2 + 4) * 4 + (1 + 2) * (3 + 2) + 2,
        "peer": 2 * 4 * 3,
        "real": 3,
        "time": 3 * 2 + 1,
        "process": 4,
        "service": 5,
        "store": 2 * (2 + 2),
        "sync": 2 + 3,
        "live": 1 + 2 + 1,
        "following": 2 * 2,
        "announced": 3,
        "received": 3,
    }
    assert all(check.is_met for section in by_name.values() for check in section.checks)


def test_slower_than_the_peer_is_a_miss_within_the_threshold(tmp_path: Path) -> None:
    slow = replace(made_up_measured(1_000, 7, tmp_path), times=Times([[[50.0, 9.0], [4.0, 4.0]]], [[3.0, 3.0]]))
    missed = [check.figure for check in time_section([slow], []).checks if not check.is_met]
    assert missed == [f"time in the core against Tines, 1,000 pools, {what}" for what in ("median", "p95")]


def test_an_order_that_only_the_peer_routes_is_a_miss(tmp_path: Path) -> None:
    case = replace(real_measured(tmp_path), orders=(orders()[0], replace(orders()[1], out=None)))
    missed = [check.figure for check in real_section([case]).checks if not check.is_met]
    assert "somewhere_1: orders that only Tines routes" in missed


def test_a_report_describes_the_machine(tmp_path: Path) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("processor\t: 0\nmodel name\t: Fast One\n")
    assert processor(described) == "Fast One"
    assert processor(tmp_path / "missing")
    assert revision(tmp_path) == "unknown"
    names = [name for name, _ in machine({"Node": "v20"})]
    assert names == ["processor", "memory", "system", "Python", "Node"]


def test_a_slow_health_check_or_a_lost_response_is_a_miss() -> None:
    assert all(check.is_met for check in service_section(service_figures()).checks)
    for bad in (service_figures(health_ms=20.1), service_figures(lost="7")):
        assert sum(not check.is_met for check in service_section(bad).checks) == 1


# Stores and chains


def missed(section: Section) -> list[str]:
    return [check.figure for check in section.checks if not check.is_met]


def test_time_memory_and_loss_of_a_large_store_can_miss() -> None:
    small = store_result(1_000, 0.2)
    slow, large, losing = (
        store_result(100_000, 0.41),
        store_result(100_000, 0.3, peak_bytes=121_000_000),
        store_result(100_000, 0.3, gap=0.2),
    )
    assert missed(store_section((small, slow))) == ["quote from a store of 100,000 pools, ratio"]
    assert missed(store_section((small, large))) == ["bytes of a quote, 100,000 pools"]
    sizes = [f"gap of the neighbourhood, 100,000 pools, {size}" for size in ("small", "medium")]
    assert missed(store_section((small, losing))) == sizes


def test_a_first_sync_has_thresholds_for_rates_and_memory() -> None:
    slow, large = Synced(1.1, 1_000, 700, 2, 18, 40_000_000), Synced(0.1, 1_000, 700, 2, 18, 201_000_000)
    for protocols, count in ((("uniswapV2",), 1), (("uniswapV3",), 0), (("uniswapV2", "uniswapV3"), 0)):
        assert len(missed(sync_section("anvil", [SyncFigures(protocols, (slow,))]))) == count
        assert len(missed(sync_section("anvil", [SyncFigures(protocols, (large,))]))) == 1
    assert missed(sync_section("anvil", [SyncFigures(("uniswapV3",), (slow._replace(pools=200),))]))


def test_announced_blocks_have_thresholds_for_delay_and_loss() -> None:
    what = "serve, blocks every 0.3 s"
    assert missed(announced_section([announced_figures()])) == []
    assert missed(announced_section([announced_figures(0.151)])) == [f"ms from block to quote, {what}, median"]
    assert missed(announced_section([announced_figures(0.401)]))[1:] == [f"ms from block to quote, {what}, p95"]
    assert missed(announced_section([announced_figures(blocks=21)])) == [f"blocks missed, {what}"]
    assert len(missed(announced_section([Announced("serve", 0.3, 1)]))) == 3


def test_a_live_quote_has_thresholds_for_times_and_round_trips() -> None:
    assert missed(live_section([live_quote(0.251)], [3])) == ["live quote, ms more than embedded, one for another"]
    assert len(missed(live_section([live_quote(0.301)], [3]))) == 2
    assert missed(live_section([live_quote(0.2, round_trips=4)], [3])) == [
        "round trips of a live quote, one for another"
    ]
    assert missed(live_section([live_quote(0.2)], [3, 4])) == ["round trips of a live quote, every family"]


def test_changes_without_an_event_and_wrong_pools_are_misses() -> None:
    assert missed(following_section(follow_figures(changed_without_event=1))) == [
        "pools changed without an event, followed every 10 blocks"
    ]
    assert missed(following_section(follow_figures(wrong=2))) == ["wrong pools in the end, followed every 10 blocks"]


def test_a_route_that_pays_one_unit_less_is_a_miss() -> None:
    good, short = Mined(10**30, 10**30, 100, 100), Mined(10**30, 10**30 - 1, 100, 100)
    section = received_section([good] * 599 + [short])
    assert missed(section) == ["routes that paid just what was quoted, %", "largest difference, base units"]
    assert "| largest difference, base units | 1 ✗ |" in section.text
    costly = Mined(10**30, 10**30, 100, 120)
    assert len(missed(received_section([good] * 94 + [costly] * 6))) == 1
    assert not missed(received_section([good] * 95 + [costly] * 5))


# Pages with replaced sections

CELLS = st.text("abcdef 0123456789.,≤≥-", min_size=1).map(str.strip).filter(lambda cell: cell and not cell.isdecimal())
COUNTS = st.builds(
    Counts, st.integers(0, 99).map(str), st.integers(0, 99).map(str), st.lists(st.tuples(CELLS, CELLS, CELLS).map(list))
)


@given(st.dictionaries(CELLS, COUNTS))
def test_a_summary_is_parsed_as_it_was_rendered(counts: dict[str, Counts]) -> None:
    assert read_summary(summary_section(counts).text) == counts


def test_refreshing_with_equal_figures_adds_only_a_method_line(findings: Findings) -> None:
    text = written(parse_plan([]), findings)
    parts = Findings(store=findings.store, chain=findings.chain)
    refreshed = refresh_page(text, parts, circumstances(3, "def"))
    new = [line for line in refreshed.splitlines() if line not in text.splitlines()]
    titles = ", ".join(section.title for section in build_sections(parts))
    when = "2030-01-03 03:04 UTC, 12 min, load average 0.10 before and 1.20 after"
    assert new == [f"* measured again ({titles}): {when}, revision def"]
    assert refreshed.replace(f"{new[0]}\n", "") == text
    assert refresh_page(refreshed, parts, circumstances(3, "def")) == refreshed


def test_new_sections_replace_old_ones_also_in_the_summary(findings: Findings) -> None:
    bad = replace(findings, store=(store_result(1_000, 0.2), store_result(100_000, 0.9)))
    text = written(parse_plan([]), bad)
    row = f"quote from a store of 100,000 pools, ratio | 4.5{MISSED} | ≤ 2 |"
    assert row in text
    good = refresh_page(text, Findings(store=findings.store), circumstances())
    assert MISSED not in good.split("\n## ", 1)[1]
    assert good.count("\n## ") == text.count("\n## ")
    assert row in refresh_page(good, Findings(store=bad.store), circumstances())


def test_a_new_section_comes_before_the_remarks(findings: Findings) -> None:
    without = written(parse_plan([]), replace(findings, chain=None, store=()))
    whole = written(parse_plan([]), findings)
    refreshed = refresh_page(without, Findings(store=findings.store, chain=findings.chain), circumstances())
    assert [line for line in refreshed.splitlines() if line.startswith("## ")] == [
        line for line in whole.splitlines() if line.startswith("## ")
    ]
    assert refreshed.split("## How")[0] == whole.split("## How")[0]


HOSTILE = HostileFigures(
    "market", (DustFigures(20, 14, 0, 0.0, 0.1, 0.98, 1.0),), SolveTimes(1_000, 0.01, 0.2, 0.5, 0, 3)
)


FEED = FeedFigures(9, 1, 10**6, 10**3, 1.0, 10**8, 2 * 10**8, 100.0, 10.0, (1.0,), 50.0)


def test_hostile_markets_have_a_threshold_for_each_figure() -> None:
    assert not missed(hostile_section([HOSTILE]))
    dust = HOSTILE.dust[0]._replace(worse_orders=1, time_ratio=1.3)
    bad = HOSTILE._replace(dust=(dust,), times=HOSTILE.times._replace(slowest_s=2.1))
    assert missed(hostile_section([bad])) == [
        "hostile, market, 20 dust pools, worse orders",
        "hostile, market, 20 dust pools, time",
        "hostile, market, slowest",
    ]


GAINS = GainFigures("somewhere", 0.01, 200, (2, 0, 0), 0.9, "$1.00: --pair a,b,1 --gas 0.01")
NO_LOSS = ContradictionFigures("hops", 0.05, 100, 0, 0, 0, 0.0, "")


def test_a_pushed_state_has_thresholds_of_its_own() -> None:
    assert not missed(simple_section([GAINS]))
    many, large = GAINS._replace(above=(3, 0, 0)), GAINS._replace(worst_bps=1.1)
    assert missed(simple_section([many])) == ["simple methods, somewhere, gas 0.01 gwei, orders with a gain, %"]
    assert missed(simple_section([large])) == ["simple methods, somewhere, gas 0.01 gwei, worst, bps"]
    assert not missed(simple_section([each._replace(market="somewhere, pushed") for each in (many, large)]))


def test_no_contradiction_is_allowed() -> None:
    assert not missed(contradictions_section([NO_LOSS]))
    found = NO_LOSS._replace(above=1, above_by_units=1, worst_bps=0.06, worst="--case 7: any")
    section = contradictions_section([found])
    assert missed(section) == ["contradictions, hops"]
    assert "`--case 7: any`" in section.text


def test_the_memory_of_a_feed_has_a_threshold() -> None:
    assert not missed(feed_section(FEED))
    assert missed(feed_section(replace(FEED, peak_bytes=400_000_001))) == ["bytes of a service over a feed of 9 pools"]


def test_a_whole_run_keeps_the_sections_that_it_does_not_measure(findings: Findings) -> None:
    others = Findings(hostile=[HOSTILE], feed=FEED)
    before = refresh_page(written(parse_plan([]), findings), others, circumstances(3, "def"))
    by_hand = "## By hand\n\nA table of another command.\n\n| figure |\n| --- |\n| 1 |"
    before = before.replace("\n## Remarks", f"\n{by_hand}\n\n## Remarks")
    after = render_page(parse_plan([]), findings, circumstances(), before)
    for title in ("Hostile markets", "Feed", "By hand"):
        section = before.split(f"\n## {title}\n")[1].split("\n## ")[0]
        assert after.split(f"\n## {title}\n")[1].split("\n## ")[0].strip() == section.strip()
    assert "| Hostile markets | 3 of 3 |" in after
    assert "| Feed | 1 of 1 |" in after
    assert "* measured again (Hostile markets, Feed): 2030-01-03" in after
    assert after.count("\n## ") == before.count("\n## ")
    assert after.rindex("\n## Remarks") > after.index("\n## By hand")
    assert render_page(parse_plan([]), findings, circumstances(), after) == after


def test_the_summary_shows_misses_and_what_is_nearest() -> None:
    checks = [Check("time, 100 pools, large orders", 1, 4), Check("time, 1,000 pools, small orders", 3, 4)]
    checks += [Check("rate", 300, 200, is_floor=True), Check("wrong", 0, 0), Check("lost", 3, 2), Check("lost", 1, 2)]
    assert shown_checks(checks) == [checks[number] for number in (1, 2, 3, 4)]
    behind = [Check(f"bps ahead, {pools} pools", value, -2, is_floor=True) for pools, value in ((10, 4), (20, -1))]
    assert shown_checks(behind) == behind[1:]
    many = [Check(f"kind {'abcdefgh'[number]}", number, 10) for number in range(8)]
    assert shown_checks(many) == many[5:]


@given(st.floats(1e-4, 1e9))
def test_a_figure_of_the_summary_has_three_digits(value: float) -> None:
    assert isclose(float(format_figure(value).replace(",", "")), value, rel_tol=0.051 if value < 0.001 else 0.006)
    assert format_figure(-value) == f"-{format_figure(value)}"


def test_a_report_is_the_same_after_it_was_two_files(findings: Findings, tmp_path: Path) -> None:
    text = written(parse_plan([]), findings)
    others = f"## {OTHERS}\n\n| figure |\n| --- |\n| 1 |\n\n"
    text = text.replace("## Remarks", f"## By hand\n\nA table.\n\n{others}## Remarks")
    current, tables = split_report(text)
    assert join_report(current, tables) == text
    titles = [line.removeprefix("## ") for line in current.splitlines() if line.startswith("## ")]
    assert titles == ["Summary", OTHERS, "How it was measured", "Remarks"]
    assert "\n## By hand\n" in tables
    page = tmp_path / "BENCHMARKS.md"
    rewrite_report(page, lambda _: text)
    assert (page.read_text(), tables_file(page).read_text()) == (current, tables)
    rewrite_report(page, lambda same: same)
    assert read_report(page) == text


def test_the_committed_report_is_in_its_form_and_two_pages() -> None:
    text = read_report(PAGE)
    assert split_report(text) == (PAGE.read_text(), tables_file(PAGE).read_text())
    summary = text.split("\n## Summary\n")[1].split("\n## ")[0]
    assert f"## Summary\n{summary}".strip() == summary_section(read_summary(summary)).text
    assert len(PAGE.read_text().splitlines()) <= 120


def bench(*arguments: object) -> str:
    return run([sys.executable, "-m", "bench", *map(str, arguments)])


@pytest.mark.slow
def test_the_command_replaces_one_part(findings: Findings, tmp_path: Path) -> None:
    page_file = tmp_path / "page.md"
    rewrite_report(page_file, lambda _: written(parse_plan([]), findings))
    before = read_report(page_file).split("\n## ")
    bench("--only", "process", "--quick", "--out", page_file)
    after = read_report(page_file).split("\n## ")
    changed = [new.partition("\n")[0] for old, new in zip(before, after, strict=True) if old != new]
    assert set(changed) - {"Summary"} == {"How it was measured", "Whole process"}


def test_the_command_prints_one_part_if_no_page_is_given() -> None:
    printed = bench("--only", "process", "--quick")
    assert printed.startswith("## Whole process\n")
    assert printed.count("## ") == 1


@pytest.mark.slow
def test_parts_can_only_be_replaced_in_an_existing_page(tmp_path: Path) -> None:
    with pytest.raises(BenchmarkFailed, match="there is no such page"):
        bench("--only", "chain", "--out", tmp_path / "none.md")
