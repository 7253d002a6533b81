"""`swapcli protocols`: list the protocols of a network, as --exclude-protocols takes them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from swapcli.cli import options
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OutputOptions, with_option_groups
from swapcli.cli.output import LIST_FORMATS
from swapcli.cli.render.list_view import ListView
from swapcli.cli.session import Session, open_session
from swapcli.config.source_readers import flag
from swapcli.encoding.text import printable
from swapcli.model.network import ProtocolInfo

if TYPE_CHECKING:
    from swapcli.api.document_types import ProtocolDocumentJson

app = new_app()


@app.command(cls=PanelCommand)
@with_option_groups
def protocols(
    network: options.NetworkNameOrDefault = None, *, store: options.StoreDir = None, output: OutputOptions
) -> None:
    """List the protocols of a network. The family is the pool math of a protocol.

    \b
    Example: swapcli protocols base

    If the network has a store, the list shows the number of pools of each protocol.
    """
    session = open_session(output, {"store_dir": flag("--store", store)}, formats=LIST_FORMATS)
    listed, pools = _load_protocols(session, session.network_name(network))
    columns = ("id", "name", "display name", "family", "pools")
    session.output.print_list(
        ListView(
            columns=columns if pools is not None else columns[:-1],
            rows=tuple(_row(protocol, pools) for protocol in listed),
            documents=tuple(_document(protocol, pools) for protocol in listed),
        )
    )


def _load_protocols(session: Session, name: str) -> tuple[tuple[ProtocolInfo, ...], Counter[str] | None]:
    """Return the protocols of a network, and the number of pools by protocol name if it has a store."""
    store = session.stored(name)
    if store is None:
        return session.network(name).protocols, None
    with store:
        pools: Counter[str] = Counter()
        for holding in store.read_summary().protocols:
            pools[holding.protocol] += holding.pools
        return store.network.protocols, pools


def _row(protocol: ProtocolInfo, pools: Counter[str] | None) -> tuple[str, ...]:
    family = protocol.family or "not supported"
    counted = () if pools is None else (f"{pools[protocol.amm_name]:,}",)
    return str(protocol.id), printable(protocol.amm_name), printable(protocol.display_name), family, *counted


def _document(protocol: ProtocolInfo, pools: Counter[str] | None) -> ProtocolDocumentJson:
    return {
        "protocol": protocol.id,
        "amm_name": protocol.amm_name,
        "display_name": protocol.display_name,
        "family": protocol.family,
        "confirmed": protocol.confirmed,
        "pools": None if pools is None else pools[protocol.amm_name],
    }
