"""The contents of a store: in detail, and as a row of a list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.number_format import format_megabytes, format_time
from swapcli.core.model.token import whole_tokens
from swapcli.core.model.transfer_behaviour import TransferKind
from swapcli.core.model.units import GWEI_DECIMALS
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.quoting.warnings import NOT_LIVE, format_age

if TYPE_CHECKING:
    from swapcli import ExportedMarket, RemovedStore, StateSource, StoreInfo, StoreList

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
    Column("protocol"),
    Column("family"),
    Column("pools", is_whole=True),
    Column("depth (approx.)", is_whole=True),
)


def build_store_details(
    title: str, found: StoreInfo, *, more: Sequence[Fact] = (), listings: Sequence[ListView] = ()
) -> DetailView:
    """Build the details of a store with its pools by protocol; `more` facts and `lists` follow."""
    summary = found.summary
    return DetailView(
        title=title,
        facts=(*_facts(found), *more),
        copyable=(("Store", printable(summary.path)),),
        lists=(_holdings(found), *listings) if summary.protocols else tuple(listings),
    )


def build_store_list(found: StoreList) -> ListView:
    """Build the list of all stores."""
    return ListView(STORE_COLUMNS, tuple(map(_row, found.stores)))


def build_export_details(exported: ExportedMarket) -> DetailView:
    """Build the details of a market written to a file."""
    market = exported.market
    return DetailView(
        title=f"{printable(market.network.name)}, exported",
        facts=(_state(exported.state), _pools(len(market.pools), exported.tokens)),
        copyable=(("File", printable(exported.file)),),
    )


def build_removal_details(removed: RemovedStore) -> DetailView:
    """Build the details of a removed store."""
    pools = "unknown, since the store was damaged" if removed.pools is None else f"{removed.pools:,}"
    return DetailView(
        title=f"{printable(removed.network)}, removed",
        facts=(Fact("Pools", pools),),
        copyable=(("Store", printable(removed.path)),),
    )


def _facts(found: StoreInfo) -> Iterator[Fact]:
    summary, state_source = found.summary, found.state
    yield Fact("Network", printable(summary.network), f"chain {summary.chain_id}")
    yield Fact("State", EMPTY, "nothing is stored yet") if found.is_empty else _state(state_source)
    if state_source.block is not None:
        unproven = "not proven by the node" if state_source.pinned is False else ""
        yield Fact(
            "Block", str(state_source.block), ", ".join(filter(None, [unproven, _back(summary.undoable_blocks)]))
        )
    if state_source.timestamp is not None and state_source.age_s is not None:
        yield Fact("Time", format_time(state_source.timestamp), format_age(state_source.age_s))
    yield Fact("Gas price", f"{whole_tokens(summary.gas_price_wei, GWEI_DECIMALS)} gwei")
    yield _pools(summary.pools, summary.tokens)
    if transfers := _transfers(found):
        yield transfers
    yield Fact("Size", format_megabytes(summary.size_bytes))


def _state(state_source: StateSource) -> Fact:
    live = "" if state_source.is_live else NOT_LIVE
    return Fact(
        "State", str(state_source.provenance), ", ".join(filter(None, [live, printable(state_source.description)]))
    )


def _pools(pools: int, tokens: int) -> Fact:
    return Fact("Pools", f"{pools:,}", f"of {tokens:,} tokens")


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


def _back(undoable: int) -> str:
    return f"the last {undoable:,} can be undone" if undoable else ""


def _holdings(found: StoreInfo) -> ListView:
    rows = tuple(
        (printable(each.protocol), each.family, f"{each.pools:,}", f"${each.depth_usd:,.0f}")
        for each in found.summary.protocols
    )
    return ListView(columns=HOLDING_COLUMNS, rows=rows)


def _row(found: StoreInfo) -> tuple[str, ...]:
    summary, state_source = found.summary, found.state
    return (
        printable(summary.network),
        EMPTY if found.is_empty else summary.provenance.value,
        "-" if state_source.block is None else str(state_source.block),
        "-" if state_source.age_s is None else format_age(state_source.age_s),
        f"{summary.pools:,}",
        f"{summary.tokens:,}",
        format_megabytes(summary.size_bytes),
        printable(summary.path),
    )
