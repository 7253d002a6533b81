"""The text that `backtest` prints, with the spread of each order's quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from swapcli import Backtest, BacktestSummary, Distribution, OrderSummary
from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_significant
from swapcli.core.model.token import in_tokens
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.median_note import median_note
from swapcli.faces.cli.render.quote_facts import Fact, symbol

COLUMNS = (
    Column("id"),
    Column("sold"),
    Column("for"),
    Column("quotes", is_whole=True, drop_order=1),
    Column("median rate", is_whole=True),
    Column("p5 to p95", drop_order=2),
    Column("wins", is_whole=True),
    Column("median gain", is_whole=True),
)
_RATE_DIGITS = 7


def build_backtest_view(found: Backtest) -> DetailView:
    """Build the view: what was quoted, how often the split route wins, and a row for each order."""
    network, blocks, summary, _ = found
    listing = ListView(COLUMNS, tuple(_row(each) for each in summary.orders)).without_empty_columns()
    count = len(summary.orders)
    title = f"{count} order{'s' if count != 1 else ''} at {len(blocks):,} past blocks of {network.name}"
    return DetailView(printable(title), tuple(_facts(blocks, summary)), lists=(listing,))


def _facts(blocks: Sequence[int], summary: BacktestSummary) -> Iterator[Fact]:
    step = f"every {blocks[1] - blocks[0]:,}" if len(blocks) > 1 else ""
    yield Fact("Blocks", f"{blocks[0]:,} to {blocks[-1]:,}", step)
    yield Fact("Quotes", f"{summary.quoted:,}", f"{summary.failed:,} without a route" if summary.failed else "")
    if summary.gains is None or summary.win_share is None:
        return
    yield Fact("Wins", f"{summary.win_share:.1%}", "the split route pays more after gas than the best single path")
    note = median_note(summary.gains, f"{summary.gains.p05:+,.2f} to {summary.gains.p95:+,.2f}")
    yield Fact("Gain", f"{summary.gains.median:+,.2f} bps", note)


def _row(found: OrderSummary) -> tuple[str, ...]:
    order = found.order
    failed = f" ({found.failed} failed)" if found.failed else ""
    return (
        printable(order.id),
        in_tokens(order.amount_in, order.token_in),
        symbol(order.token_out),
        f"{found.quoted}{failed}",
        "" if found.rates is None else _rate(found.rates.median),
        _range(found.rates),
        "" if found.win_share is None else f"{found.win_share:.0%}",
        "" if found.gains is None else f"{found.gains.median:+,.2f} bps",
    )


def _range(rates: Distribution | None) -> str:
    return f"{_rate(rates.p05)} to {_rate(rates.p95)}" if rates and rates.has_tails else ""


def _rate(value: float) -> str:
    return format_significant(Decimal(repr(value)), _RATE_DIGITS)
