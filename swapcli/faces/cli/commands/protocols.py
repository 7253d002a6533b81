"""`swapcli protocols`: list the protocols of a network, as --exclude-protocols takes them."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from collections import Counter
from typing import TYPE_CHECKING, Literal, NamedTuple

from swapcli.core.encoding.text import printable
from swapcli.faces.cli import options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import OutputOptions, settings_of
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli.core.model.network import Network
    from swapcli.interface.document_types import ProtocolDocumentJson
    from swapcli.quoting.protocol_support import ProtocolSupport
    from swapcli.state.agreements_file import Agreement

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

app = CommandApp()


class KnownPools(NamedTuple):
    """How many pools of each protocol are known: those in the store of the network, else in the embedded market.

    `source` is None without either. `unexplained` are those of an unknown version by protocol.
    """

    source: Literal["store", "embedded"] | None
    counts: Counter[str]
    unexplained: dict[str, list[str]]


@app.command(formats=LIST_FORMATS)
def protocols(
    network: options.NetworkNameOrDefault = None, *, store: options.StoreDir = None, output: OutputOptions
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
    are the dialects that execute the pools, as --router-dialect takes them. Quotes agreed
    on the day of the newest swap, mined (swapcli verify) or simulated (calldata --simulate), that was equal to its
    quote on the state of a node.
    """
    session = open_session(output, settings_of(store=store), formats=LIST_FORMATS)
    described, pools = _load_network(session, session.network_name(network))
    from swapcli.quoting.protocol_support import describe_protocols

    agreements = session.routers.agreements().load(described.chain_id)
    listed = [(each, agreements.get(each.protocol.amm_name)) for each in describe_protocols(described)]
    session.output.print_list(
        ListView(
            columns=_columns(pools),
            rows=tuple(_row(support, agreement, pools, described.facts_date) for support, agreement in listed),
            documents=tuple(
                _document(support, agreement, pools, described.facts_date) for support, agreement in listed
            ),
        )
    )


def _columns(pools: KnownPools) -> tuple[Column, ...]:
    """Return the columns: that of pools is left out if none are known, and named for what they are if modelled."""
    title = {"store": "pools", "embedded": "modelled"}.get(pools.source or "")
    return tuple(
        column._replace(title=title or column.title) if column.title == "pools" else column
        for column in COLUMNS
        if title or column.title != "pools"
    )


def _load_network(session: Session, name: str) -> "tuple[Network, KnownPools]":
    """Return a network as its store describes it, if it has one, with the pools that are known."""
    store = session.markets.find_store(name)
    if store is None:
        network = session.networks.find(name)
        return network, _count_embedded(session, network)
    with store:
        counts: Counter[str] = Counter()
        for holding in store.read_summary().protocols:
            counts[holding.protocol] += holding.pools
        unexplained: dict[str, list[str]] = {}
        for key, protocol in store.inventory.unexplained_pools().items():
            unexplained.setdefault(protocol, []).append(key)
        return store.network, KnownPools("store", counts, unexplained)


def _count_embedded(session: Session, network: "Network") -> KnownPools:
    from swapcli.state.markets.embedded import embedded_names

    if network.name not in embedded_names():
        return KnownPools(None, Counter(), {})
    from swapcli.quoting.open_market import open_market

    market = open_market(network.name, session.networks.find).market
    return KnownPools("embedded", Counter(pool.protocol for pool in market.pools.values()), {})


def _row(
    support: "ProtocolSupport", agreement: "Agreement | None", pools: KnownPools, facts_date: str
) -> tuple[str, ...]:
    protocol = support.protocol
    counted = (f"{pools.counts[protocol.amm_name]:,}",) if pools.source else ()
    keys = pools.unexplained.get(protocol.amm_name, [])
    unknown = f"of an unknown version, read at every block: {', '.join(keys)}" if keys else ""
    missing = f"{support.reason} (as of {facts_date})" if support.reason and facts_date else support.reason
    return (
        str(protocol.id),
        printable(protocol.amm_name),
        protocol.family or "-",
        support.quotes,
        "yes" if support.can_sync else "no",
        " ".join(support.dialects) or "-",
        *counted,
        support.contract or "-",
        _day_of(agreement) if agreement else "-",
        printable("; ".join(filter(None, (missing, unknown)))),
    )


def _day_of(agreement: "Agreement") -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(agreement.timestamp, UTC).date().isoformat()


def _document(
    support: "ProtocolSupport", agreement: "Agreement | None", pools: KnownPools, facts_date: str
) -> "ProtocolDocumentJson":
    protocol = support.protocol
    return {
        "protocol": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        "family": protocol.family,
        "extended": protocol.is_extended,
        "confirmed": protocol.confirmed,
        "pools": pools.counts[protocol.amm_name] if pools.source else None,
        "pools_source": pools.source,
        "quotes": support.quotes.value,
        "can_sync": support.can_sync,
        "reason": support.reason or None,
        "contract": support.contract.value if support.contract else None,
        "dialects": list(support.dialects),
        "facts_date": facts_date or None,
        "last_agreed": None
        if agreement is None
        else {"block": agreement.block, "timestamp": agreement.timestamp, "swaps": agreement.swaps},
        "unexplained": pools.unexplained.get(protocol.amm_name, []),
    }
