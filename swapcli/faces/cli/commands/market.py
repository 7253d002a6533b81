"""`swapcli market`: import, export, show and remove the pools in stores."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption, UnknownNetwork
from swapcli.core.encoding.text import counted, printable
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.confirmation import confirm
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.options import OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import COMMON_FORMATS, LIST_FORMATS, OutputFormat
from swapcli.faces.cli.session import Session, open_session

if TYPE_CHECKING:
    from swapcli import Network, RemovedStore, StoreInfo

app = CommandApp("Import, export, show and remove stored pools.")


@app.command("import")
def import_(
    file: Annotated[str, argument("FILE", "Market file; - is stdin.")],
    network: Annotated[str | None, argument("[NETWORK]", "Fail unless the file is for this network.")] = None,
    *,
    replace: Annotated[bool, option("--replace", "Replace the pools in the store.", options.SETTINGS)] = False,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Import a market file into its network's store.

    \b
    Example: swapcli market export base | swapcli market import - --replace

    Quotes use the store from then on. Without --replace, a store that already has pools is not changed.
    """
    session = open_session(output, settings_of(market=file, store=store))
    from swapcli import import_market

    imported = import_market(file, network, replace=replace, skip_bad_pools=skip_bad_pools, settings=session.sources)
    _print(session, imported, "imported")


@app.command()
def export(
    network: options.NetworkName,
    file: Annotated[str | None, argument("[FILE]", "File to write.  [default: stdout]")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Export a network's store or embedded market to a market file.

    \b
    Example: swapcli market export base | head -c 400

    Read the file with --market or swapcli market import.
    """
    session = open_session(output, settings_of(store=store))
    to_stdout = file is None or file == STDIN
    if to_stdout and output.format in (OutputFormat.PLAIN, OutputFormat.TABLE):
        raise InvalidOption(
            f"a market file is JSON, so it cannot be printed with --format {output.format}", hint="give a FILE"
        )
    from swapcli import export_market

    if file is None or to_stdout:
        session.output.print_text(export_market(network, settings=session.sources).text.removesuffix("\n"))
        return
    exported = export_market(network, file, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(exported)
    else:
        from swapcli.faces.cli.render.store_view import build_export_details

        session.output.print_details(build_export_details(exported))


@app.command(formats=LIST_FORMATS)
def info(
    network: Annotated[str | None, argument("[NETWORK]", "Network name.  [default: all networks with a store]")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> int:
    """Show each store's block and age, and its pools and liquidity per protocol.

    \b
    Example: swapcli market info

    Liquidity is roughly the USD value that orders could trade in the protocol's pools.
    """
    formats = LIST_FORMATS if network is None else COMMON_FORMATS
    session = open_session(output, settings_of(store=store), formats=formats)
    from swapcli import store_info

    if network is None:
        return _list(session)
    found = store_info(network, settings=session.sources)
    _print(session, found)
    return exit_codes.OK


@app.command()
def remove(
    network: options.NetworkName,
    *,
    yes: Annotated[bool, option("--yes", "Do not ask for confirmation.", options.SETTINGS)] = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Remove a network's store. Quotes then use its embedded market.

    \b
    Example:
      swapcli market export base | swapcli market import - --store old \\
        && swapcli market remove base --store old --yes

    A store is not removed while another process, such as sync or serve, is using it.
    """
    session = open_session(output, settings_of(store=store))
    from swapcli import remove_store

    def confirm_removal(found: "RemovedStore") -> None:
        content = "the damaged store" if found.pools is None else counted(found.pools, "stored pool")
        confirm(f"remove {content} of {printable(found.network)} ({printable(found.path)})?", yes)

    removed = remove_store(network, confirm=confirm_removal, settings=session.sources)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(removed)
    else:
        from swapcli.faces.cli.render.store_view import build_removal_details

        session.output.print_details(build_removal_details(removed))


def _list(session: Session) -> int:
    """Print all readable stores, then raise the error of the first unreadable one."""
    from swapcli import stores
    from swapcli.faces.cli.render.store_view import build_store_list

    found = stores(settings=session.sources)
    empty = "" if found.failures else f"no store in {session.setup.stores_folder}; swapcli sync creates one"
    session.output.print_list(found, build_store_list, if_empty=empty)
    if found.failures:
        raise found.failures[0]
    return exit_codes.OK


def _print(session: Session, found: "StoreInfo", done: str = "") -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(found)
    else:
        from swapcli.faces.cli.render.store_view import build_store_details

        session.output.print_details(build_store_details(found, _known_network(session, found), done=done))


def _known_network(session: Session, found: "StoreInfo") -> "Network | None":
    """Return the network of a store; None if only the imported file describes it."""
    try:
        return session.sources.networks.find(found.summary.network)
    except UnknownNetwork:
        return None
