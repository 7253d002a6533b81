"""The search for answers that contradict each other: its cases can be repeated, and it counts what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.optimum.contradictions import BARS_BPS, Comparison, Markets, compare_answers, draw_case, main, run, table
from bench.optimum.real_market import REAL_MARKET
from swapcli.core.errors import NoRoute
from swapcli.core.routing.router import Router

NOWHERE: Markets = ()
"""Without real states, only random markets are drawn."""


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_the_case_of_a_number_is_always_the_same(seed: int, number: int) -> None:
    first, again = (draw_case(seed, number, NOWHERE) for _ in range(2))
    if first and again:
        assert first._replace(router=again.router) == again
        assert first.router.market == again.router.market
    assert (first is None) == (again is None)


@given(st.integers(0, 10**6), st.integers(0, 10**3))
def test_comparisons_are_with_answers_that_exist(seed: int, number: int) -> None:
    case = draw_case(seed, number, NOWHERE)
    found = compare_answers(case) if case else []
    assert len({each.kind for each in found}) == len(found) <= len(BARS_BPS)
    assert all(each.kind in BARS_BPS and each.case == number for each in found)


@pytest.mark.parametrize("kind", [kind for kind in BARS_BPS if kind != "no route"])
def test_a_loss_is_a_contradiction_above_its_bar_only(kind: str) -> None:
    rows = [Comparison(kind, k, bps, 100.0, 1.0, "any") for k, bps in enumerate((BARS_BPS[kind], 2.0, -1.0))]
    assert [each.is_contradiction for each in rows] == [False, True, False]
    line = next(line for line in table(rows) if line.startswith(f"  {kind} "))
    assert line.removeprefix(f"  {kind}").split()[:5] == ["3", f"{BARS_BPS[kind]:g}", "1", "1", "1"]
    assert "2.000 bps, --case 1: any" in line


def test_a_search_that_finds_nothing_is_contradicted(monkeypatch: pytest.MonkeyPatch) -> None:
    number, case = next(
        (k, case) for k in range(100) if (case := draw_case(3, k, NOWHERE)) and case.usd > 1 and not case.gas_price_wei
    )
    assert compare_answers(case)

    def search(*_: object, **__: object) -> None:
        raise NoRoute("no route")

    monkeypatch.setattr(Router, "search", search)
    (found,) = compare_answers(case)
    assert (found.kind, found.case) == ("no route", number)
    assert found.description.startswith("exact path")


@pytest.mark.slow
def test_the_command_prints_a_table_and_single_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = tmp_path / "rows.json"
    main(["--cases", "12", "--seed", "5", "--json", str(rows), "--processes", "2"])
    printed = capsys.readouterr()
    assert "of 12 cases above a cent, seed 5" in printed.out
    found = list(run(range(12), 5, (REAL_MARKET,), 1))
    assert [json.loads(line)["case"] for line in rows.read_text().splitlines()] == [
        each.case for each in found if each.is_contradiction
    ]
    main(["--case", str(found[0].case), "--seed", "5"])
    assert found[0].description in capsys.readouterr().out
