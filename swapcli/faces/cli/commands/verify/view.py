"""The text that `verify` prints: the swaps of a mined transaction with their quotes."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli import Verification, VerifiedSwap
from swapcli.core.encoding.text import printable
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact, exact_amount
from swapcli.state.mined.swap_verification import Outcome

COLUMNS = (Column("pool", has_pool_ids=True), Column("sold"), Column("paid"), Column("quote"), Column("note"))


def build_verification_view(found: Verification) -> DetailView:
    """Build the view: how many swaps are equal, the net swap, what the best route would have paid, and the swaps."""
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


def _amount(found: Verification, address: str | None, amount: int) -> str:
    token = found.tokens.get(address or "")
    return exact_amount(amount, token) if token else f"{amount} raw"
