"""A source of quotes that reads nodes which the user has not named. If they fail, it falls back to known state."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from swapcli.core.errors import UpstreamError
from swapcli.core.model.network import Network
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.freshness import check_fresh
from swapcli.quoting.sources.joined_orders import JoinedOrders
from swapcli.quoting.sources.quote_source import FindsPools

if TYPE_CHECKING:
    from swapcli.core.model.transaction import UnsignedTransaction
    from swapcli.quoting.health import Health
    from swapcli.quoting.sources.live import LiveSource
    from swapcli.quoting.sources.quote_source import KnownMarket, PoolSource
    from swapcli.quoting.sources.searchable_market import SearchableMarket
    from swapcli.state.snapshot_reader import BlockSnapshot

T = TypeVar("T")


class PublicSource:
    """Quotes from the source that `open_live` returns, which reads nodes. Once that source fails, quotes use the
    `known` state.

    The state of fallback quotes contains the reason (`StateSource.live_failure`), as worded by `explain`. `refresh`
    tries the nodes again. If `may_fall_back` returns false, methods raise the live source's `UpstreamError`.
    `fall_back` is called with the known state before that state replaces live prices, and may raise an error instead.
    The nodes are not read before the first order. `answered` is called after each response from them.
    """

    def __init__(
        self,
        known: PoolSource,
        open_live: Callable[[], LiveSource],
        *,
        may_fall_back: Callable[[], bool],
        explain: Callable[[UpstreamError], str],
        fall_back: Callable[[StateSource], object],
        answered: Callable[[], object] = bool,
        max_age_s: int | None = None,
    ) -> None:
        self._known, self._open_live, self._explain, self._answered = known, open_live, explain, answered
        self._fall_back = fall_back
        self._may_fall_back, self._max_age_s = may_fall_back, max_age_s
        self._live: LiveSource | None = None
        self._failure = ""
        self._is_pinned = False
        self.joined = JoinedOrders()
        """Same as `LiveSource.joined`."""
        if isinstance(known, FindsPools):
            known.use_node(self)

    @property
    def _current(self) -> PoolSource:
        """The source of the newest quote."""
        return self._known if self._failure or self._live is None else self._live

    @property
    def network(self) -> Network:
        return self._current.network

    @property
    def state_source(self) -> StateSource:
        return self._explained(self._current.state_source)

    def token(self, name: str) -> Token:
        return self._known.token(name)

    def quote(self, request: QuoteRequest, terms: SwapTerms | None = None) -> QuoteResult:
        answer = self._ask(lambda source: source.quote(request, terms))
        return answer._replace(state_source=self._explained(answer.state_source)) if self._failure else answer

    def build(self, quoted: QuoteResult | RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        if isinstance(quoted, RouteResult):
            return self._ask(lambda source: source.build(quoted, terms))
        source = self._known if quoted.state_source.live_failure or self._live is None else self._live
        return source.build(quoted, terms)

    def health(self) -> Health:
        """Return the health of the known source, after quoting its sample order on nodes, or on the known state if they
        fail."""
        from swapcli.quoting.health import check_live
        from swapcli.state.clock import SYSTEM_CLOCK

        return check_live(self._known.health(), self.network, self.quote, SYSTEM_CLOCK)

    def refresh(self) -> None:
        """Quote on the newest state from now on. If the nodes have failed, try them again."""
        self._failure = ""
        self._known.refresh()
        if self._live is not None:
            self._live.refresh()

    def newest_snapshot(self) -> BlockSnapshot:
        """Same as `ReadsBlocks.newest_snapshot`."""
        return self._opened().newest_snapshot()

    def pin(self, *, pinned: bool) -> None:
        self._is_pinned = pinned
        self._known.pin(pinned=pinned)
        if self._live is not None:
            self._live.pin(pinned=pinned)

    def close(self) -> None:
        (self._live or self._known).close()

    def known(self) -> KnownMarket:
        return self._known.known()

    def read(self, part: SearchableMarket, keys: Collection[str], priced: Collection[str]) -> SearchableMarket:
        return self._ask(lambda source: source.read(part, keys, priced))

    def latest(self, keys: Collection[str]) -> SearchableMarket:
        return self._current.latest(keys)

    def _ask(self, request: Callable[[PoolSource], T]) -> T:
        """Return the result of the live source, otherwise that of the known one."""
        if not self._failure:
            try:
                answer = request(self._opened())
                self._answered()
                return answer
            except UpstreamError as error:
                if not self._may_fall_back():
                    raise
                self._failure = self._explain(error)
        self._fall_back(self._explained(self._known.state_source))
        check_fresh(self._known.state_source, self._known.network, self._max_age_s)
        return request(self._known)

    def _opened(self) -> LiveSource:
        if self._live is None:
            self._live = self._open_live()
            self._live.joined = self.joined
            if self._is_pinned:
                self._live.pin(pinned=True)
        return self._live

    def _explained(self, state: StateSource) -> StateSource:
        return state._replace(live_failure=self._failure) if self._failure else state
