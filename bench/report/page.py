"""Render BENCHMARKS.md and bench/HISTORY.md: measured sections replace those with the same title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bench.report.answer import Answer, Row, Table
from bench.report.circumstances import Circumstances
from bench.report.machine import machine
from bench.report.tables import NOTHING, Section, markdown_table

METHOD = "How it was measured"
TITLES = (
    "Users' orders", "Exactness and the gap to the optimum", "Against Tines and simple methods", "Time", "Service",
    "Following a chain",
)  # fmt: skip
"""The sections of the page that `make bench` measures, in order."""
BREAK = "\n## "
_HEADER = ("figure", "bar", "reached")
_PEER = ("Tines", "to Tines")
_BEFORE = "on the page"


def render_page(previous: str, answer: Answer | None, circumstances: Circumstances) -> str:
    """Return the page with the tables of an answer; without one, with the circumstances of a whole run."""
    head, blocks = split_page(previous)
    if answer is None:
        blocks[METHOD] = f"{METHOD}\n\n{_method(circumstances)}"
    else:
        blocks |= {table.title: _page_block(table, answer.omitted, circumstances) for table in answer.tables}
    first = [title for title in TITLES if title in blocks]
    others = [title for title in blocks if title not in first and title != METHOD]
    ordered = [*first, *others, *([METHOD] if METHOD in blocks else [])]
    return join_page(head, [blocks[title] for title in ordered])


def render_history(previous: str, sections: Iterable[Section], circumstances: Circumstances) -> str:
    """Return the history with these sections replacing those with the same title; new ones come first."""
    head, blocks = split_page(previous)
    new = {
        section.title: f"{section.text.removeprefix('## ')}\n\nMeasured {circumstances.measured}."
        for section in sections
    }
    blocks = {title: block for title, block in new.items() if title not in blocks} | {
        title: new.get(title, block) for title, block in blocks.items()
    }
    return join_page(head, blocks.values())


def split_page(text: str) -> tuple[str, dict[str, str]]:
    """Return the head of a page, and its sections by title, each from its title on."""
    head, *blocks = text.split(BREAK)
    return head.strip("\n"), {block.partition("\n")[0]: block.strip("\n") for block in blocks}


def join_page(head: str, blocks: Iterable[str]) -> str:
    """Return the page made of these parts."""
    return f"\n{BREAK}".join([head, *blocks]) + "\n"


def print_tables(answers: Iterable[Answer], page: str) -> str:
    """Return all tables for a terminal, next to the figures of a page."""
    answers, known, printed = list(answers), read_rows(page), []
    for table in sorted((table for answer in answers for table in answer.tables), key=_place):
        header = [*_HEADER, _BEFORE, *(_PEER if table.has_peer else ())]
        lines = [[*row[:3], known.get((table.title, row.figure), NOTHING), *_peer(table, row)] for row in table.rows]
        printed.append(f"## {table.title}\n\n{markdown_table(header, lines, is_aligned=True)}")
    printed += [f"Not measured: {each}." for answer in answers for each in answer.omitted]
    return "\n\n".join(printed)


def _place(table: Table) -> int:
    """Return a table's position on the page."""
    return TITLES.index(table.title) if table.title in TITLES else len(TITLES)


def read_rows(page: str) -> dict[tuple[str, str], str]:
    """Return the values on a page, by section and figure."""
    found = {}
    for title, block in split_page(page)[1].items():
        for line in block.splitlines():
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if len(cells) >= len(_HEADER):
                found[title, cells[0]] = cells[2]
    return found


def _page_block(table: Table, omitted: Sequence[str], circumstances: Circumstances) -> str:
    header = [*_HEADER, *(_PEER if table.has_peer else ())]
    said = [table.text, f"`{circumstances.command}`: measured {circumstances.measured}."]
    said += [f"Not measured: {each}." for each in omitted]
    rows = markdown_table(header, [[*row[:3], *_peer(table, row)] for row in table.rows])
    return "\n\n".join([table.title, " ".join(said), rows])


def _peer(table: Table, row: Row) -> Sequence[str]:
    return row[3:] if table.has_peer else ()


def _method(circumstances: Circumstances) -> str:
    facts = [("last whole run", f"{circumstances.minutes:.0f} minutes"), *machine(circumstances.versions)]
    return "; ".join(f"{name}: {value}" for name, value in facts) + "."


def count_met(answers: Iterable[Answer]) -> tuple[int, int]:
    """Return how many figures in all tables and sections meet their thresholds, and how many have one."""
    answers = list(answers)
    rows = [row.is_met for answer in answers for table in answer.tables for row in table.rows if row.bar != NOTHING]
    checks = [check.is_met for answer in answers for section in answer.sections for check in section.checks]
    return sum(rows) + sum(checks), len(rows) + len(checks)
