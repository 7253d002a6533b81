"""`swapcli protocols`: list the protocols of a network, as --exclude-protocols takes them."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections import Counter
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli.interface.document_types import ProtocolDocumentJson
    from swapcli.quoting.protocol_support import ProtocolSupport

COLUMNS = (
    Column("id", is_whole=True),
    Column("name", readable_width=26),
    Column("family", drop_order=1),
    Column("quotes", is_whole=True),
    Column("sync", is_whole=True),
    Column("pools", is_whole=True),
    Column("reason", readable_width=24),
)

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def protocols(
    network: options.NetworkNameOrDefault = None, *, store: options.StoreDir = None, output: OutputOptions
) -> None:
    """List the protocols of a network.

    \b
    Example: swapcli protocols base

    The list says how the pools of each are quoted, and whether they can be synced. Quotes are exact, from the maths of
    the pools, or sampled, from the answers of their contracts. If one of the two is not possible, the reason says which
    fact is missing. Protocols that the interface does not list have ids from 100 on, and are used only with
    --extended-protocols. If the network has a store, the list shows the number of pools of each protocol, and names
    those of an unknown version: they changed without an event of their kind, so that they are read at every block.
    """
    session = open_session(output, settings_of(store=store), formats=LIST_FORMATS)
    listed, pools, unexplained = _load_protocols(session, session.network_name(network))
    session.output.print_list(
        ListView(
            columns=tuple(column for column in COLUMNS if column.title != "pools" or pools is not None),
            rows=tuple(_row(support, pools, unexplained) for support in listed),
            documents=tuple(_document(support, pools, unexplained) for support in listed),
        )
    )


def _load_protocols(
    session: Session, name: str
) -> "tuple[tuple[ProtocolSupport, ...], Counter[str] | None, dict[str, list[str]]]":
    """Return the protocols of a network; if it has a store, also the number of pools by protocol name.

    The third value has the pools of an unknown version by protocol name.
    """
    from swapcli.quoting.protocol_support import describe_protocols

    store = session.markets.find_store(name)
    if store is None:
        return describe_protocols(session.networks.find(name)), None, {}
    with store:
        pools: Counter[str] = Counter()
        for holding in store.read_summary().protocols:
            pools[holding.protocol] += holding.pools
        unexplained: dict[str, list[str]] = {}
        for key, protocol in store.inventory.unexplained_pools().items():
            unexplained.setdefault(protocol, []).append(key)
        return describe_protocols(store.network), pools, unexplained


def _row(support: "ProtocolSupport", pools: Counter[str] | None, unexplained: dict[str, list[str]]) -> tuple[str, ...]:
    protocol = support.protocol
    counted = () if pools is None else (f"{pools[protocol.amm_name]:,}",)
    can_sync = "yes" if support.can_sync else "no"
    name, family = printable(protocol.amm_name), protocol.family or "-"
    keys = unexplained.get(protocol.amm_name, [])
    unknown = f"of an unknown version, read at every block: {', '.join(keys)}" if keys else ""
    reason = printable("; ".join(filter(None, (support.reason, unknown))))
    return str(protocol.id), name, family, support.quotes, can_sync, *counted, reason


def _document(
    support: "ProtocolSupport", pools: Counter[str] | None, unexplained: dict[str, list[str]]
) -> "ProtocolDocumentJson":
    protocol = support.protocol
    return {
        "protocol": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        "family": protocol.family,
        "extended": protocol.is_extended,
        "confirmed": protocol.confirmed,
        "pools": None if pools is None else pools[protocol.amm_name],
        "quotes": support.quotes.value,
        "can_sync": support.can_sync,
        "reason": support.reason or None,
        "unexplained": unexplained.get(protocol.amm_name, []),
    }
