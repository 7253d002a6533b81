"""`swapcli networks`: list the networks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli.core.errors import InvalidOption, MarketError, MarketUnavailable, UnhealthyError
from swapcli.core.model.network import Network
from swapcli.core.networks.address import display_address
from swapcli.core.networks.explorer import contract_page
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import SOURCE, OutputOptions, argument, option
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import Session, open_session
from swapcli.faces.cli.token_list import load_token_list
from swapcli.quoting.config import network_names_from

if TYPE_CHECKING:
    from swapcli.interface.document_types import NetworkDocumentJson

COLUMNS = (
    Column("network"),
    Column("chain id", is_whole=True),
    Column("native"),
    Column("v2", is_whole=True, drop_order=1),
    Column("tokens", is_whole=True),
    Column("protocols", is_whole=True),
    Column("router", is_whole=True, goes_below=True),
)

app = CommandApp()


@app.command(formats=LIST_FORMATS)
def networks(
    network: Annotated[str | None, argument("[NETWORK]", "The network whose public nodes --probe checks.")] = None,
    *,
    probe: Annotated[
        bool, option("--probe", "Check what the public nodes of NETWORK serve, instead of the list.", SOURCE)
    ] = False,
    output: OutputOptions,
) -> int:
    """List the networks.

    \b
    Example: swapcli networks --json

    With --probe, as in swapcli networks base --probe, it reads each public node of a network, and shows its latency,
    the age of its newest block, its limits, and what is missing of what quotes and syncs need. If no node serves what
    a quote needs, the command exits with status 8.
    """
    session = open_session(output, formats=LIST_FORMATS)
    if probe:
        return _probe(session, network)
    if network is not None:
        raise InvalidOption("NETWORK requires --probe", hint="swapcli networks lists all networks")
    all_networks = [session.networks.find(name) for name in network_names_from(session.settings)]
    counted = [(network, _count_tokens(session, network)) for network in all_networks]
    session.output.print_list(
        ListView(
            columns=COLUMNS,
            rows=tuple(_row(network, count) for network, count in counted),
            documents=tuple(_document(network, count) for network, count in counted),
            links=tuple(_links(network) for network in all_networks),
        )
    )
    return exit_codes.OK


def _probe(session: Session, name: str | None) -> int:
    from swapcli.faces.cli.render.node_view import build_node_list

    network = session.networks.find(session.network_name(name))
    from swapcli.quoting.openers.check_nodes import check_public_nodes

    reports = check_public_nodes(session.nodes, network)
    session.output.print_list(build_node_list(network.name, reports))
    if not reports:
        raise UnhealthyError(
            f"{network.name} has no public nodes",
            details={"networks": [network.name]},
            hint=f"name some in networks.{network.name}.public_rpc_urls",
        )
    if not any(report.can_quote for report in reports):
        raise UnhealthyError(
            f"no public node of {network.name} serves what a quote needs", details={"networks": [network.name]}
        )
    return exit_codes.OK


def _count_tokens(session: Session, network: Network) -> int:
    """Return the number of tokens that can be swapped; none where no pools are known, as before the first sync."""
    try:
        return len(load_token_list(session, network.name).tokens)
    except (MarketUnavailable, MarketError):
        return 0


def _row(network: Network, tokens: int) -> tuple[str, ...]:
    return (
        network.name,
        str(network.chain_id),
        network.native.symbol,
        "yes" if network.has_v2 else "no",
        str(tokens),
        str(len(network.protocols)),
        _router(network) or "-",
    )


def _document(network: Network, tokens: int) -> "NetworkDocumentJson":
    return {
        "name": network.name,
        "kind": network.kind.value,
        "chainId": str(network.chain_id),
        "native": network.native.symbol,
        "v2": network.has_v2,
        "tokens": tokens,
        "protocols": len(network.protocols),
        "router": _router(network),
    }


def _links(network: Network) -> dict[str, str]:
    page = contract_page(network, network.router) if network.router else None
    return {"router": page} if page else {}


def _router(network: Network) -> str | None:
    return display_address(network.router, network.kind) if network.router else None
