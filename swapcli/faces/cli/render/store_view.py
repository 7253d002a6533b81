"""The content of a store: as JSON, in detail, and as a row of a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.core.model.market import MarketState
from swapcli.core.model.number_format import format_megabytes, format_time
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.model.token import whole_tokens
from swapcli.core.model.transfer_behaviour import TransferKind
from swapcli.faces.cli.render.detail_view import DetailView
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.render.quote_facts import Fact
from swapcli.interface.quote_fields import render_state_source
from swapcli.quoting.warnings import NOT_LIVE, format_age
from swapcli.state.store.summary import StoreSummary

if TYPE_CHECKING:
    from swapcli.interface.document_types import StoreJson

GWEI_DECIMALS = 9
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


def store_document(summary: StoreSummary, now_s: float) -> StoreJson:
    """Return the JSON of a store; `depthUsd` is about the value that orders could trade in the pools of a protocol."""
    return {
        "network": summary.network,
        "chainId": str(summary.chain_id),
        "state": render_state_source(_origin(summary, now_s)),
        "gasPrice": str(summary.gas_price_wei),
        "pools": summary.pools,
        "tokens": summary.tokens,
        "transfers": {kind.value: count for kind, count in summary.transfers.items()},
        "protocols": [
            {
                "amm_name": each.protocol,
                "family": each.family,
                "pools": each.pools,
                "depthUsd": round(each.depth_usd, 2),
            }
            for each in summary.protocols
        ],
        "undoableBlocks": summary.undoable_blocks,
        "store": summary.path,
        "bytes": summary.size_bytes,
    }


def build_store_details(
    title: str, summary: StoreSummary, now_s: float, *, more: Sequence[Fact] = (), listings: Sequence[ListView] = ()
) -> DetailView:
    """Build the details of a store with its pools by protocol; `more` facts and `lists` follow."""
    return DetailView(
        title=title,
        facts=(*_facts(summary, now_s), *more),
        copyable=(("Store", printable(summary.path)),),
        lists=(_holdings(summary), *listings) if summary.protocols else tuple(listings),
    )


def build_store_list(summaries: Iterable[StoreSummary], now_s: float) -> ListView:
    """Build the list of all stores."""
    rows = tuple(summaries)
    return ListView(
        columns=STORE_COLUMNS,
        rows=tuple(_row(each, now_s) for each in rows),
        documents=tuple(store_document(each, now_s) for each in rows),
    )


def build_export_details(market: MarketState, state_source: StateSource, file: str) -> DetailView:
    """Build the details of a market that was written to a file."""
    return DetailView(
        title=f"{printable(market.network.name)}, exported",
        facts=(_state(state_source), _pools(len(market.pools), len(swappable_in(market)))),
        copyable=(("File", printable(file)),),
    )


def build_removal_details(network: str, path: str, pools: int | None) -> DetailView:
    """Build the details of a store that was removed; `pools` is None if it was damaged."""
    return DetailView(
        title=f"{printable(network)}, removed",
        facts=(Fact("Pools", "unknown, since the store was damaged" if pools is None else f"{pools:,}"),),
        copyable=(("Store", printable(path)),),
    )


def _facts(summary: StoreSummary, now_s: float) -> Iterator[Fact]:
    state_source = _origin(summary, now_s)
    yield Fact("Network", printable(summary.network), f"chain {summary.chain_id}")
    yield Fact("State", EMPTY, "nothing is stored yet") if _is_empty(summary) else _state(state_source)
    if state_source.block is not None:
        unproven = "not proven by the node" if state_source.pinned is False else ""
        yield Fact(
            "Block", str(state_source.block), ", ".join(filter(None, [unproven, _back(summary.undoable_blocks)]))
        )
    if state_source.timestamp is not None and state_source.age_s is not None:
        yield Fact("Time", format_time(state_source.timestamp), format_age(state_source.age_s))
    yield Fact("Gas price", f"{whole_tokens(summary.gas_price_wei, GWEI_DECIMALS)} gwei")
    yield _pools(summary.pools, summary.tokens)
    if transfers := _transfers(summary):
        yield transfers
    yield Fact("Size", format_megabytes(summary.size_bytes))


def _is_empty(summary: StoreSummary) -> bool:
    """Return whether nothing was ever stored, for example since the first sync failed."""
    return summary.block is None and summary.pools == 0


def _state(state_source: StateSource) -> Fact:
    live = "" if state_source.is_live else NOT_LIVE
    return Fact(
        "State", str(state_source.provenance), ", ".join(filter(None, [live, printable(state_source.description)]))
    )


def _pools(pools: int, tokens: int) -> Fact:
    return Fact("Pools", f"{pools:,}", f"of {tokens:,} tokens")


def _transfers(summary: StoreSummary) -> Fact | None:
    """Return how the tokens transfer, or None if none was tested."""
    counts = dict(summary.transfers)
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


def _holdings(summary: StoreSummary) -> ListView:
    rows = tuple(
        (printable(each.protocol), each.family, f"{each.pools:,}", f"${each.depth_usd:,.0f}")
        for each in summary.protocols
    )
    return ListView(columns=HOLDING_COLUMNS, rows=rows, documents=())


def _row(summary: StoreSummary, now_s: float) -> tuple[str, ...]:
    state_source = _origin(summary, now_s)
    return (
        printable(summary.network),
        EMPTY if _is_empty(summary) else summary.provenance.value,
        "-" if state_source.block is None else str(state_source.block),
        "-" if state_source.age_s is None else format_age(state_source.age_s),
        f"{summary.pools:,}",
        f"{summary.tokens:,}",
        format_megabytes(summary.size_bytes),
        printable(summary.path),
    )


def _origin(summary: StoreSummary, now_s: float) -> StateSource:
    age_s = None if summary.timestamp is None else max(0, int(now_s) - summary.timestamp)
    block = None if summary.block is None else summary.block.number
    provenance = None if _is_empty(summary) else summary.provenance
    return StateSource(provenance, summary.source, block, summary.timestamp, age_s, pinned=summary.pinned)
