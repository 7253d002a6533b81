"""The text that `verify` prints: mined swaps with their quotes, for a transaction or by protocol."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli import RecentSwap, RecentVenue, RecentVerification, VenueStatus, Verification, VerifiedSwap
from swapcli.core.encoding.text import counted, printable
from swapcli.core.model.units import BPS
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, exact_amount
from swapcli.state.mined.swap_verification import Outcome

COLUMNS = (Column("pool", has_pool_ids=True), Column("sold"), Column("paid"), Column("quote"), Column("note"))


def build_view(found: Verification | RecentVerification) -> DetailView:
    """Build the view of a verified transaction, or of the latest swaps of each protocol."""
    return build_verification_view(found) if isinstance(found, Verification) else build_recent_view(found)


def build_verification_view(found: Verification) -> DetailView:
    """Build the view: how many swaps match, the net swap, the best route's output, and the swaps."""
    rows = tuple(_row(found, swap) for swap in found.swaps)
    if any(row[-1] for row in rows):
        listing = ListView(COLUMNS, rows)
    else:
        listing = ListView(COLUMNS[:-1], tuple(row[:-1] for row in rows))
    title = f"{found.transaction} on {found.network.name}"
    return DetailView(printable(title), tuple(_facts(found)), lists=(listing,))


def _facts(found: Verification) -> Iterator[Fact]:
    yield Fact("State", f"block {found.parent.number:,}", f"and the earlier events of block {found.block.number:,}")
    counts = [
        f"{count} {text}"
        for outcome, text in (
            (Outcome.EQUAL, "equal"),
            (Outcome.DIFFERENT, "different"),
            (Outcome.NOT_EXPLAINED, "not explained"),
        )
        if (count := found.count(outcome))
    ]
    yield Fact("Swaps", ", ".join(counts), "quoted on the state just before each")
    net = found.net
    if net is None:
        yield Fact("Net swap", "unknown", "the swaps do not add up to one token sold and one bought")
        return
    amounts = _amount(found, net.token_in, net.amount_in), _amount(found, net.token_out, net.amount_out)
    yield Fact("Net swap", " → ".join(amounts))
    if found.best is None or found.best.quote is None:
        yield Fact("Best route", "unknown", printable(found.best.problem) if found.best else "")
        return
    best = found.best.quote.result.output_amount
    note = "" if found.better_bps is None else f"{found.better_bps:+,.2f} bps at block {found.parent.number:,}"
    yield Fact("Best route", _amount(found, net.token_out, best), note)


def _row(found: Verification, swap: VerifiedSwap) -> tuple[str, ...]:
    amounts = swap.event.amounts
    quote = {Outcome.EQUAL: "equal", Outcome.NOT_EXPLAINED: "not explained"}.get(swap.outcome)
    if quote is None:
        quote = "refused" if swap.quoted is None else f"{swap.quoted - amounts.amount_out:+,} units"
    return (
        _pool(found, swap),
        _amount(found, swap.token_in, amounts.amount_in),
        _amount(found, swap.token_out, amounts.amount_out),
        quote,
        printable(swap.reason),
    )


def _pool(found: Verification, swap: VerifiedSwap) -> str:
    if swap.pool is None:
        return swap.event.key
    protocol = found.network.protocol(swap.pool.protocol)
    return printable(protocol.display_name if protocol else swap.pool.protocol)


def _amount(found: Verification | RecentVerification, address: str | None, amount: int) -> str:
    token = found.tokens.get(address or "")
    return exact_amount(amount, token) if token else f"{amount} base units"


RECENT_COLUMNS = (
    Column("protocol", readable_width=20),
    Column("equal", is_whole=True),
    Column("different", is_whole=True),
    Column("not explained", is_whole=True),
    Column("blocks", is_whole=True),
    Column("note", readable_width=24, goes_below=True),
)
DIFFERENCE_COLUMNS = (
    Column("protocol", readable_width=20),
    Column("sold"),
    Column("paid"),
    Column("quote"),
    Column("block", is_whole=True),
    Column("transaction"),
)

_FEW_UNITS = 1_000


def build_recent_view(found: RecentVerification) -> DetailView:
    """Build the view: the counts, a row for each searched protocol, and each swap that differs."""
    searched = [venue for venue in found.venues if venue.status is not VenueStatus.NOT_SEARCHED]
    lists = [ListView(RECENT_COLUMNS, tuple(_venue_row(found, venue) for venue in searched))] if searched else []
    differing = [(venue, each) for venue in searched for each in venue.swaps if each.swap.outcome is Outcome.DIFFERENT]
    if differing:
        lists.append(ListView(DIFFERENCE_COLUMNS, tuple(_difference_row(found, *each) for each in differing)))
    title = f"The last {counted(found.per_venue, 'swap')} of each protocol on {found.network.name}"
    return DetailView(printable(title), tuple(_recent_facts(found, searched)), lists=tuple(lists))


def _recent_facts(found: RecentVerification, searched: list[RecentVenue]) -> Iterator[Fact]:
    yield Fact("Latest block", f"{found.head.number:,}", f"{counted(found.requests, 'request')} sent")
    counts = ", ".join(
        f"{found.total(outcome)} {text}"
        for outcome, text in (
            (Outcome.EQUAL, "equal"),
            (Outcome.DIFFERENT, "different"),
            (Outcome.NOT_EXPLAINED, "not explained"),
        )
    )
    yield Fact("Swaps", counts, "quoted on the state just before each")
    without = sum(venue.status is VenueStatus.NONE_FOUND for venue in searched)
    yield Fact("Protocols", f"{len(searched)} searched", f"{without} of them without a swap" if without else "")
    reasons: dict[str, list[str]] = {}
    for venue in found.venues:
        if venue.status is VenueStatus.NOT_SEARCHED:
            reasons.setdefault(venue.reason or "the run ended before the search", []).append(venue.protocol.amm_name)
    for reason, names in reasons.items():
        yield Fact("Not searched", str(len(names)), printable(f"{reason}: {', '.join(names)}"))


def _venue_row(found: RecentVerification, venue: RecentVenue) -> tuple[str, ...]:
    blocks = 0 if venue.searched_from is None else found.head.number - venue.searched_from + 1
    reasons = dict.fromkeys(
        each.swap.reason for each in venue.swaps if each.swap.outcome is Outcome.NOT_EXPLAINED and each.swap.reason
    )
    none = {VenueStatus.NONE_FOUND: "no swap found", VenueStatus.NOT_VERIFIED: f"{venue.found} found, not verified"}
    return (
        printable(venue.protocol.display_name),
        *(str(venue.count(outcome) or "-") for outcome in (Outcome.EQUAL, Outcome.DIFFERENT, Outcome.NOT_EXPLAINED)),
        f"{blocks:,}",
        printable("; ".join(filter(None, [none.get(venue.status, ""), venue.reason, *reasons]))),
    )


def _difference(swap: VerifiedSwap) -> str:
    """Return how much higher the quote is: in units if there are few, otherwise in basis points."""
    if swap.quoted is None:
        return "refused"
    paid = swap.event.amounts.amount_out
    units = swap.quoted - paid
    return f"{units:+,} units" if abs(units) < _FEW_UNITS or not paid else f"{BPS * units / paid:+,.2f} bps"


def _difference_row(found: RecentVerification, venue: RecentVenue, each: RecentSwap) -> tuple[str, ...]:
    swap, amounts = each.swap, each.swap.event.amounts
    return (
        printable(venue.protocol.display_name),
        _amount(found, swap.token_in, amounts.amount_in),
        _amount(found, swap.token_out, amounts.amount_out),
        _difference(swap),
        f"{each.block:,}",
        each.transaction,
    )
