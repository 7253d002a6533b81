"""Each bar of times can be missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.speed.hostile_section import DustFigures, HostileFigures, SolveTimes, hostile_section
from bench.speed.question import answer
from bench.speed.store_section import store_section
from bench.speed.time_section import process_section, time_section
from bench.speed.times import Times
from tests.bench.speed.figures import made_up_timed, speed_figures, store_result
from tests.bench.support import missed, missed_rows


def test_slower_than_the_peer_is_a_miss_within_the_threshold(tmp_path: Path) -> None:
    slow = made_up_timed(1_000, 7, tmp_path, Times([[[50.0, 9.0], [4.0, 4.0]]], [[3.0, 3.0]]))
    missed = [check.figure for check in time_section([slow], []).checks if not check.is_met]
    assert missed == [f"time in the core against Tines, 1,000 pools, {what}" for what in ("median", "p95")]


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


HOSTILE = HostileFigures(
    "market", (DustFigures(20, 14, 0, 0.0, 0.1, 0.98, 1.0),), SolveTimes(1_000, 0.01, 0.2, 0.5, 0, 3)
)


def test_hostile_markets_have_a_threshold_for_each_figure() -> None:
    assert not missed(hostile_section([HOSTILE]))
    dust = HOSTILE.dust[0]._replace(worse_orders=1, time_ratio=1.3)
    bad = HOSTILE._replace(dust=(dust,), times=HOSTILE.times._replace(slowest_s=2.1))
    assert missed(hostile_section([bad])) == [
        "hostile, market, 20 dust pools, worse orders",
        "hostile, market, 20 dust pools, time",
        "hostile, market, slowest",
    ]


def test_every_bar_of_times_is_checked(tmp_path: Path) -> None:
    found = speed_figures(tmp_path)
    sections = time_section(found.made_up, found.real), process_section(found.processes), store_section(found.store)
    assert [len(section.checks) for section in sections] == [3 * 2 + 1, 4, 2 * (2 + 2)]
    assert all(check.is_met for section in sections for check in section.checks)
    assert missed_rows(answer(found)) == []


def test_the_page_has_times_beside_those_of_the_peer(tmp_path: Path) -> None:
    found = speed_figures(tmp_path)
    rows = {row.figure: row for row in answer(found).tables[0].rows}
    small = rows["ms of an order, 100 pools"]
    assert (small.reached, small.bar, small.peer, small.to_peer) == (
        "4.0 / 4.0",
        "≤ 40 / ≤ 40",
        "40.0 / 40.0",
        "0.10 / 0.10",
    )
    assert rows["ms of an order, 10,000 pools"].bar == "≤ 25 / ≤ 40"
    slow = [replace(timed, times=Times([[[30.0], [30.0]]], [[40.0]])) for timed in found.made_up]
    stores = store_result(1_000, 0.2), store_result(100_000, 0.41, gap=0.2)
    processes = replace(found.processes, quote=replace(found.processes.quote, times_s=(0.2,) * 3))
    assert missed_rows(answer(found._replace(made_up=slow, store=stores, processes=processes))) == [
        "ms of an order, 10,000 pools",
        "`swapcli route base ETH USDC 1 --json` to a bare start of Python",
        "such a quote from a store of 100,000 pools to one of 1,000",
        "what it loses to the whole market, small and medium orders, bps",
    ]
