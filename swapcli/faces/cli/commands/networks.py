"""`swapcli networks`: list the networks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption, UnhealthyError
from swapcli.faces.cli import exit_codes
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.options import SOURCE, OutputOptions, argument, option
from swapcli.faces.cli.output import LIST_FORMATS
from swapcli.faces.cli.render.list_view import Column, ListView
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli import ListedNetwork, NetworkList

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
    from swapcli import networks as list_networks

    session.output.print_list(list_networks(settings=session.sources), _view)
    return exit_codes.OK


def _probe(session: Session, name: str | None) -> int:
    from swapcli import probe_nodes
    from swapcli.faces.cli.render.node_view import build_node_list

    found = probe_nodes(session.network_name(name), settings=session.sources)
    session.output.print_list(found, build_node_list)
    if not found.nodes:
        raise UnhealthyError(
            f"{found.network} has no public nodes",
            details={"networks": [found.network]},
            hint=f"name some in networks.{found.network}.public_rpc_urls",
        )
    if not found.can_quote:
        raise UnhealthyError(
            f"no public node of {found.network} serves what a quote needs", details={"networks": [found.network]}
        )
    return exit_codes.OK


def _view(found: "NetworkList") -> ListView:
    pages = [each.router_page for each in found.networks]
    links = tuple({"router": page} if page else {} for page in pages)
    return ListView(COLUMNS, tuple(map(_row, found.networks)), links=links)


def _row(listed: "ListedNetwork") -> tuple[str, ...]:
    network = listed.network
    return (
        network.name,
        str(network.chain_id),
        network.native.symbol,
        "yes" if network.has_v2 else "no",
        str(listed.tokens),
        str(len(network.protocols)),
        listed.router or "-",
    )
