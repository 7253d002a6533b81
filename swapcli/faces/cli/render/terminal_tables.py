"""Tables for a terminal, which fit its width. Only this module and `progress` import rich.

From a width of `MIN_TABLE_WIDTH`, a row takes one line, for which `table_fit` shortens its cells. On a narrower
terminal, cells wrap.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from swapcli.core.encoding.text import ELLIPSIS
from swapcli.faces.cli.render.columns import Line, lay_out, wrap_words
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.payload_view import PayloadView
from swapcli.faces.cli.render.quote_facts import Fact, aligned_facts
from swapcli.faces.cli.render.route_layout import RouteShape
from swapcli.faces.cli.render.route_rows import HEAD_NAME, MARK, SEGMENT, SHARE, lay_out_head, lay_out_rows
from swapcli.faces.cli.render.route_view import PoolRow, RouteView, SwapRow
from swapcli.faces.cli.render.table_fit import FittedTable, fit_list
from swapcli.faces.cli.similar_characters import SIMILAR
from swapcli.faces.cli.terminal import terminal_width
from swapcli.quoting.pictures.route_flow import RouteFlow
from swapcli.quoting.pictures.text import format_line, tree_rows

NAME, HEADLINE, QUIET, LOUD = "bold", "bold green", "dim", "bold yellow"
NAME_WIDTH, MIN_ALIGNED_WIDTH = 12, 60
MIN_TABLE_WIDTH = 60
"""The minimum width of a table. On a narrower terminal, one line per row would show too little."""
_LIST_GAP = 2
_WHOLE, _CUT, _POOL = Column("", is_whole=True), Column(""), Column("", keeps_end=True)
"""Columns without titles. A pool's name is never cut at its end, where its fee distinguishes it from other pools."""
_TREE_COLUMNS = (_WHOLE, _POOL, _CUT)
_HEAD_STYLES = {HEAD_NAME: QUIET}
_ROW_STYLES = {SEGMENT: NAME, SHARE: QUIET, MARK: QUIET}
_NO_LINKS = ("", "dumb", "linux")
"""Terminals that do not show hyperlinks. `linux` is the console outside of a window system."""


def print_route(view: RouteView, console: Console, shape: RouteShape = RouteShape.TABLE) -> None:
    """Print a route: the result, its head, the pools of its paths, then addresses and facts if there are any."""
    if shape is RouteShape.LINE:
        start = view.line_start
        _print_words(start + format_line(view.flow, console.width - cell_len(start), cell_len), "", console)
        return
    _print_head(view, console)
    if shape is RouteShape.TREE:
        _print_tree(view.flow, console)
    else:
        _print_rows_and_pools(view, console)
    _print_facts_and_parties(view, console)


def _print_head(view: RouteView | PayloadView, console: Console) -> None:
    _print_title(view.title, view.origin, LOUD if view.label else QUIET, console, HEADLINE)
    _print_lines(lay_out_head(view.head, console.width, _cell_width(console)), console, _HEAD_STYLES)


def _print_rows_and_pools(view: RouteView | PayloadView, console: Console) -> None:
    _print_rows(view.rows, console)
    if view.pools:
        console.print()
        _print_pools(view.pools, console)


def _print_facts_and_parties(view: RouteView | PayloadView, console: Console) -> None:
    if view.facts or view.parties:
        console.print()
        _print_facts(view.facts, console)
    for name, address in view.parties:
        _print_copyable(name, address, console)


def _print_rows(rows: tuple[SwapRow, ...], console: Console) -> None:
    """Print the rows of a route, and below them the addresses that do not fit in them."""
    laid_out = lay_out_rows(rows, console.width, _cell_width(console))
    links = {} if laid_out.legend else {(number, MARK): row.link for number, row in enumerate(rows) if row.link}
    _print_lines(laid_out.lines, console, _ROW_STYLES, links)
    if laid_out.legend:
        _print_words("  ".join(laid_out.legend), QUIET, console)


def _print_lines(
    lines: Iterable[Line],
    console: Console,
    styles: Mapping[int, str],
    links: Mapping[tuple[int, int], str] = MappingProxyType({}),
) -> None:
    """Print lines with the styles of their columns; `links` are URLs by row and column."""
    has_links = bool(links) and _shows_links(console)
    for line in lines:
        text = Text()
        for column, blanks, cell in line.cells:
            url = links.get((line.row, column)) if has_links else None
            style = Style.parse(styles.get(column, ""))
            text.append(" " * blanks)
            text.append(cell, style + Style(link=url) if url else style)
        _print_line(text, console)


def _print_footer(footer: str, console: Console) -> None:
    """Print the lines below figures."""
    if footer:
        console.print()
        for line in footer.split("\n"):
            _print_words(line, QUIET, console)


def _print_tree(flow: RouteFlow, console: Console) -> None:
    """Print a tree with shortened amounts. The pools of a hop are aligned in columns."""
    for _, siblings in groupby(tree_rows(flow, has_short_amounts=True), lambda row: len(row.branches)):
        rows = list(siblings)
        branches_width = cell_len(rows[0].branches)
        cells = [(row.share, row.name, row.amount) for row in rows]
        _print_columns(
            _fit_rows(_TREE_COLUMNS, cells, console.width - branches_width, 2, console) or cells,
            console,
            right=(0, 2),
            styles={0: NAME, 2: QUIET},
            gap=2,
            branches=[(row.branches, row.below) for row in rows],
        )


def print_payload(view: PayloadView, console: Console) -> None:
    """Print transactions. Their values never wrap, because users copy them."""
    if view.title:
        _print_head(view, console)
        _print_rows_and_pools(view, console)
        _print_facts_and_parties(view, console)
    for number, block in enumerate(view.transactions):
        if number or view.title:
            console.print()
        if block.title:
            _print_words(block.title, NAME, console)
        for name, value in block.lines:
            _print_copyable(name, value, console)


def print_list(listing: ListView, console: Console) -> None:
    """Print a list with its column titles, and a line that names what is not shown."""
    listing = listing.without_empty_columns()
    whole = FittedTable(tuple(range(len(listing.columns))), (listing.headings, *listing.rows))
    fitted = None
    if console.width >= MIN_TABLE_WIDTH:
        fitted = fit_list(listing, console.width, _LIST_GAP, _cell_width(console))
    tables = fitted or (whole,)
    for number, table in enumerate(tables):
        if number:
            console.print()
        # Of the columns that went below, empty rows are omitted.
        shown = [row for row, cells in enumerate(table.rows) if not number or any(cells[1:])]
        links = {
            (shown.index(row), table.columns.index(column)): url
            for row, urls in enumerate(listing.links, start=1)
            for title, url in urls.items()
            if row in shown and (column := listing.titles.index(title)) in table.columns
        }
        rows = [table.rows[row] for row in shown]
        _print_columns(rows, console, row_styles={0: NAME}, links=links, gap=_LIST_GAP)
    _print_cuts(tables, console)


def _print_cuts(tables: Sequence[FittedTable], console: Console) -> None:
    """Say which columns are shortened or not shown, and how to see them."""
    shortened = dict.fromkeys(title for table in tables for title in table.shortened)
    dropped = dict.fromkeys(title for table in tables for title in table.dropped)
    groups = {"not shown": dropped, "shortened": shortened}
    if cuts := [f"{what}: {', '.join(titles)}" for what, titles in groups.items() if titles]:
        _print_words(f"In {console.width} columns, {'; '.join(cuts)}. --format plain shows all.", QUIET, console)


def print_details(sheet: DetailView, console: Console) -> None:
    """Print facts, then lists."""
    _print_title(sheet.title, sheet.label, LOUD, console)
    if sheet.facts or sheet.copyable:
        console.print()
    if sheet.facts:
        _print_facts(sheet.facts, console)
    for name, value in sheet.copyable:
        _print_copyable(name, value, console)
    for listing in sheet.lists:
        console.print()
        print_list(listing, console)
    _print_footer(sheet.footer, console)


class _Console(Console):
    """A console that raises if the reader of the output has left; rich itself would exit with status 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def new_console(color: str, stream: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console on `stream` (default stdout); `color` is auto, always or never."""
    out = stream or sys.stdout
    return _Console(
        file=out,
        # A table in a pager is as wide as the terminal that shows it. rich itself would take COLUMNS=0 literally.
        width=width or terminal_width(out, sys.stdin, sys.stderr),
        # Tables never need the height, but without one rich reads COLUMNS again.
        height=25,
        highlight=False,
        markup=False,
        emoji=False,
        force_terminal=True if color == "always" else None,
        # Only bold, dim and the eight standard colors are used, so "always" needs no detection.
        color_system=None if color == "never" else "standard" if color == "always" else "auto",
        # rich respects NO_COLOR; the option overrides it.
        no_color=False if color == "always" else None,
    )


def _print_title(title: str, state: str, style: str, console: Console, title_style: str = NAME) -> None:
    """Print the title on the left and the state on the right, or stacked if they do not fit."""
    room = console.width - cell_len(title)
    if state and cell_len(state) < room:
        _print_line(Text.assemble((title, title_style), " " * (room - cell_len(state)), (state, style)), console)
        return
    _print_words(title, title_style, console)
    if state:
        _print_words(state, style, console)


def _fit_rows(
    columns: tuple[Column, ...], cells: Sequence[tuple[str, ...]], width: int, gap: int, console: Console
) -> Sequence[tuple[str, ...]] | None:
    """Fit rows without titles to one line each; None if the terminal is too narrow."""
    if console.width < MIN_TABLE_WIDTH:
        return None
    fitted = fit_list(ListView(columns, tuple(cells)), width, gap, _cell_width(console))
    return None if fitted is None else fitted[0].rows[1:]


def _print_facts(facts: tuple[Fact, ...], console: Console) -> None:
    """Print facts. A long value without a note does not push the notes of the others to the right."""
    is_wide = console.width >= MIN_ALIGNED_WIDTH
    cell_width = _cell_width(console)
    names_width = max((cell_width(fact.name) for fact in facts), default=0)

    def lay_out_facts(laid_out: Sequence[Fact]) -> Iterator[Line]:
        return lay_out(
            [(fact.name, fact.value, fact.note) for fact in laid_out],
            console.width,
            cell_width,
            indent=NAME_WIDTH + 1 if is_wide else 2,
            first_width=max(NAME_WIDTH, names_width) if is_wide else 0,
        )

    aligned = aligned_facts(facts, cell_width)
    lines_of = groupby(lay_out_facts(aligned), lambda line: line.row)
    for fact in facts:
        lines = next(lines_of)[1] if fact in aligned else lay_out_facts([fact])
        _print_lines(lines, console, {0: NAME, 2: QUIET})


def _print_pools(pools: tuple[PoolRow, ...], console: Console) -> None:
    """Print each pool's mark, address and note."""
    marks_width = max(len(pool.mark) for pool in pools)
    for pool in pools:  # each separately: only ids are too long for some terminals
        _print_columns(
            [(pool.mark, pool.address, pool.note)],
            console,
            styles=dict.fromkeys(range(3), QUIET),
            links={(0, 1): pool.link} if pool.link else {},
            first_width=marks_width,
        )


def _print_copyable(name: str, value: str, console: Console) -> None:
    """Print a named value without breaking it, below its name if it does not fit; only a shortened one is wrapped."""
    line = f"{name:<{NAME_WIDTH}} {value}"
    is_shortened = ELLIPSIS in value
    if cell_len(line) <= console.width or (" " in value and not is_shortened):
        _print_line(Text.assemble((line[: -len(value) or None], NAME), value or ""), console)
        return
    _print_line(Text(name, NAME), console)
    for text in wrap_words(value, console.width, cell_len) if is_shortened else [value]:
        _print_line(Text(text), console)


def _print_words(text: str, style: str, console: Console) -> None:
    """Print a sentence, wrapped between words."""
    for line in wrap_words(text, console.width, cell_len):
        _print_line(Text(line, style), console)


def _print_columns(
    rows: Sequence[Sequence[str]],
    console: Console,
    *,
    right: Collection[int] = (),
    styles: Mapping[int, str] | None = None,
    row_styles: Mapping[int, str] | None = None,
    links: Mapping[tuple[int, int], str] | None = None,
    branches: Sequence[tuple[str, str]] = (),
    gap: int = 1,
    indent: int = 2,
    first_width: int = 0,
) -> None:
    """Print rows in columns that fit the console.

    `styles` are by column, `row_styles` by row; `links` are URLs. `branches` precede the first line and the other lines
    of each row; all have the same length.
    """
    has_links = bool(links) and _shows_links(console)
    width = console.width - len(branches[0][0]) if branches else console.width
    first_lines: set[int] = set()
    cell_width = _cell_width(console)
    for line in lay_out(rows, width, cell_width, right=right, gap=gap, indent=indent, first_width=first_width):
        text = Text()
        if branches:
            text.append(branches[line.row][line.row in first_lines], QUIET)
        first_lines.add(line.row)
        for column, blanks, cell in line.cells:
            style = Style.parse((row_styles or {}).get(line.row) or (styles or {}).get(column) or "")
            url = (links or {}).get((line.row, column)) if has_links else None
            text.append(" " * blanks)
            text.append(cell, style + Style(link=url) if url else style)
        _print_line(text, console)


def _cell_width(console: Console) -> Callable[[str], int]:
    """Return a function that measures text as printed: an unsupported ellipsis takes three characters."""
    try:
        ELLIPSIS.encode(console.encoding)
    except UnicodeEncodeError:
        return lambda text: cell_len(text.encode(console.encoding, SIMILAR).decode(console.encoding))
    return cell_len


def _print_line(text: Text, console: Console) -> None:
    console.print(text, soft_wrap=True)


def _shows_links(console: Console) -> bool:
    """Return whether the output is a terminal with colors that may show hyperlinks (OSC 8)."""
    is_plain = console.color_system is None or console.no_color or os.environ.get("TERM", "") in _NO_LINKS
    return console.file.isatty() and not is_plain
