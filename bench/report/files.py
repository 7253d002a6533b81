"""The report in its two files: a page of all that is current, and beside it the tables, with those of earlier runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bench.report.page import BREAK, METHOD, NOTES, OTHERS, split_sections
from bench.report.summary import TITLE as SUMMARY

_TABLES_HEAD = """\
# Tables of the benchmarks

The tables of the last run of each part, which `make bench` replaces, and what was measured at other times by other
commands, with its date and revision. [BENCHMARKS.md](../BENCHMARKS.md) has the current figures beside their bars, how
they were measured, and remarks on reading them."""


def tables_file(page: Path) -> Path:
    """Return the file of the tables of a page."""
    return page.parent / "bench" / "HISTORY.md"


def read_report(page: Path) -> str:
    """Return the report as one text; it is empty if there is no such page."""
    if not page.is_file():
        return ""
    tables = tables_file(page)
    return join_report(page.read_text(), tables.read_text() if tables.is_file() else "")


def rewrite_report(page: Path, change: Callable[[str], str]) -> None:
    """Write both files of the changed report."""
    current, tables = split_report(change(read_report(page)))
    file = tables_file(page)
    file.parent.mkdir(exist_ok=True)
    page.write_text(current)
    file.write_text(tables)


def split_report(text: str) -> tuple[str, str]:
    """Return the page and the tables of a report."""
    head, blocks = text.partition(BREAK)[0], split_sections(text)
    first = [blocks.pop(title) for title in (SUMMARY, OTHERS, METHOD, NOTES) if title in blocks]
    return BREAK.join([head, *first]), BREAK.join([f"{_TABLES_HEAD}\n", *blocks.values()]).rstrip("\n") + "\n"


def join_report(current: str, tables: str) -> str:
    """Return the report of which these are the page and the tables."""
    head, blocks = current.partition(BREAK)[0], split_sections(current)
    parts = {title: f"{block.rstrip()}\n" for title, block in split_sections(tables).items()}
    order = (SUMMARY, METHOD, *parts, OTHERS, NOTES)
    blocks |= parts
    return BREAK.join([head, *(blocks[title] for title in order if title in blocks)])
