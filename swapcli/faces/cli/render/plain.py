"""Plain text for pipes, files and screen readers: aligned, complete, never shortened."""

from __future__ import annotations

from collections.abc import Sequence

from swapcli.faces.cli.render.columns import Line
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import ListView
from swapcli.faces.cli.render.payload_view import PayloadView
from swapcli.faces.cli.render.quote_facts import Fact, aligned_facts
from swapcli.faces.cli.render.route_layout import RouteShape
from swapcli.faces.cli.render.route_rows import lay_out_head, lay_out_rows
from swapcli.faces.cli.render.route_view import RouteView
from swapcli.quoting.pictures.text import format_line, tree_rows

GAP, WIDTH = "  ", 80


def route_text(view: RouteView, shape: RouteShape = RouteShape.TABLE) -> str:
    """Lay out a route as text in the given shape."""
    if shape is RouteShape.LINE:
        return view.line_start + format_line(view.flow)
    if shape is RouteShape.TREE:
        rows = [f"{row.branches}{row.label}{GAP}{row.amount}".rstrip() for row in tree_rows(view.flow)]
        blocks = [[*_head(view), *rows]]
    else:
        blocks = [[*_head(view), *_rows(view)], _pools(view)]
    blocks += [_facts(view.facts), _align(view.parties)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _head(view: RouteView | PayloadView) -> list[str]:
    return [_title(view.title, view.origin), *map(line_text, lay_out_head(view.head, None))] if view.title else []


def _rows(view: RouteView | PayloadView) -> list[str]:
    return [*map(line_text, lay_out_rows(view.rows, None).lines)]


def _pools(view: RouteView | PayloadView) -> list[str]:
    return _align([(pool.mark, pool.address, pool.note) for pool in view.pools])


def _facts(facts: Sequence[Fact]) -> list[str]:
    """Align facts. A long value without a note does not push the notes of the others to the right."""
    names_width = max((len(fact.name) for fact in facts), default=0)
    aligned = aligned_facts(facts)
    lines = iter(_align([(fact.name.ljust(names_width), fact.value, fact.note) for fact in aligned]) if aligned else ())
    return [next(lines) if fact in aligned else f"{fact.name.ljust(names_width)}{GAP}{fact.value}" for fact in facts]


def _title(title: str, origin: str) -> str:
    """Return the first line: the result, with the state right-aligned at `WIDTH` if it fits."""
    return title + origin.rjust(max(WIDTH - len(title), len(GAP) + len(origin))) if origin else title


def line_text(line: Line) -> str:
    """Return a line without styles."""
    return "".join(" " * cell.blanks + cell.text for cell in line.cells)


def _first_line(view: DetailView) -> str:
    return f"{view.title} ({view.label})" if view.label else view.title


def payload_text(view: PayloadView) -> str:
    """Lay out transactions, each value on its own line."""
    facts = [*view.facts, *(Fact(name, address) for name, address in view.parties)]
    blocks = [[block.title] * bool(block.title) + _align(block.lines) for block in view.transactions]
    found = [[*_head(view), *_rows(view)], _pools(view), _facts(facts), *blocks]
    return "\n\n".join("\n".join(block) for block in found if block)


def list_text(listing: ListView) -> str:
    """Lay out a list with its column titles."""
    shown = listing.without_empty_columns()
    return "\n".join(_align([shown.headings, *shown.rows]))


def detail_text(sheet: DetailView) -> str:
    """Lay out facts, then lists."""
    blocks = [
        "\n".join(block) for block in ([_first_line(sheet)], _facts(sheet.facts), _align(sheet.copyable)) if block
    ]
    return "\n\n".join([*blocks, *map(list_text, sheet.lists), *[sheet.footer] * bool(sheet.footer)])


def _align(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Align cells in columns; empty columns take no space."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        GAP.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width).rstrip() for row in rows
    ]
