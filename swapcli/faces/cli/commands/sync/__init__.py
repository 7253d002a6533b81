"""`swapcli sync`: read the pools of a network from a node into a store, and keep them up to date."""

# No `from __future__ import annotations`: see `swapcli.startup`.

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Annotated

from swapcli.core.encoding.text import printable
from swapcli.core.errors import Interrupted, InvalidOption, UpstreamError
from swapcli.faces.cli import exit_codes, options
from swapcli.faces.cli.command_app import CommandApp
from swapcli.faces.cli.commands.sync.filter_options import compare_decimals, parse_sync_filter, read_token_lists
from swapcli.faces.cli.commands.sync.view import (
    SyncResult,
    advance_document,
    build_sync_details,
    format_advance,
    sync_document,
)
from swapcli.faces.cli.commands.sync.watch import MAX_CONSECUTIVE_FAILURES, watch_chain
from swapcli.faces.cli.garbage_collection import enable_garbage_collection
from swapcli.faces.cli.options import OutputOptions, option, settings_of
from swapcli.faces.cli.output import OutputFormat, print_note, print_to_stderr
from swapcli.faces.cli.session import Session, open_session
from swapcli.faces.cli.signals import GracefulInterrupt, graceful_interrupts
from swapcli.quoting.openers.long_running_nodes import any_lasting_node
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.head_source import HeadSource
from swapcli.state.rpc.node import Node
from swapcli.state.store import Store
from swapcli.state.sync import (
    Advance,
    Progress,
    SyncFilter,
    count_skipped,
    discovery_method,
    follow,
    transfer_check_error,
)
from swapcli.state.sync import sync as fill

FILTER, FOLLOWING = "Filter", "Following"

_SUBSCRIBED = "the node announces new blocks again"

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
            "Only pools of these tokens: comma-separated symbols or addresses, or @FILE or @URL of a token list."
            "  [default: all]",
            FILTER,
            "LIST",
        ),
    ] = None,
    protocols: Annotated[
        list[str] | None,
        option(
            "--protocols",
            "Only pools of these protocols: comma-separated ids or names.  [default: all]",
            FILTER,
            "LIST",
        ),
    ] = None,
    extended_protocols: Annotated[
        bool, option("--extended-protocols", "Also pools of protocols that the interface does not list.", FILTER)
    ] = False,
    min_liquidity: Annotated[
        str | None, option("--min-liquidity", "Leave out pools with less depth in USD.  [default: 0]", FILTER, "USD")
    ] = None,
    from_block: Annotated[
        str | None,
        option("--from-block", "First block to search for created pools.  [default: 0]", FILTER, "N"),
    ] = None,
    accept_losses: Annotated[
        bool, option("--accept-losses", "Remove pools that can no longer be read, however many.", FILTER)
    ] = False,
    watch: Annotated[bool, option("--watch", "Follow the chain until interrupted.", FOLLOWING)] = False,
    publish: Annotated[
        str | None,
        option(
            "--publish", "With --watch, publish each block to this Redis server, for serve --feed.", FOLLOWING, "URL"
        ),
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

    A token list, as in --tokens @tokens.json, is JSON in the format of tokenlists.org, or text with one token a line.

    Quotes use the store from then on. It always holds one whole block: after an error or Ctrl-C, run the same command
    again to continue. Without --rpc-url the node is the setting networks.NETWORK.rpc_url, or else a public one. If a
    node suddenly no longer returns many pools, nothing is stored; --accept-losses removes these pools. With --watch
    every new block is one line on stderr, or with --json one object per line on stdout.
    """
    if publish is not None and not watch:
        raise InvalidOption("--publish requires --watch", hint="give both")
    if watch and output.output_file is not None:
        from swapcli.faces.cli.output_file import refuse_stream

        refuse_stream("--watch")
    flags = settings_of(store=store, publish=publish, timeout=timeout, extended_protocols=extended_protocols)
    session = open_session(output, flags, rpc_url=rpc_url)
    target_network = session.networks.find(session.network_name(network))
    names, listed_decimals = tokens, dict[str, int]()
    if tokens is not None:
        names, listed_decimals, notes = read_token_lists(tokens, target_network, session.settings.timeout_s)
        for note in notes:
            session.output.note(note)
    sync_filter = parse_sync_filter(
        target_network, protocols, names, min_liquidity, from_block, extended=session.settings.extended_protocols
    )
    if watch and session.settings.publish_url is not None:
        from swapcli.state.feed.redis_client import require_redis

        require_redis()
    enable_garbage_collection()
    with graceful_interrupts() as interruption:
        node, heads, _ = any_lasting_node(session.nodes, target_network)
        with closing(node), closing(heads):
            _show_connecting(node)
            # Before the store: an unusable node should not leave an empty store behind.
            _check_from_block(sync_filter, node)
            for difference in compare_decimals(node, target_network, listed_decimals) if listed_decimals else ():
                session.output.note(difference)
            with session.markets.create_store(target_network) as target:
                target.check_can_append()
                had_pools = target.inventory.has_pools()
                filled = _fill(session, target, node, sync_filter, accept_losses=accept_losses)
                if watch:
                    with _publishing(session, target) as on_block:
                        _follow(session, target, node, heads, interruption, filled, on_block)
                else:
                    _require_pools(filled, had_pools)
                    _print(session, filled, is_watching=False)
    return exit_codes.OK


def _show_connecting(node: Node) -> None:
    """Name the node at once, on a terminal only, until there is progress."""
    if sys.stderr.isatty():
        from swapcli.faces.cli.waiting import start_waiting

        start_waiting(f"connecting to {printable(node.redacted_url)} ...", delay_s=0)


def _check_from_block(sync_filter: SyncFilter, node: Node) -> None:
    newest = node.read_head().block.number
    if sync_filter.from_block > newest:
        raise InvalidOption(
            f"--from-block: block {sync_filter.from_block} does not exist yet; the newest block is {newest}"
        )


def _fill(
    session: Session,
    target: Store,
    node: Node,
    sync_filter: SyncFilter,
    *,
    accept_losses: bool,
) -> SyncResult:
    started_s, (before, _) = SYSTEM_CLOCK.monotonic_s(), target.inventory.count_pools_and_tokens()
    try:
        with _progress_display(session) as show:
            for progress in fill(target, node, sync_filter, SYSTEM_CLOCK, accept_losses=accept_losses):
                show(progress)
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; {_describe_store(target)}", hint="run the same command again to continue"
        ) from None
    except UpstreamError:
        session.output.note(f"{_describe_store(target)}; run the same command again to continue")
        raise
    if refusal := transfer_check_error(target):
        session.output.note(
            f"token transfers could not be simulated, so quotes ignore any fee on transfer: {printable(refusal)}"
        )
    seconds, summary = SYSTEM_CLOCK.monotonic_s() - started_s, target.read_summary()
    return SyncResult(
        summary,
        max(summary.pools - before, 0),
        count_skipped(target),
        seconds,
        discovery_method(target),
        target.inventory.unexplained_pools(),
    )


def _require_pools(filled: SyncResult, had_pools: bool) -> None:
    """Raise `UpstreamError` if the first sync has found no pool: quotes do not use such a store."""
    if filled.summary.pools or had_pools:
        return
    network = filled.summary.network
    first = next(iter(filled.skipped), None)
    reason = "" if first is None else f": {first.count:,} were left out, {printable(first.reason)}"
    raise UpstreamError(
        f"the sync found no pool of {network}{reason}; quotes go on without the store",
        hint="check the node, --tokens, --protocols and --min-liquidity",
        details={"network": network, "store": filled.summary.path},
    )


@contextmanager
def _progress_display(session: Session) -> Iterator[Callable[[Progress], object]]:
    """Yield a function that shows progress, on a terminal only."""
    session.output.end_waiting()
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from swapcli.faces.cli.commands.sync.progress import SyncProgressBars

    with SyncProgressBars(session.output.color) as bars:
        yield bars.show


def _describe_store(target: Store) -> str:
    head, (pools, tokens) = target.inventory.head(), target.inventory.count_pools_and_tokens()
    if head is None:
        return "nothing is stored yet"
    return f"{pools:,} pools of {tokens:,} tokens are stored, as of block {head.number}"


def _print(session: Session, result: SyncResult, *, is_watching: bool) -> None:
    output, now_s = session.output, SYSTEM_CLOCK.now_s()
    if output.format is not OutputFormat.JSON:
        output.print_details(build_sync_details(result, now_s))
        sys.stdout.flush()
    elif is_watching:
        output.print_line(sync_document(result, now_s))
    else:
        output.print_document(sync_document(result, now_s))


@contextmanager
def _publishing(session: Session, target: Store) -> Iterator[Callable[[], object]]:
    """Publish the store if the settings say so. Yield a function to call after each block."""
    url = session.settings.publish_url
    if url is None:
        yield lambda: None
        return
    from swapcli.core.encoding.redis_url import RedisUrl
    from swapcli.faces.cli.commands.sync.publish import publishing
    from swapcli.state.feed.feed_stream import FeedWriter
    from swapcli.state.store import open_store

    def reopen() -> Store:
        return open_store(target.path, session.networks.find)

    writer = FeedWriter(RedisUrl.parse(url.reveal()), target.network.name, session.settings.timeout_s)
    with publishing(reopen, writer, print_note) as on_block:
        yield on_block


def _follow(
    session: Session,
    target: Store,
    node: Node,
    heads: HeadSource,
    interruption: GracefulInterrupt,
    filled: SyncResult,
    on_block: Callable[[], object],
) -> None:
    """Print the result of the first sync, and follow the chain until interrupted; call `on_block` after each block."""
    problem: str | None = None
    head = target.inventory.head()
    reported = head and head.number

    def step() -> None:
        nonlocal reported
        with interruption.uninterrupted():
            advance = follow(target, node, reported)
            if advance:
                reported = advance.block.number
                on_block()
                _print_advance(session, target.network.name, advance)

    def pause(pause_s: float) -> None:
        nonlocal problem
        head = target.inventory.head()
        heads.wait(pause_s, head and head.number)
        if heads.problem != problem:
            problem = heads.problem
            print_note(f"{problem}; looking for new blocks from time to time" if problem else _SUBSCRIBED)

    try:
        _print(session, filled, is_watching=True)
        if heads.hint:
            print_note(heads.hint)
        watch_chain(step, _print_failure, pause, lambda: heads.poll_s)
    except KeyboardInterrupt:
        return


def _print_advance(session: Session, network: str, advance: Advance) -> None:
    if session.output.format is OutputFormat.JSON:
        session.output.print_line(advance_document(network, advance))
    else:
        print_to_stderr(format_advance(advance))


def _print_failure(error: UpstreamError, failures: int, pause_s: float) -> None:
    print_note(
        f"{error.message}; retrying in {pause_s:g} s ({failures} of {MAX_CONSECUTIVE_FAILURES} consecutive failures)"
    )
