"""`swapcli protocols`: list the protocols of a network, in the form that --exclude-protocols accepts."""

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

UNUSED_FAMILY = "no protocol on the network uses this family"
COLUMNS = (
    Column("id", is_whole=True),
    Column("protocol", readable_width=23),
    Column("name", readable_width=20, drop_order=4),
    Column("family", drop_order=2),
    Column("quotes", is_whole=True),
    Column("sync", is_whole=True, drop_order=3),
    Column("routers", readable_width=24, drop_order=1),
    Column("pools", is_whole=True),
    Column("contract", is_whole=True),
    Column("agreed", is_whole=True),
    Column("reason", readable_width=24, goes_below=True),
)

PACKAGE_COLUMN = Column("package", readable_width=16)
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
        bool, option("--missing", "Compare with public protocol lists; missing ones first.", SOURCE)
    ] = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """List a network's protocols.

    \b
    Example: swapcli protocols base

    Shows how each protocol is quoted, and whether its pools can be synced. `exact` quotes are computed with the pools'
    maths, and `sampled` quotes come from their contracts. If a protocol cannot be quoted or synced, the list shows
    which fact is missing. `routers` lists the values of --router-dialect that can execute the pools.

    --missing lists the protocols in DefiLlama's and KyberSwap's public lists instead, missing ones first.

    See also: swapcli help pools.
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
    columns, rows = _columns(found), tuple(map(_row, found.protocols))
    packages = [each.package or "-" for each in found.protocols] + [each.origin for each in found.families]
    if all(each == "-" for each in packages):
        return ListView(columns, rows)
    titles = [column.title for column in columns]
    for each in found.families:
        shown = {"family": each.name, "reason": UNUSED_FAMILY}
        rows += (tuple(shown.get(title, "-") for title in titles),)
    rows = tuple((*row[:-1], printable(package), row[-1]) for row, package in zip(rows, packages, strict=True))
    return ListView((*columns[:-1], PACKAGE_COLUMN, columns[-1]), rows)


def _columns(found: "ProtocolList") -> tuple[Column, ...]:
    """Return the columns: the pools column is omitted if no pools are known, and named accordingly if they are
    modelled."""
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
        printable(support.protocol.display_name),
        support.protocol.family or "-",
        listed.quotes,
        "yes" if support.can_sync else "no",
        " ".join(support.dialects) or "-",
        *(() if listed.pools is None else (f"{listed.pools:,}",)),
        support.contract or "-",
        listed.agreed_at or "-",
        printable(listed.reason),
    )
