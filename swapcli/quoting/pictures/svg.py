"""A route as SVG: self-contained, without scripts or ids, for a page, an image element or a file.

Colors follow the light or dark mode of the reader. Screen readers get a title and a description.
"""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.encoding.text import printable
from swapcli.quoting.pictures.flow_graph import SINK, SOURCE, Band
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH
from swapcli.quoting.pictures.route_flow import PoolSwap, RouteFlow
from swapcli.quoting.pictures.route_words import band_name, count, format_flow, format_symbol, route_title, state_note
from swapcli.quoting.pictures.sankey_layout import (
    LINE,
    MARGIN,
    TITLE_LINE,
    BandRow,
    RouteLayout,
    TokenBar,
    lay_out,
)
from swapcli.quoting.pictures.svg_document import Rules, paint, style_sheet, svg_document
from swapcli.quoting.pictures.svg_elements import (
    BAR,
    HUES,
    MUTED,
    NOTE_SIZE,
    SURFACE,
    TEXT,
    escape_text,
    px,
    text_element,
)
from swapcli.quoting.pictures.text_width import wrap_text

BASELINE = 11.0
"""Distance from the upper edge of a line of text to its baseline."""
MAX_TOOLTIP_POOLS = 12
NOTE_LINE, MAX_FOOTER_LINES = 14.0, 3

GROUP_HUE = ("#69758a", "#95a3b8")
RIBBON_OPACITY = (0.26, 0.34)


def render_svg(flow: RouteFlow, width: int = DEFAULT_WIDTH) -> str:
    """Return the picture of a route as an SVG document that is `width` pixels wide."""
    layout = lay_out(flow, width)
    footer = _footer_lines(flow, layout)
    layout = layout._replace(height=layout.height + NOTE_LINE * (len(footer) - 1))
    hues = _hues(layout)
    elements = [
        *_titles(layout),
        *(_ribbon(row, hues[_hue_key(row.band)]) for row in layout.rows),
        *(_bar(token) for token in layout.tokens),
        *(line for row in layout.rows for line in _row_label(row)),
        *(_symbol(token) for token in layout.tokens),
        *_footer(footer, layout),
    ]
    return svg_document("route", _label(flow), _describe(layout), _STYLE, layout.width, layout.height, elements)


def _label(flow: RouteFlow) -> str:
    return f"Route of {route_title(flow)}"


def _describe(layout: RouteLayout) -> str:
    """Describe every band in words, for those who cannot see the picture."""
    symbols = {bar.node.key: format_symbol(bar.node.token) for bar in layout.tokens}
    return "; ".join(
        f"{symbols[row.band.source]} to {symbols[row.band.target]} through {band_name(row.band)}:"
        f" {format_flow(row.band.flow)} of the order"
        for row in layout.rows
    )


def _hue_key(band: Band) -> str:
    return band.uses[0].protocol if band.is_single_pool else ""


def _hues(layout: RouteLayout) -> dict[str, str]:
    """Return the color class of each protocol; bands of several pools are grey."""
    protocols = dict.fromkeys(_hue_key(row.band) for row in layout.rows)
    protocols.pop("", None)
    return {"": "g"} | {name: f"c{number % len(HUES)}" for number, name in enumerate(protocols)}


def _titles(layout: RouteLayout) -> Iterator[str]:
    ends = ((MARGIN, 1, "start"), (layout.width - MARGIN, 1 if layout.has_one_title_line else 2, "end"))
    for title, (x, line, anchor) in zip(layout.titles, ends, strict=True):
        yield text_element("title", x, line * TITLE_LINE, anchor, title)


def _ribbon(row: BandRow, hue: str) -> str:
    half = row.thickness / 2
    upper = _edge(row, -half)
    lower = _edge(row, half, is_reversed=True)
    tick = (
        f'<rect class="{hue} tick" x="{px(row.x_start)}" y="{px(row.y - max(half, 1))}" width="3"'
        f' height="{px(max(row.thickness, 2))}"/>'
    )
    path = f'<path class="{hue} ribbon" d="M{upper}L{lower}Z"/>'
    return f"<g><title>{escape_text(_tooltip(row.band))}</title>{path}{tick}</g>"


def _edge(row: BandRow, offset: float, *, is_reversed: bool = False) -> str:
    """Return one edge of a ribbon as path data without its first command: curve, line, curve."""
    (x0, y0), (x1, y1) = (row.x_source, row.y_source + offset), (row.x_start, row.y + offset)
    (x2, y2), (x3, y3) = (row.x_end, row.y + offset), (row.x_target, row.y_target + offset)
    points = [(x0, y0), (x1, y1), (x2, y2), (x3, y3)]
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = reversed(points) if is_reversed else points
    first, last = (x0 + x1) / 2, (x2 + x3) / 2
    return (
        f"{px(x0)} {px(y0)}C{px(first)} {px(y0)} {px(first)} {px(y1)} {px(x1)} {px(y1)}"
        f"L{px(x2)} {px(y2)}C{px(last)} {px(y2)} {px(last)} {px(y3)} {px(x3)} {px(y3)}"
    )


def _tooltip(band: Band) -> str:
    uses = {use.key: use for use in sorted(band.uses, key=lambda use: use.flow)}
    lines = [band_name(band), f"{format_flow(band.flow)} of the order"]
    lines += [_pool_line(use, band) for use in list(reversed(uses.values()))[:MAX_TOOLTIP_POOLS]]
    if len(uses) > MAX_TOOLTIP_POOLS:
        lines.append(f"and {count(len(uses) - MAX_TOOLTIP_POOLS, 'more pool')}")
    return "\n".join(lines)


def _pool_line(use: PoolSwap, band: Band) -> str:
    pair = f"{format_symbol(use.token_in)} to {format_symbol(use.token_out)}"
    name = "" if band.is_single_pool else f"{use.name}, "
    return f"{name}{pair}, {printable(use.identifier)}"


def _bar(token: TokenBar) -> str:
    bar, title = token.bar, f"{format_symbol(token.node.token)}: {format_flow(token.node.flow)} of the order"
    return (
        f'<g><title>{escape_text(title)}</title><rect class="bar" x="{px(bar.x)}" y="{px(bar.y)}"'
        f' width="{px(bar.width)}" height="{px(max(bar.height, 2))}" rx="2"/></g>'
    )


def _symbol(token: TokenBar) -> str:
    """Return the symbol of an inner token. The titles name the outer ones."""
    box = token.label
    if token.node.key in (SOURCE, SINK):
        return ""
    return text_element("symbol", box.x + box.width / 2, box.y + BASELINE, "middle", token.symbol)


def _row_label(row: BandRow) -> Iterator[str]:
    box = row.label
    for number, line in enumerate(row.lines):
        yield text_element("name", box.x, box.y + LINE * number + BASELINE, "start", line)
    yield text_element("share", box.x + box.width, box.y + LINE * (len(row.lines) - 1) + BASELINE, "end", row.share)


def _footer_lines(flow: RouteFlow, layout: RouteLayout) -> list[str]:
    """Return the text below the picture, in as many lines as the width requires."""
    pools = f"{count(len(flow.pool_keys), 'pool')} on {flow.network}{state_note(flow)}"
    text = f"{pools}. Widths and bold figures: share of the order."
    return wrap_text(text, layout.width - 2 * MARGIN, NOTE_SIZE, MAX_FOOTER_LINES)


def _footer(lines: list[str], layout: RouteLayout) -> Iterator[str]:
    for number, line in enumerate(reversed(lines)):
        y = layout.height - 8 - NOTE_LINE * number
        yield f'<text class="note" x="{px(MARGIN)}" y="{px(y)}">{escape_text(line)}</text>'


def _colors(mode: int) -> Rules:
    texts = ".title,.symbol,.name,.share"
    yield from paint({".surface": SURFACE, ".bar": BAR, texts: TEXT, ".note,.fee": MUTED}, {}, mode)
    hues = {f".c{number}": hue for number, hue in enumerate(HUES)} | {".g": GROUP_HUE}
    yield from ((selector, f"fill:{hue[mode]};stroke:{hue[mode]}") for selector, hue in hues.items())
    yield ".ribbon", f"fill-opacity:{RIBBON_OPACITY[mode]};stroke-opacity:{RIBBON_OPACITY[mode]}"
    yield ".symbol", f"stroke:{SURFACE[mode]}"


_STYLE = style_sheet(
    "route",
    [
        ("text", "stroke:none;unicode-bidi:isolate"),
        (".title", "font-size:15px;font-weight:600"),
        (".symbol", "font-weight:600;stroke-width:3px;stroke-linejoin:round;paint-order:stroke"),
        (".share", "font-weight:600"),
        (".note", "font-size:11px"),
        (".ribbon", "stroke-width:.5px"),
        (".tick", "stroke:none"),
    ],
    _colors,
)
