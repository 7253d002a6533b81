"""Tables for a terminal; long cells are folded, never cut. Only this module and `progress` import rich."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from swapcli.cli.render.detail_view import DetailView
from swapcli.cli.render.list_view import ListView
from swapcli.cli.render.payload_view import PayloadView
from swapcli.cli.render.quote_facts import Fact
from swapcli.cli.render.route_view import PoolRow, RouteView, SwapRow

COLUMN_GAP = (0, 1, 0, 1)
NAME, HEADLINE, QUIET, LOUD = "bold", "bold green", "dim", "bold yellow"
UNLIMITED = 10_000
NAME_WIDTH, MIN_ALIGNED_WIDTH = 12, 60
PROMINENT_FACTS = ("You receive", "You sell")


def print_route(view: RouteView, console: Console) -> None:
    """Print a route: title, hops with their pools, addresses. The facts come last, next to the prompt."""
    console.print(_title(view))
    console.print()
    console.print(_hops(view.rows))
    console.print()
    console.print(_pools(view.pools, console.width), soft_wrap=True)
    console.print()
    console.print(_facts(view.facts, console.width))
    for name, address in view.parties:
        _print_copyable(name, address, console)


def print_payload(view: PayloadView, console: Console) -> None:
    """Print transactions. Their values never wrap, because users copy them."""
    if view.title:
        console.print(Text(view.title, NAME), soft_wrap=True)
        console.print()
        console.print(_facts(view.facts, console.width))
        _print_copyable("Recipient", view.recipient, console)
        console.print()
    for number, block in enumerate(view.transactions):
        if number:
            console.print()
        if block.title:
            console.print(Text(block.title, NAME), soft_wrap=True)
        for name, value in block.lines:
            _print_copyable(name, value, console)


def _print_copyable(name: str, value: str, console: Console) -> None:
    """Print a named value without wrapping it."""
    console.print(Text.assemble((f"{name:<{NAME_WIDTH}} ", NAME), value), soft_wrap=True)


def print_list(listing: ListView, console: Console) -> None:
    """Print a list with its column titles. Nothing is cut: the terminal wraps rows that are too wide."""
    table = Table(box=None, header_style=NAME, pad_edge=False, padding=COLUMN_GAP)
    for column in listing.columns:
        table.add_column(column, no_wrap=True)
    for row in listing.rows:
        table.add_row(*map(Text, row))
    full_width = Measurement.get(console, console.options.update(width=UNLIMITED), table).maximum
    console.width = max(console.width, full_width)
    console.print(table)


def print_details(sheet: DetailView, console: Console) -> None:
    """Print facts, then lists."""
    console.print(Text(sheet.title, NAME), soft_wrap=True)
    console.print()
    console.print(_facts(sheet.facts, console.width))
    for name, value in sheet.copyable:
        _print_copyable(name, value, console)
    for listing in sheet.lists:
        console.print()
        print_list(listing, console)


def new_console(color: str, stream: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console on `stream` (default stdout); `color` is auto, always or never."""
    return Console(
        file=stream or sys.stdout,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        force_terminal=True if color == "always" else None,
        color_system=None if color == "never" else "auto",
        # rich respects NO_COLOR; the option overrides it.
        no_color=False if color == "always" else None,
    )


def _title(view: RouteView) -> Table:
    grid = Table.grid(expand=True, padding=COLUMN_GAP)
    grid.add_column(style=NAME, overflow="fold")
    grid.add_column(justify="right", overflow="fold", style=LOUD if view.warnings else QUIET)
    grid.add_row(Text(view.title), Text(view.origin))
    return grid


def _hops(rows: tuple[SwapRow, ...]) -> Table:
    grid = Table.grid(padding=COLUMN_GAP)
    grid.add_column(justify="right", overflow="fold", style=NAME)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold", style=QUIET)
    grid.add_column(justify="right", overflow="fold", style=QUIET)
    grid.add_column(justify="right", overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, (row.segment, row.hop, row.pool, row.mark, row.share, row.short_amount)))
    return grid


def _facts(facts: tuple[Fact, ...], width: int) -> Table:
    grid = Table.grid(padding=COLUMN_GAP)
    grid.add_column(overflow="fold", style=NAME, min_width=NAME_WIDTH if width >= MIN_ALIGNED_WIDTH else None)
    grid.add_column(overflow="fold")
    grid.add_column(overflow="fold", style=QUIET)
    for fact in facts:
        value = Text(fact.value, style=HEADLINE if fact.name in PROMINENT_FACTS else "")
        grid.add_row(Text(fact.name), value, Text(fact.note))
    return grid


def _pools(pools: tuple[PoolRow, ...], width: int) -> Text:
    """Lay out one pool per line: mark and address, which never wraps; name and tokens as well if they fit."""
    marks, addresses = (max(map(len, column)) for column in zip(*((p.mark, p.address) for p in pools), strict=True))
    lines = [f"{pool.mark:<{marks}} {pool.address:<{addresses}} {pool.note}".rstrip() for pool in pools]
    names = [f"{pool.name}, {pool.pair}" for pool in pools]
    longest = max(map(len, lines))
    if longest + 2 + max(map(len, names)) <= width:
        lines = [f"{line:<{longest}}  {name}" for line, name in zip(lines, names, strict=True)]
    return Text("\n".join(lines), style=QUIET)
