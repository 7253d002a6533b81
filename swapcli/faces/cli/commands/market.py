"""`swapcli market`: import, export, show and remove the pools in stores."""

# No `from __future__ import annotations`: see `swapcli.startup`.

from typing import Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InvalidInput, InvalidOption, MarketError, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.confirmation import confirm
from swapcli.faces.cli.files import STDIN, write_text_file
from swapcli.faces.cli.options import OutputOptions, argument, option, settings_of
from swapcli.faces.cli.output import COMMON_FORMATS, LIST_FORMATS, OutputFormat
from swapcli.faces.cli.render.store_view import (
    build_export_details,
    build_removal_details,
    build_store_details,
    build_store_list,
    store_document,
)
from swapcli.faces.cli.session import Session, open_session
from swapcli.interface.quote_fields import render_state_source
from swapcli.quoting.config import networks_from
from swapcli.quoting.open_market import open_market
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.store import StoreSummary, open_store, remove_store

app = CommandApp("Import, export, show and remove stored pools.")


@app.command("import")
def import_(
    file: Annotated[str, argument("FILE", "Market file; - is stdin.")],
    network: Annotated[str | None, argument("[NETWORK]", "Refuse a file of any other network.")] = None,
    *,
    replace: Annotated[bool, option("--replace", "Replace the pools in the store.", options.SETTINGS)] = False,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Import a market file into the store of its network.

    \b
    Example: swapcli market export base | swapcli market import - --replace

    Quotes on the network use the store from then on. Without --replace, a store that already has pools is not changed.
    """
    session = open_session(output, settings_of(market=file, store=store))
    market = _read(session, network, skip_bad_pools)
    with session.markets.create_store(market.network) as target:
        pools = target.read_summary().pools
        if pools and not replace:
            raise InvalidInput(
                f"the store {target.path} already has {pools:,} pools",
                hint="--replace replaces them with those of the file",
                details={"store": target.path, "pools": pools},
            )
        target.write_market(market)
        _print_summary(session, f"{market.network.name}, imported", target.read_summary())


@app.command()
def export(
    network: options.NetworkName,
    file: Annotated[str | None, argument("[FILE]", "File to write; - or none is stdout.")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Write the store of a network, or else its embedded market, to a market file.

    \b
    Example: swapcli market export base | head -c 400

    --market and `swapcli market import` read such files. The file is written completely or not at all.
    """
    session = open_session(output, settings_of(store=store))
    to_stdout = file is None or file == STDIN
    if to_stdout and (output.plain or output.table):
        raise InvalidOption("a market file is JSON, which excludes --plain and --table", hint="name a FILE")
    from swapcli.state.markets.format import render_market

    market = _load(session, network)
    text = render_market(market)
    if file is None or to_stdout:
        session.output.print_text(text)
        return
    write_text_file(file, text + "\n")
    _print_export(session, market, file, len(text) + 1)


@app.command(formats=LIST_FORMATS)
def info(
    network: Annotated[str | None, argument("[NETWORK]", "Network name.  [default: all networks with a store]")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> int:
    """Show the stored pools: block, age, pools by protocol and their depth.

    \b
    Example: swapcli market info

    Depth is about the value in USD that orders could trade in the pools of a protocol.
    """
    formats = LIST_FORMATS if network is None else COMMON_FORMATS
    session = open_session(output, settings_of(store=store), formats=formats)
    if network is None:
        return _list(session)
    with session.markets.open_store(network) as stored:
        summary = stored.read_summary()
    _print_summary(session, summary.network, summary)
    return exit_codes.OK


@app.command()
def remove(
    network: options.NetworkName,
    *,
    yes: Annotated[bool, option("--yes", "Do not ask for confirmation.", options.SETTINGS)] = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Remove the store of a network. Quotes use its embedded market from then on.

    \b
    Example:
      swapcli market export base | swapcli market import - --store old \\
        && swapcli market remove base --store old --yes

    A store that another process has open, such as swapcli sync or serve, is not removed.
    """
    session = open_session(output, settings_of(store=store))
    name, path, pools = _find_removable(session, network)
    content = "the damaged store" if pools is None else f"{pools:,} stored pools"
    confirm(f"remove {content} of {printable(name)} ({printable(path)})?", yes)
    remove_store(path)
    if session.output.format is OutputFormat.JSON:
        session.output.print_document({"network": name, "pools": pools, "store": path})
    else:
        session.output.print_details(build_removal_details(name, path, pools))


def _find_removable(session: Session, network: str) -> tuple[str, str, int | None]:
    """Return the name, the path and the number of pools of the store of a network, None if it is damaged."""
    try:
        with session.markets.open_store(network) as stored:
            return stored.network.name, stored.path, stored.read_summary().pools
    except MarketError:
        return session.networks.find(network).name, str(session.markets.store_file(network)), None


def _read(session: Session, network: str | None, skip_bad_pools: bool) -> MarketState:
    """Read the market file, which the settings name at this point."""
    if network is not None:
        return session.markets.market(network, skip_bad_pools=skip_bad_pools)
    market = session.markets.file_market(skip_bad_pools=skip_bad_pools)
    assert market is not None
    return market


def _load(session: Session, network: str) -> MarketState:
    store = session.markets.find_store(network)
    if store is None:
        return open_market(network, networks_from(session.settings)).market
    with store:
        return store.read_market()


def _list(session: Session) -> int:
    """Print all stores that can be read, then raise the error of the first that cannot."""
    summaries, failures = [], []
    for file in session.markets.store_files():
        try:
            with open_store(str(file), session.networks.find) as stored:
                summaries.append(stored.read_summary())
        except SwapcliError as error:
            failures.append(error)
    if not summaries and not failures:
        session.output.note(f"no store in {session.setup.stores_folder}; swapcli sync creates one")
    session.output.print_list(build_store_list(summaries, SYSTEM_CLOCK.now_s()))
    if failures:
        raise failures[0]
    return exit_codes.OK


def _print_summary(session: Session, title: str, summary: StoreSummary) -> None:
    now_s = SYSTEM_CLOCK.now_s()
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(store_document(summary, now_s))
    else:
        session.output.print_details(build_store_details(title, summary, now_s))


def _print_export(session: Session, market: MarketState, file: str, size_bytes: int) -> None:
    output, state_source = session.output, StateSource.of(market, SYSTEM_CLOCK.now_s())
    if output.format is OutputFormat.JSON:
        counts = {"pools": len(market.pools), "tokens": len(swappable_in(market))}
        output.print_document(
            {
                "network": market.network.name,
                "state": render_state_source(state_source),
                **counts,
                "file": file,
                "bytes": size_bytes,
            }
        )
    else:
        output.print_details(build_export_details(market, state_source, file))
