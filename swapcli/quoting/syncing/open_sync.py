"""Open a sync of one network. The node and the store stay open while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from swapcli.core.encoding.text import counted, printable
from swapcli.core.errors import Interrupted, InvalidOption, SwapcliError, UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.records import NamedTuple
from swapcli.core.validation.argument_types import checks_arguments
from swapcli.quoting.openers.long_running_nodes import any_lasting_node
from swapcli.quoting.openers.program_setup import open_program_sources
from swapcli.quoting.sources.token_checks import compare_listed_tokens
from swapcli.quoting.stores import describe_store
from swapcli.quoting.syncing.filters import TokenListReader, compare_decimals, parse_sync_filter, read_token_lists
from swapcli.quoting.syncing.publish import publishing
from swapcli.quoting.syncing.results import ChainStep, SyncResult
from swapcli.quoting.syncing.watch_chain import watch_chain
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.head_source import HeadSource
from swapcli.state.rpc.node import Node
from swapcli.state.store import Store, open_store
from swapcli.state.sync import (
    ChainFollower,
    Progress,
    SyncFilter,
    count_skipped,
    discovery_method,
    transfer_check_error,
)
from swapcli.state.sync import sync as fill
from swapcli.state.temporary_folders import memory_folder, store_folder

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from swapcli.core.model.token import Token
    from swapcli.quoting.openers.choose_source import SourceChooser

_SUBSCRIBED = "the node announces new blocks again"
_ON_DISK = "the store is on disk again, with all blocks"


class SyncRequest(NamedTuple):
    """A request for a sync: which of a network's pools to store, with the options of `swapcli sync`."""

    network: str
    tokens: Sequence[str] | None = None
    protocols: Sequence[str] | None = None
    min_liquidity: str | None = None
    from_block: str | None = None
    publishes: bool = False
    """Whether each block will be published, which requires a server in the settings."""


class OpenSync(NamedTuple):
    """An open sync: a node and its network's store. `note` receives notes as sentences."""

    sources: SourceChooser
    network: Network
    node: Node
    heads: HeadSource
    store: Store
    sync_filter: SyncFilter
    note: Callable[[str], object]

    def fill(
        self, show: Callable[[], AbstractContextManager[Callable[[Progress], object]]], *, accept_losses: bool = False
    ) -> SyncResult:
        """Sync the pools into the store. `show` opens a context that yields the function to call with the progress.

        Raises `Interrupted` on Ctrl-C, `UpstreamError`.
        """
        store = self.store
        started_s, (before, _) = SYSTEM_CLOCK.monotonic_s(), store.inventory.count_pools_and_tokens()
        try:
            with show() as on_progress:
                for progress in fill(store, self.node, self.sync_filter, SYSTEM_CLOCK, accept_losses=accept_losses):
                    on_progress(progress)
        except KeyboardInterrupt:
            raise Interrupted(
                f"interrupted; {_describe_content(store)}", hint="run the same command again to continue"
            ) from None
        except UpstreamError:
            self.note(f"{_describe_content(store)}; run the same command again to continue")
            raise
        if refusal := transfer_check_error(store):
            self.note(
                f"token transfers could not be simulated, so quotes ignore fees on transfers: {printable(refusal)}"
            )
        seconds, found = SYSTEM_CLOCK.monotonic_s() - started_s, describe_store(store.read_summary())
        return SyncResult(
            found,
            max(found.summary.pools - before, 0),
            count_skipped(store),
            seconds,
            discovery_method(store),
            store.inventory.unexplained_pools(),
        )

    def follow(
        self,
        on_step: Callable[[ChainStep], object],
        on_failure: Callable[[UpstreamError], object],
        uninterrupted: Callable[[], AbstractContextManager[object]],
        report: Callable[[str], object],
    ) -> None:
        """Follow the chain until interrupted. `report` receives connection and disk events as sentences.

        `on_failure` receives the first error after a success, as in `watch_chain`. The store is written within the
        context `uninterrupted`.
        """
        problem: str | None = None
        head = self.store.inventory.head()
        reported = head and head.number

        def report_disk(error: SwapcliError | None, failures: int) -> None:
            if failures <= 1:
                report(f"{error.message}; new blocks stay in memory until the disk is writable" if error else _ON_DISK)

        def step() -> None:
            nonlocal reported
            with uninterrupted():
                advance = chain.follow(reported)
                if advance:
                    reported = advance.block.number
                    on_step(ChainStep(self.network.name, advance))

        def pause() -> None:
            nonlocal problem
            head = self.store.inventory.head()
            self.heads.wait(self.heads.poll_s, head and head.number)
            if self.heads.problem != problem:
                problem = self.heads.problem
                report(f"{problem}; polling for new blocks instead" if problem else _SUBSCRIBED)

        # The publisher opens the copy as well.
        with store_folder(memory_folder()) as folder:
            chain = ChainFollower(self.store, self.node, report_disk, str(folder / "copy.sqlite"))
            watch_chain(step, on_failure, pause)

    @contextmanager
    def publishing(self, report: Callable[[str], object]) -> Iterator[Callable[[], object]]:
        """Publish the store if the settings require it. Yield a function to call after each block."""
        settings = self.sources.markets.setup.settings
        if settings.publish_url is None:
            yield lambda: None
            return
        from swapcli.core.encoding.redis_url import RedisUrl
        from swapcli.state.feed.feed_stream import FeedWriter

        def reopen() -> Store:
            return open_store(self.store.path, self.sources.networks.find)

        writer = FeedWriter(RedisUrl.parse(settings.publish_url.reveal()), self.network.name, settings.timeout_s)
        with publishing(reopen, lambda: self.store.path, writer, report) as on_block:
            yield on_block


def _stored_tokens(sources: SourceChooser, network: str) -> Mapping[str, Token]:
    """Return the tokens in the store of a network, or none before its first sync."""
    if not sources.markets.store_file(network).exists():
        return {}
    store = sources.markets.find_store(network)
    if store is None:
        return {}
    with store:
        return store.read_tokens()


@contextmanager
def open_sync(
    sources: SourceChooser,
    request: SyncRequest,
    note: Callable[[str], object],
    read_list: TokenListReader | None = None,
    on_connecting: Callable[[str], object] | None = None,
) -> Iterator[OpenSync]:
    """Open a network's node and store for a sync.

    `read_list` reads a token list's file. `on_connecting` receives the node's URL, without secrets. Raises
    `UnknownNetwork`, `UnknownToken`, `UnknownProtocol`, `InvalidOption`, `ConfigError` and `UpstreamError`.
    """
    network, settings = sources.networks.find(request.network), sources.markets.setup.settings
    names, listed_decimals = request.tokens, dict[str, int]()
    if names is not None:
        names, listed_decimals, notes = read_token_lists(names, network, settings.timeout_s, read_list)
        for each in notes:
            note(each)
    sync_filter = parse_sync_filter(
        network,
        request.protocols,
        names,
        request.min_liquidity,
        request.from_block,
        extended=settings.extended_protocols,
        stored=_stored_tokens(sources, network.name) if names else {},
    )
    if request.publishes and settings.publish_url is not None:
        from swapcli.state.feed.redis_client import require_redis

        require_redis()
    node, heads, _ = any_lasting_node(sources.nodes, network)
    with closing(node), closing(heads):
        if on_connecting is not None:
            on_connecting(node.redacted_url)
        # Before the store, so that an unusable node does not leave an empty store behind.
        _check_from_block(sync_filter, node)
        compare_listed_tokens(node, network, sources.nodes.token_checks(network))
        for difference in compare_decimals(node, network, listed_decimals) if listed_decimals else ():
            note(difference)
        with sources.markets.create_store(network) as store:
            store.check_can_append()
            yield OpenSync(sources, network, node, heads, store, sync_filter, note)


@checks_arguments
def sync(
    network: str,
    *,
    tokens: Sequence[str] | None = None,
    protocols: Sequence[str] | None = None,
    min_liquidity: str | None = None,
    from_block: str | None = None,
    accept_losses: bool = False,
    settings: Mapping[str, object] | SourceChooser | None = None,
) -> SyncResult:
    """Sync a network's pools into its store, from the node in the settings, or from a public node if there is none.

    Arguments have the same form as in `swapcli sync`. After an error, call this again to continue. Raises the same
    errors as the command: `UnknownToken`, `UnknownProtocol`, `InvalidOption`, and `UpstreamError`, also if there are no
    pools.
    """
    sources = open_program_sources(settings)
    request = SyncRequest(network, tokens, protocols, min_liquidity, from_block)
    with open_sync(sources, request, sources.markets.setup.warn) as opened:
        return sync_once(opened, _without_progress, accept_losses=accept_losses)


def sync_once(
    opened: OpenSync,
    show: Callable[[], AbstractContextManager[Callable[[Progress], object]]],
    *,
    accept_losses: bool = False,
) -> SyncResult:
    """Sync into an open store. Raises the same errors as `OpenSync.fill`, and `UpstreamError` if the first sync finds
    no pools."""
    had_pools = opened.store.inventory.has_pools()
    filled = opened.fill(show, accept_losses=accept_losses)
    summary = filled.store.summary
    if summary.pools or had_pools:
        return filled
    first = next(iter(filled.skipped), None)
    reason = "" if first is None else f": {first.count:,} were skipped, {printable(first.reason)}"
    raise UpstreamError(
        f"the sync found no pools on {summary.network}{reason}; quotes continue without the store",
        hint="check the node, --tokens, --protocols and --min-liquidity",
        details={"network": summary.network, "store": summary.path},
    )


@contextmanager
def _without_progress() -> Iterator[Callable[[Progress], object]]:
    yield lambda _: None


def _check_from_block(sync_filter: SyncFilter, node: Node) -> None:
    newest = node.read_head().block.number
    if sync_filter.from_block > newest:
        raise InvalidOption(
            f"--from-block: block {sync_filter.from_block} does not exist yet; the latest block is {newest}"
        )


def _describe_content(store: Store) -> str:
    head, (pools, tokens) = store.inventory.head(), store.inventory.count_pools_and_tokens()
    if head is None:
        return "nothing is stored yet"
    are = "is" if pools == 1 else "are"
    return f"{counted(pools, 'pool')} of {counted(tokens, 'token')} {are} stored, as of block {head.number}"
