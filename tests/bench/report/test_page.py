"""The page has what was measured, and keeps the rest; so does its history."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bench.plan import PAGE
from bench.report.answer import Answer, Row, Table, counted, row
from bench.report.circumstances import Circumstances
from bench.report.files import history_of
from bench.report.page import (
    METHOD,
    TITLES,
    count_met,
    join_page,
    print_tables,
    read_rows,
    render_history,
    render_page,
    split_page,
)
from bench.report.tables import MISSED, Section
from bench.report.thresholds import Check

HEAD = "# Benchmarks\n\nWords."


def circumstances(day: int = 2, revision: str = "abc") -> Circumstances:
    started = datetime(2030, 1, day, 3, 4, tzinfo=UTC)
    return Circumstances("make bench", started, 12.3, (0.1, 1.2), (revision, revision), {"Node": "v20"})


WHEN = "measured 2030-01-02 03:04 UTC at abc, load average 0.10 before and 1.20 after"
FAST = row("ms of an order", Check("a", 2.0, 4.0), 3.0, peer=(8.0, 6.0))
SLOW = row("seconds", Check("b", 2_000, 1_500))
TIME = Table("Time", "What it means.", [FAST, SLOW])
EXACT = Table("Exactness and the gap to the optimum", "How it is judged.", [counted("exact quotes", 19, 20)])


def section(title: str, *checks: Check) -> Section:
    found = Section(title)
    found.add_paragraph("All values.")
    for check in checks:
        found.check("1", check)
    return found


ANSWER = Answer([TIME, EXACT], [section("Time in the core", Check("c", 1, 2), Check("d", 3, 2))])


def test_a_row_has_its_bars_marks_and_ratios_to_the_peer() -> None:
    assert Row("ms of an order", "≤ 4 / –", "2 / 3", "8 / 6", "0.25 / 0.50") == FAST
    assert Row("seconds", "≤ 1,500", f"2,000{MISSED}", "–", "–") == SLOW
    assert row("lead", Check("lead", 1.0, 0.0, is_floor=True)).bar == "≥ 0"
    assert row("no bar", 0.5)[1:3] == ("–", "0.5")
    assert EXACT.rows[0] == Row("exact quotes", "all of 20", f"19{MISSED}")
    assert [each.is_met for each in (FAST, SLOW, EXACT.rows[0], counted("all", 3, 3))] == [True, False, False, True]


def test_a_page_has_the_tables_in_their_order_with_what_repeats_them() -> None:
    text = render_page(HEAD, ANSWER, circumstances())
    head, blocks = split_page(text)
    assert (head, list(blocks)) == (HEAD, ["Exactness and the gap to the optimum", "Time"])
    assert blocks["Time"].splitlines() == [
        "Time",
        "",
        f"What it means. `make bench`: {WHEN}.",
        "",
        "| figure | bar | reached | Tines | to Tines |",
        "| --- | ---: | ---: | ---: | ---: |",
        "| ms of an order | ≤ 4 / – | 2 / 3 | 8 / 6 | 0.25 / 0.50 |",
        f"| seconds | ≤ 1,500 | 2,000{MISSED} | – | – |",
    ]
    assert "| figure | bar | reached |\n" in blocks["Exactness and the gap to the optimum"]
    for above, below in pairwise(text.splitlines()):
        if above.startswith("|") and below.startswith("|"):
            assert above.count("|") == below.count("|"), below


def test_what_could_not_be_measured_is_said() -> None:
    text = render_page(HEAD, ANSWER._replace(omitted=["several workers (wrk is not installed)"]), circumstances())
    assert text.count("Not measured: several workers (wrk is not installed).") == 2


def test_sections_that_were_not_measured_stay_as_they_are() -> None:
    other = "Scale\n\nWords by hand.\n\n| figure | bar | reached |\n| --- | ---: | ---: |\n| kills | – | 50 |"
    before = render_page(join_page(HEAD, [other]), ANSWER, circumstances())
    before = render_page(before, None, circumstances())
    assert list(split_page(before)[1]) == ["Exactness and the gap to the optimum", "Time", "Scale", METHOD]
    after = render_page(before, Answer([EXACT], []), circumstances(3, "def"))
    head, blocks = split_page(after)
    assert (head, list(blocks)) == (HEAD, ["Exactness and the gap to the optimum", "Time", "Scale", METHOD])
    assert {title for title, block in split_page(before)[1].items() if blocks[title] != block} == {
        "Exactness and the gap to the optimum"
    }
    assert "2030-01-03 03:04 UTC at def" in blocks["Exactness and the gap to the optimum"]
    assert "; Node: v20." in blocks[METHOD]


def test_a_history_replaces_sections_and_dates_them() -> None:
    before = join_page("# Tables", ["By hand\n\nOld.", "Time in the core\n\nOld, too."])
    after = render_history(before, [*ANSWER.sections, section("New")], circumstances())
    head, blocks = split_page(after)
    assert (head, list(blocks)) == ("# Tables", ["New", "By hand", "Time in the core"])
    assert blocks["By hand"] == "By hand\n\nOld."
    assert blocks["Time in the core"] == f"Time in the core\n\nAll values.\n\nM{WHEN[1:]}."
    assert render_history(after, ANSWER.sections, circumstances()) == after


def test_a_terminal_shows_the_figures_of_the_page_beside_the_new_ones() -> None:
    page = render_page(HEAD, ANSWER, circumstances())
    new = ANSWER._replace(tables=[TIME._replace(rows=[row("seconds", Check("b", 1_000, 1_500)), row("new", 1.0)])])
    lines = print_tables([new], page).splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]
    assert cells[0] == ["figure", "bar", "reached", "on the page"]
    assert cells[2:] == [["seconds", "≤ 1,500", "1,000", f"2,000{MISSED}"], ["new", "–", "1", "–"]]
    assert len({len(line) for line in lines[2:]}) == 1
    assert print_tables([new._replace(omitted=["x (y)"])], "").endswith("Not measured: x (y).")


def test_figures_that_meet_their_bars_are_counted_on_the_page_and_in_the_history() -> None:
    assert count_met([ANSWER]) == (1 + 1, 3 + 2)


@given(st.lists(st.text("abc\n ", min_size=1).map(str.strip).filter(bool), unique=True))
def test_a_page_is_the_same_after_it_was_split(titles: list[str]) -> None:
    blocks = [f"{title.replace(chr(10), ' ')} {number}\n\nText." for number, title in enumerate(titles)]
    text = join_page(HEAD, blocks)
    head, parts = split_page(text)
    assert join_page(head, parts.values()) == text


def test_the_committed_page_is_in_its_form_and_two_pages() -> None:
    page, history = PAGE.read_text(), history_of(PAGE).read_text()
    for text in (page, history):
        head, blocks = split_page(text)
        assert join_page(head, blocks.values()) == text
    titles = list(split_page(page)[1])
    assert [title for title in titles if title in TITLES] == list(TITLES)
    assert len(page.splitlines()) <= 130
    assert all(reached for _, reached in read_rows(page).items())
