"""The view of market depth, as text with bars."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Final

from swapcli import Depth, DepthLevel, DepthPoint, Token
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_percentage, format_short_amount, format_usd
from swapcli.core.model.price_impact import ImpactBasis
from swapcli.core.model.token import in_tokens, whole_tokens
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import IMPACT_NOTES, Fact, symbol
from swapcli.faces.cli.render.state_wording import describe_origin, unreal_label

BAR_TITLE: Final = "log scale"
MAX_BAR_WIDTH: Final = 24
_IMPACT: Final = Column("impact", is_whole=True)
_GAP: Final = 2
_SMALLEST_BAR: Final = 0.0001
"""The price impact at which a bar is empty. Bars grow with the logarithm of the impact, which covers several orders of
magnitude."""
_FEES: Final = {
    ImpactBasis.USD: "pool fees included",
    ImpactBasis.POOLS: "without pool fees",
    ImpactBasis.SERVICE: "",
}


def build_depth_details(depth: Depth, width: int | None = None) -> DetailView:
    """Build the view of market depth. If the terminal's `width` is given and leaves room, it has bars."""
    title = f"Depth of {symbol(depth.token_in)} → {symbol(depth.token_out)} on {depth.network.name}"
    lists = (_level_list(depth), _point_list(depth, width))
    return DetailView(printable(title), tuple(_facts(depth)), lists=lists, label=unreal_label(depth.figures.state))


def _facts(depth: Depth) -> Iterator[Fact]:
    if not unreal_label(depth.figures.state):
        yield Fact("State", describe_origin(depth.figures.state))
    basis = next((point.impact.basis for point in depth.points if point.impact), None)
    if basis is not None:
        yield Fact("Impact", IMPACT_NOTES[basis], _FEES[basis])
    if depth.has_end:
        last = depth.points[-1].amount_in
        yield Fact("Liquidity", "ends", f"no route above {in_tokens(last, depth.token_in)}")


def _level_list(depth: Depth) -> ListView:
    columns = level_columns(symbol(depth.token_in), symbol(depth.token_out))
    return ListView(columns, tuple(_level_row(level, depth) for level in depth.levels))


def level_columns(sold: str, bought: str) -> tuple[Column, ...]:
    """Return the columns of the list of impact levels. `sold` and `bought` are the tokens' symbols."""
    return _IMPACT, *_amount_columns(sold, bought), Column("at the next amount")


def point_columns(sold: str, bought: str, *, has_bars: bool = False) -> tuple[Column, ...]:
    """Return the columns of the list of quotes. `sold` and `bought` are the tokens' symbols."""
    return *_amount_columns(sold, bought), _IMPACT, *[Column(BAR_TITLE, is_whole=True)] * has_bars


def _amount_columns(sold: str, bought: str) -> tuple[Column, Column, Column]:
    return Column(sold, is_symbol=True), Column("USD", drop_order=1), Column(bought, is_symbol=True)


def _level_row(level: DepthLevel, depth: Depth) -> tuple[str, ...]:
    name = f"{level.fraction * 100:g}%"
    if level.within is None:
        return name, "", "", "", "exceeded at the smallest amount"
    amounts = _amounts(level.within, depth)
    if level.beyond is None or level.beyond.impact is None:
        return name, *amounts, "not reached before the liquidity runs out"
    beyond = whole_tokens(level.beyond.amount_in, depth.token_in.decimals)
    return name, *amounts, f"{level.beyond.impact.fraction * 100:.4f}% at {beyond}"


def _point_list(depth: Depth, width: int | None) -> ListView:
    rows = [(*_amounts(point, depth), _impact(point)) for point in depth.points]
    symbols = symbol(depth.token_in), symbol(depth.token_out)
    columns = point_columns(*symbols)
    titles = [column.title for column in columns]
    text_width = sum(max(map(len, column)) + _GAP for column in zip(titles, *rows, strict=True))
    room = min((width or 0) - text_width, MAX_BAR_WIDTH)
    if room < len(BAR_TITLE):
        return ListView(columns, tuple(rows))
    largest = max((point.impact.fraction for point in depth.points if point.impact), default=0.0)
    bars = [_bar(point, largest, room) for point in depth.points]
    with_bars = tuple((*row, bar) for row, bar in zip(rows, bars, strict=True))
    return ListView(point_columns(*symbols, has_bars=True), with_bars)


def _amounts(point: DepthPoint, depth: Depth) -> tuple[str, str, str]:
    return (
        _whole(point.amount_in, depth.token_in),
        "" if point.sold_usd is None else format_usd(point.sold_usd),
        format_short_amount(point.amount_out, depth.token_out.decimals),
    )


def _whole(amount: int, token: Token) -> str:
    return whole_tokens(amount, token.decimals)


def _impact(point: DepthPoint) -> str:
    return "unknown" if point.impact is None else format_percentage(point.impact.fraction)


def _bar(point: DepthPoint, largest: float, width: int) -> str:
    """Return a bar whose length is the logarithm of the price impact, in eighths of a character."""
    fraction = point.impact.fraction if point.impact else 0.0
    if fraction <= _SMALLEST_BAR or largest <= _SMALLEST_BAR:
        return ""
    whole, eighths = divmod(round(8 * width * log(fraction / _SMALLEST_BAR) / log(largest / _SMALLEST_BAR)), 8)
    return "█" * whole + " ▏▎▍▌▋▊▉"[eighths].strip()
