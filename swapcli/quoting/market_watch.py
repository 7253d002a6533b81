"""Quote one order repeatedly: at each new block, or at a fixed interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import sleep
from typing import TYPE_CHECKING, Final

from swapcli.core.encoding.url import is_http_url
from swapcli.core.errors import InvalidOption, NoRoute, PoolError, RateLimited, StaleError, SwapcliError, UpstreamError
from swapcli.quoting.live_choice import missing_node_hint
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK

if TYPE_CHECKING:
    from swapcli.core.model.state_source import StateSource
    from swapcli.quoting.openers.nodes import NodeOpener
    from swapcli.quoting.sources.quote_source import QuoteSource
    from swapcli.quoting.swap_quote import SwapQuote
    from swapcli.state.rpc.head_source import HeadSource

_SERVICE_S: Final = 5.0
"""Pause between two requests to a service, which may limit requests and whose blocks are unknown here."""
_PASSING = (UpstreamError, StaleError, NoRoute, PoolError, RateLimited)
"""Errors after which the next attempt may succeed."""

OnFailure = Callable[[SwapcliError], object]
"""Receives the error of a failed attempt; another attempt follows."""


class MarketWatch:
    """Yields the quotes from `quote_newest`, one per block, or one every `every_s` seconds.

    `interval_s` is the pause between two attempts, at least one block time. A WebSocket or IPC node in the settings
    announces blocks, which ends the pause. Raises `InvalidOption` for a market that never changes.
    """

    def __init__(
        self,
        source: QuoteSource,
        nodes: NodeOpener,
        quote_newest: Callable[[], SwapQuote],
        every_s: float | None,
        on_failure: OnFailure,
    ) -> None:
        self._source, self._nodes = source, nodes
        self._quote_newest, self._on_failure = quote_newest, on_failure
        self._every_block = every_s is None
        self.interval_s = _interval_s(source, nodes, every_s)

    def __iter__(self) -> Iterator[SwapQuote]:
        """Yield quotes, the first one immediately. Raises the same errors as `Market.quote` until there is one."""
        last: SwapQuote | None = None
        has_failed = False
        with ExitStack() as stack:
            heads = self._open_heads(stack)
            while True:
                started_s = SYSTEM_CLOCK.monotonic_s()
                try:
                    quote = self._quote_newest()
                except _PASSING as error:
                    if last is None:
                        raise
                    has_failed = True
                    self._on_failure(error)
                else:
                    if last is None or not self._every_block or not _is_earlier(quote.state, last.state):
                        is_new = last is None or quote.state.block is None or quote.state.block != last.state.block
                        is_due, last = is_new or has_failed or not self._every_block, quote
                        has_failed = False
                        if is_due:
                            yield quote
                pause_s = max(self.interval_s - (SYSTEM_CLOCK.monotonic_s() - started_s), 0.0)
                if heads is None:
                    sleep(pause_s)
                else:
                    heads.wait(pause_s, last.state.block)

    def _open_heads(self, stack: ExitStack) -> HeadSource | None:
        """Return the source that announces blocks until `stack` is closed; None if no node in the settings does."""
        from swapcli.quoting.sources.live import LiveSource

        if not self._every_block or not isinstance(self._source, LiveSource):
            return None
        named = self._nodes.rules.named_nodes(self._source.network)
        if named is None or all(is_http_url(url.reveal()) for url in named.urls):
            return None
        from swapcli.quoting.openers.long_running_nodes import named_lasting_node

        lasting = named_lasting_node(self._nodes, self._source.network)
        if lasting is None:
            return None
        stack.callback(lasting.node.close)
        stack.callback(lasting.heads.close)
        return lasting.heads


def _is_earlier(state: StateSource, last: StateSource) -> bool:
    """Return whether a state is of an earlier block than the last one, as from a lagging node behind the same address.

    After a reset, a chain's block numbers are lower as well, but its time is not.
    """
    if state.block is None or last.block is None or state.block >= last.block:
        return False
    return state.timestamp is None or last.timestamp is None or state.timestamp <= last.timestamp


def _interval_s(source: QuoteSource, nodes: NodeOpener, every_s: float | None) -> float:
    from swapcli.quoting.sources.remote import RemoteSource
    from swapcli.state.rpc.head_source import poll_interval_s

    network = source.network
    if isinstance(source, InMemorySource):
        is_file = nodes.setup.settings.market is not None
        kind = "a market file" if is_file else f"the embedded market of {network.name}"
        raise InvalidOption(
            f"{kind} never changes, so --watch has nothing to watch",
            hint=f"{missing_node_hint(network)}; or fill a store with swapcli sync --watch",
        )
    usual_s = _SERVICE_S if isinstance(source, RemoteSource) else poll_interval_s(network.block_time_s)
    return usual_s if every_s is None else max(every_s, poll_interval_s(network.block_time_s))
