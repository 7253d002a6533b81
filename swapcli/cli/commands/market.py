"""`swapcli market`: what is kept of networks, and how it comes in and out as files."""

# Annotations are values here: they are what Typer reads.

from typing import Annotated

from swapcli.cli import exit_codes, options
from swapcli.cli.files import STDIN, write_atomically
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OutputOptions, argument, option, with_option_groups
from swapcli.cli.output import OutputFormat
from swapcli.cli.render.json import state_field
from swapcli.cli.render.store_view import build_export_details, build_store_details, build_store_list, store_document
from swapcli.cli.session import Session, open_session
from swapcli.cli.store_paths import make_store, opened_store, store_files
from swapcli.config import networks_from
from swapcli.config.sources import flag
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.load_market import open_market
from swapcli.errors import InvalidInput, InvalidOption, SwapcliError
from swapcli.model.market import Market
from swapcli.model.state_source import StateSource
from swapcli.store import Summary, open_store

app = new_app("Import, export and show stored pools.")


@app.command("import", cls=PanelCommand)
@with_option_groups
def import_(
    file: Annotated[str, argument("FILE", "Market file, - for stdin.")],
    network: Annotated[str | None, argument("[NETWORK]", "The network that the file has to be of.")] = None,
    *,
    replace: Annotated[bool, option("--replace", "Replace what the store holds.", options.SETTINGS)] = False,
    skip_bad_pools: options.SkipBadPools = False,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Keep the pools of a market file in the store of its network.

    \b
    Example: swapcli market export base | swapcli market import - --replace

    Quotes on the network rest on the store from then on. A store that holds pools is left as it is without --replace.
    """
    session = open_session(output, {"market": file, "store_dir": flag("--store", store)})
    held = _read(session, network, skip_bad_pools)
    with make_store(session, held.network) as kept:
        before = kept.summary().pools
        if before and not replace:
            raise InvalidInput(
                f"the store {kept.path} holds {before:,} pools already",
                hint="--replace puts those of the file in their place",
                details={"store": kept.path, "pools": before},
            )
        kept.write_market(held)
        _tell(session, f"{held.network.name}, imported", kept.summary())


@app.command(cls=PanelCommand)
@with_option_groups
def export(
    network: options.NetworkName,
    file: Annotated[str | None, argument("[FILE]", "File to write; stdout where none is named, or -.")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> None:
    """Write the store of a network, or else the embedded market, as a market file.

    \b
    Example: swapcli market export base | head -c 400

    Such a file is what --market takes, and what swapcli market import reads. It is written whole or not at all.
    """
    session = open_session(output, {"store_dir": flag("--store", store)})
    to_stdout = file is None or file == STDIN
    if to_stdout and (output.plain or output.table):
        raise InvalidOption("a market file is JSON, so --plain and --table do not fit", hint="name a FILE")
    from swapcli.markets.format import render_market

    held = _held(session, network)
    text = render_market(held)
    if file is None or to_stdout:
        print(text)
        return
    write_atomically(file, text + "\n")
    _tell_written(session, held, file, len(text) + 1)


@app.command(cls=PanelCommand)
@with_option_groups
def info(
    network: Annotated[str | None, argument("[NETWORK]", "All networks that have a store where none is named.")] = None,
    *,
    store: options.StoreDir = None,
    output: OutputOptions,
) -> int:
    """Tell what is kept: block, age, pools by protocol and their depth.

    \b
    Example: swapcli market info

    Depth is about what orders could move in the pools of a protocol, in dollars.
    """
    session = open_session(output, {"store_dir": flag("--store", store)})
    if network is None:
        return _list(session)
    with opened_store(session, network) as kept:
        summary = kept.summary()
    _tell(session, summary.network, summary)
    return exit_codes.OK


def _read(session: Session, network: str | None, skip_bad_pools: bool) -> Market:
    """The market of the file, which the settings name by now."""
    if network is not None:
        return session.market(network, skip_bad_pools=skip_bad_pools)
    held = session.file_market(skip_bad_pools=skip_bad_pools)
    assert held is not None
    return held


def _held(session: Session, network: str) -> Market:
    store = session.stored(network)
    if store is None:
        return open_market(network, networks_from(session.settings)).market
    with store:
        return store.read_market()


def _list(session: Session) -> int:
    """What cannot be read hides nothing else: it is told last."""
    summaries, failures = [], []
    for file in store_files(session):
        try:
            with open_store(str(file), session.network) as kept:
                summaries.append(kept.summary())
        except SwapcliError as error:
            failures.append(error)
    if not summaries and not failures:
        session.output.note(f"there is no store in {session.stores_folder}; swapcli sync makes one")
    session.output.print_list(build_store_list(summaries, SYSTEM_CLOCK.now_s()))
    if failures:
        raise failures[0]
    return exit_codes.OK


def _tell(session: Session, title: str, summary: Summary) -> None:
    now_s = SYSTEM_CLOCK.now_s()
    if session.output.format is OutputFormat.JSON:
        session.output.print_document(store_document(summary, now_s))
    else:
        session.output.print_details(build_store_details(title, summary, now_s))


def _tell_written(session: Session, held: Market, file: str, size_bytes: int) -> None:
    output, state_source = session.output, StateSource.of(held, SYSTEM_CLOCK.now_s())
    if output.format is OutputFormat.JSON:
        counts = {"pools": len(held.pools), "tokens": len(held.tokens)}
        output.print_document(
            {
                "network": held.network.name,
                "market": state_field(state_source),
                **counts,
                "file": file,
                "bytes": size_bytes,
            }
        )
    else:
        output.print_details(build_export_details(held, state_source, file))
