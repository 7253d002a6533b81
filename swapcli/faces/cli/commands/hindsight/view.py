"""The text and the chart of `hindsight`."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli import Distribution, Hindsight, HindsightSummary, SwapHindsight
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.median_note import median_note
from swapcli.faces.cli.render.quote_facts import Fact, exact_amount

VENUE_COLUMNS = (
    Column("protocol"),
    Column("used by", is_whole=True),
    Column("would use", is_whole=True),
    Column("median bps", is_whole=True),
    Column("p5 to p95", drop_order=1),
)
SWAP_COLUMNS = (
    Column("transaction", has_pool_ids=True),
    Column("block", is_whole=True, drop_order=1),
    Column("sold"),
    Column("got"),
    Column("best route"),
    Column("bps", is_whole=True),
    Column("after gas", is_whole=True),
)
REASON_COLUMNS = (Column("not explained", has_pool_ids=True), Column("reason"))


def build_hindsight_view(found: Hindsight) -> DetailView:
    """Build the view: the summary, followed by protocols, transactions, and unexplained transactions."""
    network, swaps, summary = found
    explained = [swap for swap in swaps if swap.is_explained]
    others = [swap for swap in swaps if not swap.is_explained]
    lists = []
    if explained:
        venues = tuple(
            (
                printable(venue.name),
                str(venue.used),
                str(venue.would_use),
                _bps(venue.bps.median if venue.bps else None),
                _range(venue.bps),
            )
            for venue in summary.venues
        )
        lists.append(ListView(VENUE_COLUMNS, venues).without_empty_columns())
        lists.append(ListView(SWAP_COLUMNS, tuple(_row(swap) for swap in explained)))
    if others:
        rows = tuple((swap.transaction, printable(swap.reason)) for swap in others)
        lists.append(ListView(REASON_COLUMNS, rows))
    title = f"{len(swaps)} mined transaction{'s' if len(swaps) != 1 else ''} on {network.name}"
    return DetailView(printable(title), tuple(_facts(summary)), lists=tuple(lists))


def _facts(summary: HindsightSummary) -> Iterator[Fact]:
    others = f"{summary.not_explained} not explained" if summary.not_explained else ""
    yield Fact("Explained", str(summary.explained), others)
    if summary.bps is None:
        return
    counts = f"{summary.better} better, {summary.equal} equal, {summary.worse} worse"
    yield Fact("Best route", counts, "after gas, at the parent block")
    yield Fact("Difference", f"{_bps(summary.bps.median)} bps", median_note(summary.bps, _range(summary.bps)))


def _row(swap: SwapHindsight) -> tuple[str, ...]:
    found = swap.verification
    assert found is not None
    assert found.net is not None
    net = found.net
    sold, bought = found.tokens.get(net.token_in), found.tokens.get(net.token_out)

    def got(amount: int | None) -> str:
        if amount is None:
            return ""
        return exact_amount(amount, bought) if bought else f"{amount} base units"

    return (
        swap.transaction,
        str(found.block.number),
        exact_amount(net.amount_in, sold) if sold else f"{net.amount_in} base units",
        got(swap.amount_out),
        got(swap.best_amount_out),
        _bps(swap.difference_bps),
        _bps(swap.net_difference_bps),
    )


def _bps(value: float | None) -> str:
    return "" if value is None else f"{value:+,.2f}"


def _range(found: Distribution | None) -> str:
    return f"{_bps(found.p05)} to {_bps(found.p95)}" if found and found.has_tails else ""
