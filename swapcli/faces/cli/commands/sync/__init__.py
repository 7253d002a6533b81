"""`swapcli sync`: read a network's pools from a node into a store, and keep them up to date."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

from swapcli import InvalidOption, UpstreamError
from swapcli.core.encoding.disk_errors import is_disk_full
from swapcli.core.encoding.text import printable
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.files import read_bounded_file
from swapcli.faces.cli.options import OutputOptions, option, settings_of
from swapcli.faces.cli.output import OutputFormat, print_note, print_to_stderr
from swapcli.faces.cli.session import Session, open_session
from swapcli.faces.cli.signals import GracefulInterrupt, graceful_interrupts
from swapcli.faces.garbage_collection import enable_garbage_collection

if TYPE_CHECKING:
    from swapcli import ChainStep, SyncResult
    from swapcli.quoting.syncing.open_sync import OpenSync
    from swapcli.state.sync import Progress

FILTER, FOLLOWING = "Filter", "Following"

PUBLIC = ()

app = CommandApp()


@app.command()
def sync(
    network: options.NetworkNameOrDefault = None,
    *,
    tokens: Annotated[
        list[str] | None,
        option(
            "--tokens",
            "Tokens: a,b,c, or a token list (@FILE or @URL).  [default: all]",
            FILTER,
            "LIST",
        ),
    ] = None,
    protocols: Annotated[
        list[str] | None,
        option(
            "--protocols",
            "Protocols, by id or name: a,b,c.  [default: all]",
            FILTER,
            "LIST",
        ),
    ] = None,
    extended_protocols: Annotated[
        bool, option("--extended-protocols", "Also sync protocols outside the Fibrous API.", FILTER)
    ] = False,
    min_liquidity: Annotated[
        str | None, option("--min-liquidity", "Skip pools with less liquidity than this.  [default: 0]", FILTER, "USD")
    ] = None,
    from_block: Annotated[
        str | None,
        option("--from-block", "First block to search for new pools.  [default: 0]", FILTER, "N"),
    ] = None,
    accept_losses: Annotated[
        bool, option("--accept-losses", "Remove pools that the node no longer returns.", FILTER)
    ] = False,
    watch: Annotated[bool, option("--watch", "Follow the chain until Ctrl-C.", FOLLOWING)] = False,
    publish: Annotated[
        str | None,
        option("--publish", "With --watch: publish each block to this Redis server.", FOLLOWING, "URL"),
    ] = None,
    rpc_url: options.RpcUrl = None,
    store: options.StoreDir = None,
    timeout: options.Timeout = None,
    output: OutputOptions,
) -> int:
    """Sync a network's pools from a node into the local store.

    \b
    Examples:
      swapcli sync base --tokens ETH,USDC,cbBTC --rpc-url http://127.0.0.1:8545
      swapcli sync base --watch --rpc-url http://127.0.0.1:8545

    Quotes use the store from then on. The store always holds the state of one complete block: after an error or Ctrl-C,
    run the command again to continue. If the node suddenly returns far fewer pools, swapcli stores nothing;
    --accept-losses overrides this. A token list is JSON in the tokenlists.org format, or text with one token per line.

    See also: swapcli help live.
    """
    if publish is not None and not watch:
        raise InvalidOption("--publish requires --watch", hint="use both")
    if watch and output.output_file is not None:
        from swapcli.faces.cli.output_file import refuse_stream

        refuse_stream("--watch")
    flags = settings_of(store=store, publish=publish, timeout=timeout, extended_protocols=extended_protocols)
    session = open_session(output, flags, rpc_url=rpc_url)
    from swapcli.quoting.syncing.open_sync import SyncRequest, open_sync, sync_once

    request = SyncRequest(session.network_name(network), tokens, protocols, min_liquidity, from_block, publishes=watch)
    enable_garbage_collection()
    show = partial(_progress_display, session)
    with (
        graceful_interrupts() as interruption,
        open_sync(session.sources, request, session.output.note, read_bounded_file, _show_connecting) as opened,
    ):
        if watch:
            filled = opened.fill(show, accept_losses=accept_losses)
            with opened.publishing(print_note) as on_block:
                _follow(session, opened, interruption, filled, on_block)
        else:
            _print(session, sync_once(opened, show, accept_losses=accept_losses), is_watching=False)
    return exit_codes.OK


def _show_connecting(url: str) -> None:
    """Show the node's name immediately, on a terminal only, until there is progress."""
    if sys.stderr.isatty():
        from swapcli.faces.cli.waiting import start_waiting

        start_waiting(f"connecting to {printable(url)} ...", delay_s=0)


@contextmanager
def _progress_display(session: Session) -> Iterator[Callable[["Progress"], object]]:
    """Yield a function that shows progress, on a terminal only."""
    session.output.end_waiting()
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from swapcli.faces.cli.commands.sync.progress import SyncProgressBars

    with SyncProgressBars(session.output.color) as bars:
        yield bars.show


def _print(session: Session, result: "SyncResult", *, is_watching: bool) -> None:
    output = session.output
    if output.format is not OutputFormat.JSON:
        from swapcli.faces.cli.commands.sync.view import build_sync_details

        network = session.sources.networks.find(result.store.summary.network)
        output.print_details(build_sync_details(result, network))
        sys.stdout.flush()
    elif is_watching:
        output.print_line(result)
    else:
        output.print_document(result)


def _follow(
    session: Session,
    opened: "OpenSync",
    interruption: GracefulInterrupt,
    filled: "SyncResult",
    on_block: Callable[[], object],
) -> None:
    """Print the result of the first sync, and follow the chain until interrupted; call `on_block` after each block."""

    def on_step(step: "ChainStep") -> None:
        on_block()
        try:
            _print_step(session, step)
        except OSError as error:
            if not is_disk_full(error):
                raise
            print_note(f"a block was stored but not printed: {error.strerror}")

    try:
        _print(session, filled, is_watching=True)
        if opened.heads.hint:
            print_note(opened.heads.hint)
        opened.follow(on_step, _print_failure, interruption.uninterrupted, print_note)
    except KeyboardInterrupt:
        return


def _print_step(session: Session, step: "ChainStep") -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_line(step)
    else:
        from swapcli.faces.cli.commands.sync.view import format_step

        print_to_stderr(format_step(step))


def _print_failure(error: UpstreamError) -> None:
    from swapcli.quoting.syncing.watch_chain import MAX_FAILING_S

    print_note(f"{error.message}; retrying at each block for up to {MAX_FAILING_S / 60:g} minutes")
