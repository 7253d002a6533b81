"""The contents of a store: in detail, and as a row of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_gas_price, format_megabytes, format_rough_usd
from swapcli.core.model.transfer_behaviour import TransferKind
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.faces.cli.render.state_wording import describe_origin, short_age

if TYPE_CHECKING:
    from swapcli import ExportedMarket, Network, RemovedStore, StateSource, StoreInfo, StoreList

EMPTY = "empty"
STORE_COLUMNS = (
    Column("network"),
    Column("state"),
    Column("block", is_whole=True),
    Column("age"),
    Column("pools", is_whole=True),
    Column("tokens", is_whole=True, drop_order=2),
    Column("size", is_whole=True, drop_order=1),
    Column("store", goes_below=True, keeps_end=True),
)
HOLDING_COLUMNS = (
    Column("protocol", readable_width=20),
    Column("pools", is_whole=True),
    Column("liquidity", is_whole=True),
)


def build_store_details(
    found: StoreInfo,
    network: Network | None,
    *,
    done: str = "",
    note: str = "",
    more: Sequence[Fact] = (),
    listings: Sequence[ListView] = (),
) -> DetailView:
    """Build the details of a store with its pools by protocol; `more` facts and `listings` follow.

    `network` gives the protocols their names, and is None if it is unknown. `done` in the title says what happened to
    the store. `note` is next to the number of its pools.
    """
    summary = found.summary
    return DetailView(
        title=_title(summary.network, done, summary.pools) + note,
        facts=(*_facts(found), *more),
        copyable=(("Store", printable(summary.path)),),
        lists=(_holdings(found, network), *listings) if summary.protocols else tuple(listings),
    )


def build_store_list(found: StoreList) -> ListView:
    """Build the list of all stores."""
    return ListView(STORE_COLUMNS, tuple(map(_row, found.stores)))


def build_export_details(exported: ExportedMarket) -> DetailView:
    """Build the details of a market written to a file."""
    market = exported.market
    return DetailView(
        title=_title(market.network.name, "exported", len(market.pools)),
        facts=(*_state(exported.state), Fact("Tokens", f"{exported.tokens:,}")),
        copyable=(("File", printable(exported.file)),),
    )


def build_removal_details(removed: RemovedStore) -> DetailView:
    """Build the details of a removed store."""
    damaged = f"{printable(removed.network)} removed: the store was damaged"
    return DetailView(
        title=damaged if removed.pools is None else _title(removed.network, "removed", removed.pools),
        facts=(),
        copyable=(("Store", printable(removed.path)),),
    )


def _title(network: str, done: str, pools: int) -> str:
    """Return the first line, such as "base synced: 220 pools"."""
    return f"{printable(network)}{' ' if done else ''}{done}: {pools:,} pool{'s' if pools != 1 else ''}"


def _facts(found: StoreInfo) -> Iterator[Fact]:
    summary, state_source = found.summary, found.state
    yield from [Fact("State", EMPTY, "nothing is stored yet")] if found.is_empty else _state(state_source)
    if undoable := summary.undoable_blocks:
        blocks = f"{undoable:,} block{'s' if undoable != 1 else ''}"
        yield Fact("History", blocks, "can be undone after a chain reorganization")
    yield Fact("Gas price", format_gas_price(summary.gas_price_wei))
    yield Fact("Tokens", f"{summary.tokens:,}")
    if transfers := _transfers(found):
        yield transfers
    yield Fact("Size", format_megabytes(summary.size_bytes))


def _state(state_source: StateSource) -> Iterator[Fact]:
    """Describe the state, and its block and age as far as they are known."""
    yield Fact("State", describe_origin(state_source), printable(state_source.description))
    if state_source.is_live:
        return  # `describe_origin` has both
    age = short_age(state_source.age_s)
    if state_source.block is not None:
        yield Fact("Block", f"{state_source.block:,}", f"{age} old" if age else "")
    elif age:
        yield Fact("Age", age)


def _transfers(found: StoreInfo) -> Fact | None:
    """Return how the tokens transfer, or None if none was tested."""
    counts = dict(found.summary.transfers)
    untried = counts.pop(TransferKind.UNKNOWN, 0)
    if not counts:
        return None
    text = ", ".join(f"{count:,} {_KINDS[kind]}" for kind, count in counts.items())
    return Fact("Transfers", text, f"{untried:,} not tested" if untried else "")


_KINDS = {
    TransferKind.ORDINARY: "ordinary",
    TransferKind.SHARES: "count in shares",
    TransferKind.REFUSED: "rejected a test transfer",
    TransferKind.FEE: "charge a fee",
    TransferKind.IRREGULAR: "are irregular",
}


def _holdings(found: StoreInfo, network: Network | None) -> ListView:
    rows = tuple(
        (printable(_name(network, each.protocol)), f"{each.pools:,}", format_rough_usd(each.depth_usd))
        for each in found.summary.protocols
    )
    return ListView(columns=HOLDING_COLUMNS, rows=rows)


def _name(network: Network | None, protocol: str) -> str:
    found = network.protocol(protocol) if network else None
    return found.display_name if found else protocol


def _row(found: StoreInfo) -> tuple[str, ...]:
    summary, state_source = found.summary, found.state
    return (
        printable(summary.network),
        EMPTY if found.is_empty else summary.provenance.value,
        "-" if state_source.block is None else f"{state_source.block:,}",
        short_age(state_source.age_s) or "-",
        f"{summary.pools:,}",
        f"{summary.tokens:,}",
        format_megabytes(summary.size_bytes),
        printable(summary.path),
    )
