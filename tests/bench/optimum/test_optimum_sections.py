"""Each bar of routes can be missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bench.optimum.gap_section import exactness_section, gap_section
from bench.optimum.peer_section import peer_section, real_section
from bench.optimum.question import answer
from bench.optimum.simple_section import contradictions_section, rivals_section
from bench.report.tables import MISSED
from tests.bench.optimum.figures import GAINS, NO_LOSS, made_up_measured, optimum_figures, orders, real_measured
from tests.bench.support import missed, missed_rows


def test_an_order_that_only_the_peer_routes_is_a_miss(tmp_path: Path) -> None:
    case = replace(real_measured(tmp_path), orders=(orders()[0], replace(orders()[1], out=None)))
    missed = [check.figure for check in real_section([case]).checks if not check.is_met]
    assert "somewhere_1: orders that only Tines routes" in missed


def test_a_rival_may_be_ahead_rarely_and_by_little(tmp_path: Path) -> None:
    assert not missed(rivals_section([GAINS]))
    many, large = GAINS._replace(above=(3, 0, 0)), GAINS._replace(worst_bps=1.1)
    assert missed(rivals_section([large])) == ["rivals, real orders, somewhere, gas 0.01 gwei, worst, bps"]
    for bad in (many, large):
        assert missed_rows(answer(optimum_figures(tmp_path)._replace(rivals=[bad]))) == [
            "real orders: a rival is ahead, % of 200 / by at most, bps"
        ]


def test_no_contradiction_is_allowed() -> None:
    assert not missed(contradictions_section([NO_LOSS]))
    found = NO_LOSS._replace(above=1, above_by_units=1, worst_bps=0.06, worst="--case 7: any")
    section = contradictions_section([found])
    assert missed(section) == ["contradictions, hops"]
    assert "`--case 7: any`" in section.text


def test_every_bar_of_routes_is_checked(tmp_path: Path) -> None:
    found = optimum_figures(tmp_path)
    by_name = {
        "exactness": exactness_section([*found.made_up, *found.real]),
        "gap": gap_section(found.made_up),
        "peer": peer_section(found.made_up),
        "real": real_section(found.real),
    }
    # Markets by families, routed and exact; sizes and markets by class, less the two without a maximum; and so on.
    assert {name: len(section.checks) for name, section in by_name.items()} == {
        "exactness": 2 * (4 + 4 + 1),
        "gap": (2 + 4) * 4 + (1 + 2) * (3 + 2) + 2,
        "peer": 2 * 4 * 3,
        "real": 3,
    }
    assert all(check.is_met for section in by_name.values() for check in section.checks)
    assert missed_rows(answer(found)) == []


def test_the_page_has_the_gaps_of_all_sizes_and_marks_misses(tmp_path: Path) -> None:
    found = optimum_figures(tmp_path)
    bad = [made_up_measured(pools, 9, tmp_path, out=998_700_000) for pools in (100, 10_000)]
    optimum, others = answer(found._replace(made_up=bad)).tables
    gaps = optimum.rows[2:6]
    sizes = "small / medium / large / huge"
    assert [row.figure for row in gaps] == [
        f"{pools} pools, {sizes} orders: {which} gap" for pools in ("100", "10,000") for which in ("median", "largest")
    ]
    assert all(row.is_met for row in optimum.rows if row not in gaps)
    assert gaps[0].reached == " / ".join([f"13.000{MISSED}"] * 4)
    assert (gaps[0].bar, gaps[0].peer) == ("≤ 0.05 / ≤ 0.05 / ≤ 0.7 / ≤ 6", " / ".join(["10.000"] * 4))
    assert gaps[0].to_peer == " / ".join(["1.30"] * 4)
    assert gaps[1].bar == "≤ 1 / ≤ 1 / ≤ 5 / –"
    assert [row.figure for row in others.rows if not row.is_met] == [
        "made-up markets: bps ahead of Tines, worst of 8 orders"
    ]


def test_a_route_that_is_not_exact_is_a_miss_of_the_page(tmp_path: Path) -> None:
    found = optimum_figures(tmp_path)
    one = found.made_up[0]
    wrong = replace(one, exactness=replace(one.exactness, exact=3), all_exactness=replace(one.exactness, skipped=1))
    table = answer(found._replace(made_up=[wrong, *found.made_up[1:]])).tables[0]
    assert [(row.bar, row.reached) for row in table.rows if not row.is_met] == [
        ("all of 20; all of 0; all of 6", f"19{MISSED}; 0; 7{MISSED}")
    ]
