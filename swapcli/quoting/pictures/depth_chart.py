"""Market depth as an SVG chart: price impact against amount, both on logarithmic scales.

It is self-contained, and has the same colors and font as the picture of a route.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import ceil, floor, log10
from typing import Final

from swapcli.core.model.number_format import format_significant
from swapcli.core.model.token import in_tokens
from swapcli.core.records import NamedTuple
from swapcli.quoting.depth_result import Depth, DepthLevel, DepthPoint
from swapcli.quoting.pictures.chart_ticks import ticks_across
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH
from swapcli.quoting.pictures.route_words import format_symbol
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
from swapcli.quoting.pictures.text_width import fit_text

HEIGHT: Final = 340.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 20.0, 44.0, 62.0
"""The margins of the chart, which hold its title and the labels of its scales."""
FLOOR: Final = 0.0001
"""The smallest price impact on the scale. Smaller impacts, and gains, are drawn there."""
_MIN_TICK_GAP: Final = 14.0


class Scale(NamedTuple):
    """A logarithmic scale, from one value at `start` to another at `end`, in pixels."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the position of a value. A value beyond an end of the scale is drawn at that end."""
        part = (log10(min(max(value, self.low), self.high)) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + part * (self.end - self.start)

    @property
    def powers(self) -> Iterator[float]:
        """The powers of ten on the scale."""
        first, last = ceil(log10(self.low) - 1e-9), floor(log10(self.high) + 1e-9)
        return (10.0**exponent for exponent in range(first, last + 1))


def render_depth_chart(depth: Depth, width: int = DEFAULT_WIDTH) -> str:
    """Return the chart of market depth as an SVG document that is `width` pixels wide."""
    unit = 10**depth.token_in.decimals
    known = [point for point in depth.points if point.impact]
    amounts = [point.amount_in / unit for point in depth.points]
    across = Scale(amounts[0], max(amounts[-1], amounts[0] * 10), LEFT, width - RIGHT)
    highest = max((point.impact.fraction for point in known if point.impact), default=FLOOR)
    upwards = Scale(FLOOR, max(highest, FLOOR * 10), HEIGHT - BOTTOM, TOP)
    title = f"Price impact of {format_symbol(depth.token_in)} to {format_symbol(depth.token_out)}"
    middle = (LEFT + width - RIGHT) / 2
    elements = [
        text_element("title", 12, 24, "start", fit_text(title, width - 24, TITLE_SIZE, is_bold=True)),
        *ticks_across(
            ((across.place(each), _compact(each)) for each in across.powers), TOP, HEIGHT - BOTTOM, _MIN_TICK_GAP
        ),
        *_impact_ticks(upwards, width),
        *(_level(level, depth, across, upwards) for level in depth.levels if level.within),
        *_line(known, depth, across, upwards),
        text_element("note", middle, HEIGHT - BOTTOM + 32, "middle", format_symbol(depth.token_in)),
        text_element("note", 12, HEIGHT - 10, "start", fit_text(_footer(depth), width - 24, NOTE_SIZE)),
    ]
    return svg_document("depth", title, _describe(depth), _STYLE, width, HEIGHT, elements)


def _describe(depth: Depth) -> str:
    """Describe the levels in words, for those who cannot see the chart."""
    reached = [
        f"{_percent(level.fraction)} at {in_tokens(level.within.amount_in, depth.token_in)}"
        for level in depth.levels
        if level.within and level.beyond
    ]
    return f"The price impact reaches {'; '.join(reached)}" if reached else "The price impact reaches no level."


def _footer(depth: Depth) -> str:
    return f"{depth.network.name}, {depth.figures.state.kind or 'unknown'} state. Both scales are logarithmic."


def _impact_ticks(scale: Scale, width: int) -> Iterator[str]:
    for value in scale.powers:
        y = scale.place(value)
        yield f'<path class="grid" d="M{px(LEFT)} {px(y)}H{px(width - RIGHT)}"/>'
        label = f"{'≤ ' if value == FLOOR else ''}{_percent(value)}"
        yield text_element("note", LEFT - 8, y + 4, "end", label)


def _level(level: DepthLevel, depth: Depth, across: Scale, upwards: Scale) -> str:
    """Return the mark of a level: its point on the line, with the amount in a tooltip."""
    if level.within is None or level.beyond is None:
        return ""
    x, y = across.place(level.within.amount_in / 10**depth.token_in.decimals), upwards.place(level.fraction)
    text = f"{_percent(level.fraction)} at {in_tokens(level.within.amount_in, depth.token_in)}"
    is_right = x > (across.start + across.end) / 2
    side, x_text, y_text = ("end", x - 9, y - 7) if is_right else ("start", x + 9, y + 15)
    label = text_element("level", x_text, y_text, side, text)
    return f'<g><title>{escape_text(text)}</title><circle class="mark" cx="{px(x)}" cy="{px(y)}" r="4.5"/>{label}</g>'


def _line(points: list[DepthPoint], depth: Depth, across: Scale, upwards: Scale) -> Iterator[str]:
    unit = 10**depth.token_in.decimals
    places = [
        (across.place(point.amount_in / unit), upwards.place(point.impact.fraction)) for point in points if point.impact
    ]
    if len(places) > 1:
        yield f'<path class="line" d="M{"L".join(f"{px(x)} {px(y)}" for x, y in places)}"/>'
    for point, (x, y) in zip(points, places, strict=True):
        text = f"{in_tokens(point.amount_in, depth.token_in)} to {in_tokens(point.amount_out, depth.token_out)}"
        impact = _percent(point.impact.fraction) if point.impact else "unknown"
        tooltip = escape_text(f"{text}: price impact {impact}")
        yield f'<g><title>{tooltip}</title><circle class="dot" cx="{px(x)}" cy="{px(y)}" r="2.5"/></g>'


def _percent(fraction: float) -> str:
    return f"{format_significant(Decimal(repr(round(fraction * 100, 10))), 3)}%"


def _compact(value: float) -> str:
    """Format a power of ten with at most three digits before k, M, B or T."""
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size <= value:
            return f"{value / size:,.0f}{suffix}"
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def _colors(mode: int) -> Rules:
    fills = {".surface": SURFACE, ".title": TEXT, ".level": TEXT, ".note": MUTED, ".dot": HUES[0], ".mark": SURFACE}
    return paint(fills, {".line": HUES[0], ".mark": HUES[2], ".grid": MUTED, ".level": SURFACE}, mode)


_STYLE = style_sheet(
    "depth",
    [
        ("text", "unicode-bidi:isolate"),
        (".title", f"font-size:{TITLE_SIZE:g}px;font-weight:600"),
        (".level", "font-weight:600;stroke-width:3px;stroke-linejoin:round;paint-order:stroke"),
        (".note", f"font-size:{NOTE_SIZE:g}px"),
        (".line", "fill:none;stroke-width:2px;stroke-linejoin:round"),
        (".mark", "stroke-width:2px"),
        (".grid", "fill:none;stroke-width:1px;stroke-opacity:.25"),
    ],
    _colors,
)
