"""`swapcli sync`: the pools of a network, read from a node into a store and kept up to date there."""

# Annotations are values here: they are what Typer reads.

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Annotated

from swapcli.chain.node import Node
from swapcli.cli import exit_codes, options
from swapcli.cli.lazy_group import PanelCommand, new_app
from swapcli.cli.options import OutputOptions, option, with_option_groups
from swapcli.cli.output import OutputFormat, print_note, print_to_stderr
from swapcli.cli.render.sync_view import SyncResult, advance_document, build_sync_details, format_advance, sync_document
from swapcli.cli.render.text import printable
from swapcli.cli.session import Session, check_has_nodes, open_session
from swapcli.cli.signals import GracefulInterrupt, graceful_interrupts
from swapcli.cli.store_paths import make_store
from swapcli.cli.sync_filter_options import parse_sync_filter
from swapcli.cli.sync_watch import MAX_CONSECUTIVE_FAILURES, watch_chain
from swapcli.config.sources import flag
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sync import Advance, Progress, Wanted, follow, refusal_of, skipped
from swapcli.engine.sync import sync as fill
from swapcli.errors import Interrupted, InvalidOption, UpstreamError
from swapcli.startup import enable_garbage_collection
from swapcli.store import Store

WANTED = "Wanted"

app = new_app()


@app.command(cls=PanelCommand)
@with_option_groups
def sync(
    network: options.NetworkNameOrDefault = None,
    *,
    tokens: Annotated[
        list[str] | None,
        option("--tokens", "Only pools of these: symbols or addresses, with commas.  [default: all]", WANTED, "LIST"),
    ] = None,
    protocols: Annotated[
        list[str] | None,
        option("--protocols", "Only pools of these: ids or names, with commas.  [default: all]", WANTED, "LIST"),
    ] = None,
    min_liquidity: Annotated[
        str | None, option("--min-liquidity", "Leave out pools of less depth, in dollars.  [default: 0]", WANTED, "USD")
    ] = None,
    from_block: Annotated[
        str | None,
        option("--from-block", "Where to begin looking for pools in events.  [default: 0]", WANTED, "N"),
    ] = None,
    accept_losses: Annotated[
        bool, option("--accept-losses", "Take out pools that can no longer be read, however many.", WANTED)
    ] = False,
    watch: Annotated[bool, option("--watch", "Follow the chain until told to stop.", WANTED)] = False,
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

    Quotes rest on the store from then on. It always holds one whole block: whenever this ends, by an error or by
    Ctrl-C, running it again goes on from there. Without --rpc-url the node is networks.NETWORK.rpc_url of the settings,
    or else a public one. A node that suddenly no longer tells the state of many pools is not believed: nothing is
    stored then, unless --accept-losses says that those pools are gone. With --watch every new block is a line on
    stderr, with --json an object a line on stdout.
    """
    flags = {"store_dir": flag("--store", store), "timeout_s": flag("--timeout", timeout)}
    session = open_session(output, flags, rpc_url=rpc_url)
    where = session.network(session.network_name(network))
    check_has_nodes(where)
    wanted = parse_sync_filter(where, protocols, tokens, min_liquidity, from_block)
    enable_garbage_collection()
    with graceful_interrupts() as interruption, closing(session.any_node(where)) as node:
        # A node that cannot be used is found out before there is a store.
        _check_begin(wanted, node)
        with make_store(session, where) as kept:
            kept.check_can_follow()
            _tell(session, _fill(session, kept, node, wanted, accept_losses), to_be_followed=watch)
            if watch:
                _follow(session, kept, node, interruption)
    return exit_codes.OK


def _check_begin(wanted: Wanted, node: Node) -> None:
    newest = node.head().block.number
    if wanted.from_block > newest:
        raise InvalidOption(f"--from-block: block {wanted.from_block} lies ahead, the newest is {newest}")


def _fill(session: Session, kept: Store, node: Node, wanted: Wanted, accept_losses: bool) -> SyncResult:
    started_s, (before, _) = SYSTEM_CLOCK.monotonic_s(), kept.register.counts()
    try:
        with _shown(session) as show:
            for progress in fill(kept, node, wanted, SYSTEM_CLOCK, may_lose=accept_losses):
                show(progress)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {_kept(kept)}", hint="the same command goes on from there") from None
    except UpstreamError:
        session.output.note(f"{_kept(kept)}; the same command goes on from there")
        raise
    if refusal := refusal_of(kept):
        session.output.note(
            f"token transfers could not be simulated, so quotes ignore any fee on transfer: {printable(refusal)}"
        )
    seconds, summary = SYSTEM_CLOCK.monotonic_s() - started_s, kept.summary()
    return SyncResult(summary, max(summary.pools - before, 0), skipped(kept), seconds)


@contextmanager
def _shown(session: Session) -> Iterator[Callable[[Progress], object]]:
    """What shows progress, where somebody looks on."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from swapcli.cli.render.progress import SyncProgressBars

    with SyncProgressBars(session.output.color) as bars:
        yield bars.show


def _kept(kept: Store) -> str:
    head, (pools, tokens) = kept.register.head(), kept.register.counts()
    if head is None:
        return "nothing is kept yet"
    return f"{pools:,} pools of {tokens:,} tokens are kept, as of block {head.number}"


def _tell(session: Session, synced: SyncResult, *, to_be_followed: bool) -> None:
    output, now_s = session.output, SYSTEM_CLOCK.now_s()
    if output.format is not OutputFormat.JSON:
        output.print_details(build_sync_details(synced, now_s))
        sys.stdout.flush()
    elif to_be_followed:
        output.print_line(sync_document(synced, now_s))
    else:
        output.print_document(sync_document(synced, now_s))


def _follow(session: Session, kept: Store, node: Node, interruption: GracefulInterrupt) -> None:
    """Follow the chain until told to stop."""

    def step() -> None:
        with interruption.uninterrupted():
            advance = follow(kept, node)
            if advance:
                _tell_advance(session, kept.network.name, advance)

    try:
        watch_chain(step, _tell_failure, time.sleep, kept.network.block_time_s)
    except KeyboardInterrupt:
        return


def _tell_advance(session: Session, network: str, advance: Advance) -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_line(advance_document(network, advance))
    else:
        print_to_stderr(format_advance(advance))


def _tell_failure(error: UpstreamError, failures: int, pause_s: float) -> None:
    print_note(
        f"{error.message}; trying again in {pause_s:g} s, {failures} of {MAX_CONSECUTIVE_FAILURES} failures in a row"
    )
