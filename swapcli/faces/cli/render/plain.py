"""Plain text for pipes, files and screen readers: aligned, complete, never shortened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import ListView
from swapcli.faces.cli.render.payload_view import PayloadView
from swapcli.faces.cli.render.route_layout import RouteShape
from swapcli.faces.cli.render.route_view import RouteView
from swapcli.quoting.pictures.text import format_line, tree_rows

GAP = "  "


def route_text(view: RouteView, shape: RouteShape = RouteShape.TABLE) -> str:
    """Lay out a route in a shape."""
    if shape is not RouteShape.TABLE:
        return _shape_text(view, shape)
    rows = [(row.segment, row.hop, row.pool, row.mark, row.share, row.amount) for row in view.rows]
    pools = [(pool.mark, pool.address, pool.note, pool.name, pool.pair) for pool in view.pools]
    facts = [(fact.name, fact.value, fact.note) for fact in view.facts]
    blocks = [[_first_line(view)], _align(rows, right=(0, 4)), _align(pools), _align(facts), _align(view.parties)]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _shape_text(view: RouteView, shape: RouteShape) -> str:
    if shape is RouteShape.LINE:
        return f"{view.label}: {format_line(view.flow)}" if view.label else format_line(view.flow)
    tree = [f"{row.branches}{row.label}{GAP}{row.amount}".rstrip() for row in tree_rows(view.flow)]
    facts = _align([(fact.name, fact.value, fact.note) for fact in view.facts])
    return "\n".join([_first_line(view), *tree, "", *facts])


def _first_line(view: RouteView | DetailView) -> str:
    return f"{view.title} ({view.label})" if view.label else view.title


def payload_text(view: PayloadView) -> str:
    """Lay out transactions, each value on its own line."""
    facts = [(fact.name, fact.value, fact.note) for fact in view.facts]
    facts += [("Recipient", view.recipient, "")] * bool(view.recipient)
    blocks = [[block.title] * bool(block.title) + _align(block.lines) for block in view.transactions]
    return "\n\n".join("\n".join(block) for block in [[view.title], _align(facts), *blocks] if any(block))


def list_text(listing: ListView) -> str:
    """Lay out a list with its column titles."""
    return "\n".join(_align([tuple(title.upper() for title in listing.titles), *listing.rows]))


def detail_text(sheet: DetailView) -> str:
    """Lay out facts, then lists."""
    facts = [(fact.name, fact.value, fact.note) for fact in sheet.facts]
    blocks = ["\n".join(block) for block in ([_first_line(sheet)], _align(facts), _align(sheet.copyable)) if block]
    return "\n\n".join([*blocks, *map(list_text, sheet.lists), *[sheet.footer] * bool(sheet.footer)])


def _align(rows: Sequence[tuple[str, ...]], right: tuple[int, ...] = ()) -> list[str]:
    """Align cells in columns, those in `right` to the right; empty columns take no space."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [GAP.join(_padded(row, widths, right)).rstrip() for row in rows]


def _padded(row: tuple[str, ...], widths: Sequence[int], right: tuple[int, ...]) -> Iterator[str]:
    for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
        if width:
            yield cell.rjust(width) if number in right else cell.ljust(width)
