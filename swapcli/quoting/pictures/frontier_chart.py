"""The frontier of a plan as an SVG chart: expected cost against the output's standard deviation, both in output tokens.

It is self-contained, and has the same colors and font as the picture of a route.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from math import floor, log10
from typing import Final

from swapcli.core.model.network import Network
from swapcli.core.model.number_format import format_significant
from swapcli.core.model.token import Token, in_tokens
from swapcli.core.records import NamedTuple
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
LEFT, RIGHT, TOP, BOTTOM = 84.0, 24.0, 44.0, 62.0
"""The margins of the chart, which hold its title and the labels of its scales."""
_TICKS: Final = 5
_DIGITS: Final = 4
_MIN_TICK_GAP: Final = 10.0


class FrontierDot(NamedTuple):
    """A plan on the frontier: its parts and seconds, with cost and deviation in base units of the output token."""

    parts: int
    duration_s: float
    cost: float
    deviation: float


class FrontierChart(NamedTuple):
    """The frontier for an order of `amount_in` base units, and the `chosen` plan."""

    network: Network
    token_in: Token
    token_out: Token
    amount_in: int
    dots: tuple[FrontierDot, ...]
    chosen: FrontierDot


class _Scale(NamedTuple):
    """A linear scale from 0 at `start` to a value at `end`, in pixels."""

    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        """Return the position of a value."""
        return self.start + (self.end - self.start) * value / self.high

    @property
    def ticks(self) -> Iterator[float]:
        """About five round values on the scale."""
        rough = self.high / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough)
        return (number * step for number in range(int(self.high / step) + 1))


def render_frontier_chart(chart: FrontierChart, width: int = DEFAULT_WIDTH) -> str:
    """Return the chart as an SVG document that is `width` pixels wide."""
    unit = 10.0**chart.token_out.decimals
    dots = [(dot.deviation / unit, dot.cost / unit, dot) for dot in (*chart.dots, chart.chosen)]
    across = _Scale(max(*(deviation for deviation, _, _ in dots), 1 / unit) * 1.05, LEFT, width - RIGHT)
    upwards = _Scale(max(*(cost for _, cost, _ in dots), 1 / unit) * 1.05, HEIGHT - BOTTOM, TOP)
    order = in_tokens(chart.amount_in, chart.token_in)
    title = f"Cost and risk of selling {order} for {format_symbol(chart.token_out)}"
    middle = (LEFT + width - RIGHT) / 2
    places = [(across.place(deviation), upwards.place(cost), dot) for deviation, cost, dot in dots]
    symbol = format_symbol(chart.token_out)
    elements = [
        text_element("title", 12, 24, "start", fit_text(title, width - 24, TITLE_SIZE, is_bold=True)),
        *ticks_across(
            ((across.place(each), _amount(each)) for each in across.ticks), TOP, HEIGHT - BOTTOM, _MIN_TICK_GAP
        ),
        *_upward_ticks(upwards, width),
        f'<path class="line" d="M{"L".join(f"{px(x)} {px(y)}" for x, y, _ in places[:-1])}"/>',
        *(_dot("dot", 3.0, x, y, _words(dot, chart)) for x, y, dot in places[:-1]),
        _dot("mark", 5.0, *places[-1][:2], f"this plan: {_words(chart.chosen, chart)}"),
        text_element("note", middle, HEIGHT - BOTTOM + 32, "middle", f"standard deviation of the output in {symbol}"),
        text_element("note", 12, HEIGHT - 10, "start", fit_text(_footer(chart), width - 24, NOTE_SIZE)),
    ]
    return svg_document("frontier", title, _describe(chart), _STYLE, width, HEIGHT, elements)


def _words(dot: FrontierDot, chart: FrontierChart) -> str:
    token = chart.token_out
    cost, deviation = (_amount(value / 10.0**token.decimals) for value in (dot.cost, dot.deviation))
    parts = f"{dot.parts} part{'s' if dot.parts > 1 else ''} in {dot.duration_s / 60:,.0f} min"
    return f"{parts}: cost {cost}, deviation {deviation} {format_symbol(token)}"


def _describe(chart: FrontierChart) -> str:
    """Describe the frontier in words, for those who cannot see the chart."""
    return f"This plan: {_words(chart.chosen, chart)}. Others: {'; '.join(_words(dot, chart) for dot in chart.dots)}."


def _footer(chart: FrontierChart) -> str:
    axis = f"The vertical axis is the expected cost in {format_symbol(chart.token_out)}"
    return f"{chart.network.name}. {axis}. The ring marks this plan."


def _dot(kind: str, radius: float, x: float, y: float, words: str) -> str:
    return (
        f'<g><title>{escape_text(words)}</title><circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="{radius:g}"/></g>'
    )


def _upward_ticks(scale: _Scale, width: int) -> Iterator[str]:
    for value in scale.ticks:
        y = scale.place(value)
        yield f'<path class="grid" d="M{px(LEFT)} {px(y)}H{px(width - RIGHT)}"/>'
        yield text_element("note", LEFT - 8, y + 4, "end", _amount(value))


def _amount(value: float) -> str:
    return format_significant(Decimal(repr(float(f"{value:.{_DIGITS}g}"))), _DIGITS)


def _colors(mode: int) -> Rules:
    fills = {".surface": SURFACE, ".title": TEXT, ".note": MUTED, ".dot": HUES[0], ".mark": SURFACE}
    return paint(fills, {".line": HUES[0], ".mark": HUES[2], ".grid": MUTED}, mode)


_STYLE = style_sheet(
    "frontier",
    [
        ("text", "unicode-bidi:isolate"),
        (".title", f"font-size:{TITLE_SIZE:g}px;font-weight:600"),
        (".note", f"font-size:{NOTE_SIZE:g}px"),
        (".line", "fill:none;stroke-width:2px;stroke-linejoin:round"),
        (".mark", "stroke-width:2px"),
        (".grid", "fill:none;stroke-width:1px;stroke-opacity:.25"),
    ],
    _colors,
)
