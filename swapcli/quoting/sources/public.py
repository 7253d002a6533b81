"""A source of quotes that reads nodes which the user has not named, and quotes on known state where they fail."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, TypeVar

from swapcli.core.errors import UpstreamError
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network
from swapcli.core.model.pool import Pool
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.route_result import RouteResult
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.quoting.quote_results import QuoteResult
from swapcli.quoting.sources.freshness import check_fresh

if TYPE_CHECKING:
    from swapcli.core.model.past_pools import PastPools
    from swapcli.quoting.health import Health
    from swapcli.quoting.pool_listing import PoolSelection
    from swapcli.quoting.sources.in_memory import InMemorySource
    from swapcli.quoting.sources.live import LiveSource
    from swapcli.quoting.sources.pool_source import PoolSource
    from swapcli.quoting.sources.quote_source import QuoteSource

T = TypeVar("T")


class PublicSource:
    """Quotes on the source that `open_live` returns, which reads nodes; once that fails, on the `known` state.

    The state of such quotes says why (`StateSource.live_failure`), in the words of `explain`. `refresh` tries the nodes
    again. Unless it `may_fall_back`, methods raise `UpstreamError` as the other source does. The nodes are read for
    the first order, not before; each time that they have `answered`, that is called.
    """

    def __init__(
        self,
        known: PoolSource,
        open_live: Callable[[], LiveSource],
        *,
        may_fall_back: Callable[[], bool],
        explain: Callable[[UpstreamError], str],
        answered: Callable[[], object] = bool,
        max_age_s: int | None = None,
    ) -> None:
        self._known, self._open_live, self._explain, self._answered = known, open_live, explain, answered
        self._may_fall_back, self._max_age_s = may_fall_back, max_age_s
        self._live: LiveSource | None = None
        self._failure = ""
        self._is_pinned = False

    @property
    def _current(self) -> QuoteSource:
        """The source of the newest quote."""
        return self._known if self._failure or self._live is None else self._live

    @property
    def network(self) -> Network:
        """As `QuoteSource.network`."""
        return self._current.network

    @property
    def state_source(self) -> StateSource:
        """As `QuoteSource.state_source`."""
        return self._explained(self._current.state_source)

    def token(self, name: str) -> Token:
        """As `QuoteSource.token`."""
        return self._known.token(name)

    def quote(self, request: QuoteRequest) -> QuoteResult:
        """As `QuoteSource.quote`."""
        return self._of_answer(self._ask(lambda source: source.quote(request)))

    def quote_and_build(self, request: QuoteRequest, terms: SwapTerms) -> tuple[QuoteResult, UnsignedTransaction]:
        """As `QuoteSource.quote_and_build`."""
        answer, payload = self._ask(lambda source: source.quote_and_build(request, terms))
        return self._of_answer(answer), payload

    def build_payload(self, answer: QuoteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build_payload`."""
        source = self._known if answer.state_source.live_failure or self._live is None else self._live
        return source.build_payload(answer, terms)

    def build(self, result: RouteResult, terms: SwapTerms) -> UnsignedTransaction:
        """As `QuoteSource.build`."""
        return self._ask(lambda source: source.build(result, terms))

    def impact_of(self, result: RouteResult, payload: UnsignedTransaction) -> PriceImpact | None:
        """As `QuoteSource.impact_of`."""
        return self._current.impact_of(result, payload)

    def route_pools(self, result: RouteResult) -> Mapping[str, Pool] | None:
        """As `QuoteSource.route_pools`."""
        return self._current.route_pools(result)

    def known_market(self) -> MarketState | None:
        """As `QuoteSource.known_market`."""
        return self._known.known_market()

    def known_contract(self, address: str) -> str | None:
        """As `QuoteSource.known_contract`."""
        return self._known.known_contract(address)

    def known_pools(self, tokens: Collection[str]) -> Mapping[str, Pool] | None:
        """As `QuoteSource.known_pools`."""
        return self._known.known_pools(tokens)

    def past_pools(self, keys: Collection[str]) -> tuple[PastPools, ...]:
        """As `QuoteSource.past_pools`."""
        return self._known.past_pools(keys)

    def select_pools(self, tokens: Collection[str], limit: int | None) -> PoolSelection:
        """As `QuoteSource.select_pools`."""
        return self._ask(lambda source: source.select_pools(tokens, limit))

    def pricing_source(self, tokens: Collection[str]) -> InMemorySource:
        """As `QuoteSource.pricing_source`."""
        return self._ask(lambda source: source.pricing_source(tokens))

    def health(self) -> Health:
        """As `QuoteSource.health`."""
        return self._current.health()

    def refresh(self) -> None:
        """As `QuoteSource.refresh`: also try the nodes again if they have failed."""
        self._failure = ""
        self._known.refresh()
        if self._live is not None:
            self._live.refresh()

    def pin(self, *, pinned: bool) -> None:
        """As `QuoteSource.pin`."""
        self._is_pinned = pinned
        self._known.pin(pinned=pinned)
        if self._live is not None:
            self._live.pin(pinned=pinned)

    def close(self) -> None:
        """As `QuoteSource.close`."""
        (self._live or self._known).close()

    def _ask(self, request: Callable[[QuoteSource], T]) -> T:
        """Return the answer of the live source, else that of the known one."""
        if not self._failure:
            try:
                answer = request(self._opened())
                self._answered()
                return answer
            except UpstreamError as error:
                if not self._may_fall_back():
                    raise
                self._failure = self._explain(error)
        check_fresh(self._known.state_source, self._known.network, self._max_age_s)
        return request(self._known)

    def _opened(self) -> LiveSource:
        if self._live is None:
            self._live = self._open_live()
            if self._is_pinned:
                self._live.pin(pinned=True)
        return self._live

    def _of_answer(self, answer: QuoteResult) -> QuoteResult:
        return answer._replace(state_source=self._explained(answer.state_source)) if self._failure else answer

    def _explained(self, state: StateSource) -> StateSource:
        return state._replace(live_failure=self._failure) if self._failure else state
