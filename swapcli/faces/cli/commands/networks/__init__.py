"""`swapcli networks`: list, show, add, check and remove networks."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption, UnhealthyError
from swapcli.core.encoding.text import printable
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.confirmation import confirm
from swapcli.faces.cli.options import OUTPUT, SETTINGS, SOURCE, OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import COMMON_FORMATS, LIST_FORMATS, OutputFormat
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli import NetworkList, RemovedNetwork
    from swapcli.faces.cli.render.list_view import ListView

PUBLIC = ("view",)

app = CommandApp(
    "List, show, add, check and remove networks.\n\n"
    "Without a command, it lists or shows them: swapcli networks base means swapcli networks show base.",
    default="show",
)


@app.command(formats=LIST_FORMATS)
def show(
    network: Annotated[str | None, argument("[NETWORK]", "Network to show.  [default: list yours]")] = None,
    *,
    everything: options.AllNetworks = False,
    file: Annotated[bool, option("--file", "Print the network file for swapcli networks add.", SETTINGS)] = False,
    probe: Annotated[bool, option("--probe", "Test the network's public nodes.", SOURCE)] = False,
    verbose: Annotated[
        bool, option("--verbose", "List tokens, protocols, contracts and sources.", OUTPUT, short="-v")
    ] = False,
    output: OutputOptions,
) -> int:
    """List networks, or show one network's nodes, routers and, with -v, tokens, protocols and contracts.

    \b
    Examples:
      swapcli networks --all
      swapcli networks base
      swapcli networks base --file > base.json

    Your networks are the five in the Fibrous API and those you have added. Commands use them if you give no network
    name. --file omits your nodes, because their URLs may contain keys. --probe shows the latency, latest block, limits
    and missing features of each public node. If no node can serve quotes, the command exits with status 8.

    See also: swapcli help networks, swapcli help nodes.
    """
    is_list = probe or (network is None and not file)
    session = open_session(output, formats=LIST_FORMATS if is_list else COMMON_FORMATS)
    if probe and file:
        raise InvalidOption("--probe cannot be combined with --file", hint="use only one of them")
    if probe:
        return _probe(session, network)
    if file:
        return _print_definition(session, session.network_name(network))
    if network is not None:
        if everything:
            raise InvalidOption("--all lists all networks, so it cannot be combined with NETWORK")
        return _show(session, network, verbose=verbose)
    from swapcli import networks as list_networks

    session.output.print_list(list_networks(everything=everything, settings=session.sources), _view)
    return exit_codes.OK


@app.command()
def add(
    source: Annotated[str, argument("FILE|NAME", "Network file (- is stdin), or a name from networks --all.")],
    *,
    replace: Annotated[bool, option("--replace", "Replace a file that you added earlier.", SETTINGS)] = False,
    rpc_url: options.RpcUrl = None,
    output: OutputOptions,
) -> None:
    """Add a network from a file or by its name.

    \b
    Examples:
      swapcli networks add ethereum
      swapcli networks base --file | swapcli networks add - --replace

    The file is JSON or YAML. It defines a network, or extends one with tokens or protocols. swapcli copies the file to
    the folder `networks` next to the settings file. Settings override the file. With --rpc-url, the node must confirm
    the definition first, as in swapcli networks check.

    See also: swapcli help networks.
    """
    session = open_session(output, rpc_url=rpc_url)
    from swapcli import add_network

    added = add_network(source, replace=replace, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(added)
    else:
        from swapcli.faces.cli.commands.networks.view import build_added_details

        session.output.print_details(build_added_details(added))


@app.command()
def check(
    network: Annotated[str, argument("NETWORK", "Network to check: name or chain id.")],
    *,
    rpc_url: options.RpcUrl = None,
    timeout: options.Timeout = None,
    verbose: Annotated[bool, option("--verbose", "Also list the confirmed facts.", OUTPUT, short="-v")] = False,
    output: OutputOptions,
) -> None:
    """Check a network definition against its chain.

    \b
    Example: swapcli networks check base --rpc-url http://127.0.0.1:8545

    Checks these facts on a node: the chain id, the code at every address, token symbols and decimals, factories and
    their pools, the init code hash, and routers. If the chain contradicts the definition, the command exits with status
    8.
    """
    session = open_session(output, settings_of(timeout=timeout), rpc_url=rpc_url)
    from swapcli import check_network

    found = check_network(network, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.commands.networks.view import build_check_details

        session.output.print_details(build_check_details(found, verbose=verbose))
    found.check()


@app.command()
def remove(
    network: Annotated[str, argument("NETWORK", "Network that you added.")],
    *,
    yes: Annotated[bool, option("--yes", "Do not ask for confirmation.", SETTINGS)] = False,
    output: OutputOptions,
) -> None:
    """Remove a network that you added. Its store is kept.

    \b
    Example:
      swapcli networks add ethereum && swapcli networks remove ethereum --yes
    """
    session = open_session(output)
    from swapcli import remove_network

    def confirm_removal(found: "RemovedNetwork") -> None:
        confirm(f"remove {printable(found.file)}?", yes)

    removed = remove_network(network, confirm=confirm_removal, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(removed)
    else:
        from swapcli.faces.cli.commands.networks.view import build_removed_details

        session.output.print_details(build_removed_details(removed))


def _show(session: Session, network: str, *, verbose: bool) -> int:
    from swapcli import network_details

    found = network_details(network, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.commands.networks.view import build_network_details

        session.output.print_details(build_network_details(found, verbose=verbose))
    return exit_codes.OK


def _print_definition(session: Session, network: str) -> int:
    from swapcli import network_definition
    from swapcli.faces.cli.commands.networks.view import definition_text

    session.output.print_text(definition_text(network_definition(network, settings=session.sources)))
    return exit_codes.OK


def _probe(session: Session, name: str | None) -> int:
    from swapcli import probe_nodes
    from swapcli.faces.cli.render.node_view import build_node_list

    found = probe_nodes(session.network_name(name), settings=session.sources)
    if found.nodes or not session.output.is_for_people:
        session.output.print_list(found, build_node_list)
    if not found.nodes:
        raise UnhealthyError(
            f"{found.network} has no public nodes",
            details={"networks": [found.network]},
            hint=f"add URLs to networks.{found.network}.public_rpc_urls",
        )
    if not found.can_quote:
        raise UnhealthyError(
            f"no public node of {found.network} supports everything that a quote needs",
            details={"networks": [found.network]},
        )
    return exit_codes.OK


def _view(found: "NetworkList") -> "ListView":
    from swapcli.faces.cli.commands.networks.view import build_network_list  # not loaded for JSON

    return build_network_list(found)
