"""The spread of values as an SVG chart: one line of dots for each group, with its median, all on one scale.

The scale is linear around zero and logarithmic beyond, so that many small values and a few large ones are both legible.
The document is self-contained, and has the same colors and font as the picture of a route.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import asinh
from typing import Final

from swapcli.core.model.distribution import distribution_of
from swapcli.core.records import NamedTuple
from swapcli.quoting.pictures.chart_ticks import ticks_across
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH
from swapcli.quoting.pictures.svg_document import Rules, paint, style_sheet, svg_document
from swapcli.quoting.pictures.svg_elements import (
    HUES,
    MUTED,
    NOTE_SIZE,
    SURFACE,
    TEXT,
    TITLE_SIZE,
    escape_text,
    px,
    text_element,
)
from swapcli.quoting.pictures.text_width import fit_text, text_width

ROW_HEIGHT: Final = 34.0
TOP, BOTTOM, RIGHT = 64.0, 52.0, 24.0
_LINEAR: Final = 1.0
"""The scale is about linear up to this value."""
_TICKS: Final = (0.0, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
_MAX_LABEL_SHARE: Final = 0.34
_MIN_TICK_GAP: Final = 10.0


class SpreadValue(NamedTuple):
    """A value and the text of its tooltip."""

    value: float
    label: str


class Spread(NamedTuple):
    """The values of one group."""

    name: str
    values: tuple[SpreadValue, ...]


class SpreadChart(NamedTuple):
    """Groups of values under a title. `unit` is the unit of the values, and `note` is the line at the bottom."""

    title: str
    unit: str
    spreads: tuple[Spread, ...]
    note: str = ""


class _Scale(NamedTuple):
    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        low, high = asinh(self.low / _LINEAR), asinh(self.high / _LINEAR)
        return self.start + (asinh(value / _LINEAR) - low) / (high - low) * (self.end - self.start)


def render_spread_chart(chart: SpreadChart, width: int = DEFAULT_WIDTH) -> str:
    """Return the chart as an SVG document that is `width` pixels wide."""
    values = [each.value for spread in chart.spreads for each in spread.values]
    names = [f"{spread.name} ({len(spread.values)})" for spread in chart.spreads]
    room = width * _MAX_LABEL_SHARE
    left = 24 + min(max((text_width(name, 12) for name in names), default=0.0), room)
    scale = _Scale(min([*values, -1.0]), max([*values, 1.0]), left, width - RIGHT)
    height = TOP + BOTTOM + ROW_HEIGHT * max(len(chart.spreads), 1)
    rows = [line for at, spread in enumerate(chart.spreads) for line in _row(spread, names[at], scale, at, room)]
    elements = [
        text_element("title", 12, 24, "start", fit_text(chart.title, width - 24, TITLE_SIZE, is_bold=True)),
        text_element("note", 12, 42, "start", fit_text(chart.unit, width - 24, NOTE_SIZE)),
        *_ticks(scale, height),
        *rows,
        text_element("note", 12, height - 10, "start", fit_text(chart.note, width - 24, NOTE_SIZE)),
    ]
    return svg_document("spread", chart.title, _describe(chart), _STYLE, width, height, elements)


def _describe(chart: SpreadChart) -> str:
    """Describe the medians in words, for those who cannot see the chart."""
    medians = []
    for spread in chart.spreads:
        found = distribution_of(each.value for each in spread.values)
        if found:
            medians.append(f"{spread.name}: median {found.median:+,.2f} of {found.size}")
    return "; ".join(medians) or "There are no values."


def _ticks(scale: _Scale, height: float) -> Iterator[str]:
    values = [each for each in (*(-each for each in reversed(_TICKS[1:])), *_TICKS) if scale.low <= each <= scale.high]
    ticks = ((scale.place(value), f"{value:+,.0f}" if value else "0") for value in values)
    return ticks_across(ticks, TOP - 8, height - BOTTOM, _MIN_TICK_GAP, zero="0")


def _row(spread: Spread, name: str, scale: _Scale, at: int, room: float) -> Iterator[str]:
    y = TOP + ROW_HEIGHT * (at + 0.5)
    yield text_element("name", 12, y + 4, "start", fit_text(name, room, 12))
    for each in spread.values:
        tooltip = f"<title>{escape_text(each.label)}</title>"
        yield f'<g>{tooltip}<circle class="dot" cx="{px(scale.place(each.value))}" cy="{px(y)}" r="4"/></g>'
    found = distribution_of(each.value for each in spread.values)
    if found:
        x = scale.place(found.median)
        tooltip = f"<title>{escape_text(f'{spread.name}: median {found.median:+,.2f}')}</title>"
        yield f'<g>{tooltip}<path class="median" d="M{px(x)} {px(y - 11)}V{px(y + 11)}"/></g>'


def _colors(mode: int) -> Rules:
    fills = {".surface": SURFACE, ".title": TEXT, ".name": TEXT, ".note": MUTED, ".dot": HUES[0]}
    return paint(fills, {".median": HUES[2], ".grid": MUTED, ".zero": MUTED}, mode)


_STYLE = style_sheet(
    "spread",
    [
        ("text", "unicode-bidi:isolate"),
        (".title", f"font-size:{TITLE_SIZE:g}px;font-weight:600"),
        (".note", f"font-size:{NOTE_SIZE:g}px"),
        (".dot", "fill-opacity:.45"),
        (".median", "fill:none;stroke-width:3px"),
        (".grid", "fill:none;stroke-width:1px;stroke-opacity:.25"),
        (".zero", "fill:none;stroke-width:1px;stroke-opacity:.7"),
    ],
    _colors,
)
