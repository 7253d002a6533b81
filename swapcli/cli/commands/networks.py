"""`swapcli networks`: list the networks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING

from swapcli.cli.command_app import CommandApp
from swapcli.cli.options import OutputOptions
from swapcli.cli.output import LIST_FORMATS
from swapcli.cli.render.list_view import ListView
from swapcli.cli.session import open_session
from swapcli.config import network_names_from
from swapcli.model.network import Network
from swapcli.networks.address import display_address
from swapcli.networks.explorer import contract_page

if TYPE_CHECKING:
    from swapcli.api.document_types import NetworkDocumentJson

app = CommandApp()


@app.command()
def networks(*, output: OutputOptions) -> None:
    """List the networks.

    \b
    Example: swapcli networks --json
    """
    session = open_session(output, formats=LIST_FORMATS)
    all_networks = [session.network(name) for name in network_names_from(session.settings)]
    session.output.print_list(
        ListView(
            columns=("network", "chain id", "native", "v2", "tokens", "protocols", "router"),
            rows=tuple(_row(network) for network in all_networks),
            documents=tuple(_document(network) for network in all_networks),
            links=tuple(_links(network) for network in all_networks),
        )
    )


def _row(network: Network) -> tuple[str, ...]:
    return (
        network.name,
        str(network.chain_id),
        network.native.symbol,
        "yes" if network.has_v2 else "no",
        str(len(network.tokens)),
        str(len(network.protocols)),
        _router(network) or "-",
    )


def _document(network: Network) -> "NetworkDocumentJson":
    return {
        "name": network.name,
        "kind": network.kind.value,
        "chainId": str(network.chain_id),
        "native": network.native.symbol,
        "v2": network.has_v2,
        "tokens": len(network.tokens),
        "protocols": len(network.protocols),
        "router": _router(network),
    }


def _links(network: Network) -> dict[str, str]:
    page = contract_page(network, network.router) if network.router else None
    return {"router": page} if page else {}


def _router(network: Network) -> str | None:
    return display_address(network.router, network.kind) if network.router else None
