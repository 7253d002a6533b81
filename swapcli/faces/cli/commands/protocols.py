"""`swapcli protocols`: list the protocols of a network, as --exclude-protocols takes them."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import SOURCE, OutputOptions, option, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import open_session

if TYPE_CHECKING:
    from swapcli import ListedProtocol, ProtocolList, VenueList

COLUMNS = (
    Column("id", is_whole=True),
    Column("name", readable_width=23),
    Column("family", drop_order=2),
    Column("quotes", is_whole=True),
    Column("sync", is_whole=True, drop_order=3),
    Column("routers", readable_width=24, drop_order=1),
    Column("pools", is_whole=True),
    Column("contract", is_whole=True),
    Column("agreed", is_whole=True),
    Column("reason", readable_width=24, goes_below=True),
)

VENUE_COLUMNS = (
    Column("venue", readable_width=24),
    Column("coverage", is_whole=True),
    Column("protocols", readable_width=24, drop_order=1),
    Column("lists", readable_width=24, drop_order=2),
    Column("reason", readable_width=24, goes_below=True),
)

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def protocols(
    network: options.NetworkNameOrDefault = None,
    *,
    missing: Annotated[
        bool, option("--missing", "List the venues of public lists instead, and how they are quoted.", SOURCE)
    ] = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """List the protocols of a network.

    \b
    Example: swapcli protocols base

    The list says how the pools of each are quoted, and whether they can be synced. Quotes are exact, from the maths of
    the pools, or sampled, from the answers of their contracts. If one of the two is not possible, the reason says which
    fact is missing, and since when. If the network has a store, the list shows the number of pools of each protocol,
    and names those of an unknown version: they changed without an event of their kind, so that they are read at every
    block. Without one, it shows how many pools the embedded market models. The address of the contract which the pools
    come from is confirmed, unconfirmed (one source names it that is not the protocol's own), or unknown. The routers
    are the dialects that execute the pools, as --router-dialect takes them. A protocol whose maths has been compared
    with fewer than 20 recorded swaps is "not yet compared with the chain" (swapcli record makes recordings). Quotes
    agreed at the time and block of the newest swap, mined (swapcli verify --recent 3) or simulated (calldata
    --simulate), that was equal to its quote on the state of a node.

    With --missing, it lists the venues that public lists (DefiLlama's adapters, KyberSwap's simulators) have of the
    network instead: those that are absent first, with the reason, then those that are sampled, then the exact ones.
    """
    session = open_session(output, settings_of(store=store), formats=LIST_FORMATS)
    if missing:
        from swapcli import public_venues

        session.output.print_list(public_venues(session.network_name(network), settings=session.sources), _venue_view)
        return
    from swapcli import protocols as list_protocols

    found = list_protocols(session.network_name(network), settings=session.sources)
    session.output.print_list(found, _view)


def _venue_view(found: "VenueList") -> ListView:
    rows = (
        (
            printable(each.name),
            each.coverage,
            printable(" ".join(each.protocols)) or "-",
            " ".join(each.lists),
            printable(each.reason),
        )
        for each in found.venues
    )
    return ListView(VENUE_COLUMNS, tuple(rows))


def _view(found: "ProtocolList") -> ListView:
    return ListView(_columns(found), tuple(map(_row, found.protocols)))


def _columns(found: "ProtocolList") -> tuple[Column, ...]:
    """Return the columns: that of pools is left out if none are known, and named for what they are if modelled."""
    title = {"store": "pools", "embedded": "modelled"}.get(found.pools_source or "")
    return tuple(
        column._replace(title=title or column.title) if column.title == "pools" else column
        for column in COLUMNS
        if title or column.title != "pools"
    )


def _row(listed: "ListedProtocol") -> tuple[str, ...]:
    support = listed.support
    return (
        str(support.protocol.id),
        printable(support.protocol.amm_name),
        support.protocol.family or "-",
        support.quotes,
        "yes" if support.can_sync else "no",
        " ".join(support.dialects) or "-",
        *(() if listed.pools is None else (f"{listed.pools:,}",)),
        support.contract or "-",
        listed.agreed_at or "-",
        printable(listed.reason),
    )
