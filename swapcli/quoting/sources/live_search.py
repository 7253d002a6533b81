"""Find the best route on the newest state while reading only a few pools.

The known state, which may be old, decides which pools are read first. Their new states show how prices have moved, and
are used to predict the states of the other pools. As long as the other pools could add more than `TOLERANCE` to the
output, they are read too, within limits. All routes found are compared on the states that were read, so the result is
at least as good as any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from math import inf
from typing import TYPE_CHECKING

from swapcli.core.errors import FeeOnTransfer, NoRoute, RequestBudgetSpent
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.records import NamedTuple
from swapcli.core.routing.competing_routes import KnownRoute, is_better
from swapcli.core.routing.pool_state_prediction import price_moves, shift_market
from swapcli.core.routing.unused_pool_gains import (
    PRICE_MARGIN,
    closest_pools,
    deepest_anchor_pools,
    pool_gains,
    route_pools,
)
from swapcli.quoting.sources.sampled_markets import (
    has_samples,
    sampled_keys,
    useful_sampled_pools,
    without_pools,
    without_wrong_prices,
)
from swapcli.quoting.sources.searchable_market import SearchableMarket

if TYPE_CHECKING:
    from swapcli.core.routing.router import SearchResult
    from swapcli.core.routing.unused_pool_gains import PoolGains

TOLERANCE = 0.5e-4
"""The fraction of the output that unread pools may add together: half a basis point."""
LARGE_SPREAD = 5e-4
"""A relative change of a rate. If pools have moved by more than this relative to their tokens' prices, an unread pool
may well be better than predicted. It is the lowest fee of a common pool, 5 basis points."""
_MIN_TIME_SHARE = 0.1  # share of the search's time limit, for a search after the time is up
_MAX_SAMPLED_POOLS = 16
"""Each sampled pool needs one node call that contains fifty quotes."""
_MIN_REQUESTS = 2
"""Requests of one read: one for the pools, and another for their ticks or for transfers of new tokens."""
_MIN_OTHER_POOLS = 24
"""The minimum number of pools to read besides the best route: fewer do not show how far pools have moved."""

Read = Callable[[Sequence[str]], MarketState]
"""Returns the known market with only those pools of these keys that could be read, all at one block."""


class Limits(NamedTuple):
    """Limits on reads for one order.

    `first_pools` is the number of pools in the first read, and `pools` the number in all reads. Neither counts the
    pools of the best route on known state. `reads` is the number of reads.
    """

    first_pools: int = 48
    pools: int = 192
    reads: int = 3


class LiveResult(NamedTuple):
    """The market with the pools that were read, and the best result on it.

    `searched_s` is the time that routing took. If reading ended at a limit, `left_bps` is the most that the other known
    pools could add to the output in their predicted states; otherwise it is None.
    """

    searched: SearchableMarket
    outcome: SearchResult
    searched_s: float
    left_bps: float | None


class _Expected(NamedTuple):
    """The market of all known pools, with predicted states for those that were not read.

    `spread` is how far pools have moved relative to their tokens' prices; `left` bounds the part of the output that the
    unread pools could add.
    """

    searchable: SearchableMarket
    spread: float
    left: float


class LiveSearch:
    """The search for one order. `known` is the market in its known state, and `requests_left` the number of requests
    that reads may still send.

    Example: `LiveSearch(known, request).run(read).outcome`.
    """

    def __init__(
        self,
        known: SearchableMarket,
        request: QuoteRequest,
        limits: Limits | None = None,
        *,
        requests_left: Callable[[], int] | None = None,
    ) -> None:
        self._known, self._request, self._clock = known, request, known.clock
        self._limits, self._requests_left = limits or Limits(), requests_left
        self._candidates: list[KnownRoute] = []
        self._keys: dict[str, None] = {}
        self._max_pools = 0
        self._has_first_pools = False
        self._searched_s = 0.0

    def first_pools(self) -> tuple[str, ...]:
        """Return the keys of the pools that `run` reads first. They are determined only once. Raises `NoRoute`."""
        if not self._has_first_pools:
            self._add_first_pools()
            self._has_first_pools = True
        return tuple(self._keys)

    def run(self, read: Read) -> LiveResult:
        """Read pools with `read`, and return the best result. Call this only once. Raises `NoRoute`, and the errors of
        `read`."""
        self.first_pools()
        reads = 0
        while True:
            try:
                fresh = without_wrong_prices(self._known.with_market(read(tuple(self._keys))))
            except RequestBudgetSpent:
                if not reads:
                    raise
                break  # earlier reads remain valid
            outcome, failure = self._search(fresh)
            reads += 1
            expected = self._expect(fresh, outcome)
            candidates = self._next_pools(expected, outcome, is_first=reads == 1) if expected else ()
            may_read = reads < self._limits.reads and not self._is_time_up and self._has_requests
            more = candidates[: self._room] if may_read else ()
            if not more:
                break
            self._keys.update(dict.fromkeys(more))
        if outcome is None:
            assert failure is not None
            raise failure
        fresh.name_skipped(self._known)
        left_bps = expected.left * 1e4 if expected and candidates else None
        return LiveResult(fresh, outcome, self._searched_s, left_bps)

    def _search(self, searchable: SearchableMarket) -> tuple[SearchResult | None, NoRoute | None]:
        """Return the best result on a searchable and remember its route, or return the error if there is none."""
        started_s = self._clock.monotonic_s()
        try:
            outcome = self._search_with_fallback(searchable)
        except FeeOnTransfer:
            raise
        except NoRoute as error:
            return None, error
        finally:
            self._searched_s += self._clock.monotonic_s() - started_s
        self._candidates.append(KnownRoute(outcome.best.route, outcome.best.amount_in))
        return outcome, None

    def _search_with_fallback(self, searchable: SearchableMarket) -> SearchResult:
        """Return the best result; if there is none, the best one without sampled pools."""
        try:
            return searchable.search(self._request_with_time(), self._candidates)
        except FeeOnTransfer:
            raise
        except NoRoute:
            if not has_samples(searchable.market):
                raise
            others = without_pools(searchable, sampled_keys(searchable.market))
            return others.search(self._request_with_time(), self._candidates)

    def _request_with_time(self) -> QuoteRequest:
        """Return the request with half of the remaining time, which leaves time for other searches.

        After the time is up, it has just enough to evaluate the known routes.
        """
        time_s = self._request.solve_time_s
        if not time_s:
            return self._request
        return self._request._replace(solve_time_s=max(time_s - self._searched_s, time_s * _MIN_TIME_SHARE) / 2.0)

    @property
    def _room(self) -> int:
        """The number of pools that may still be read."""
        return max(0, self._max_pools - len(self._keys))

    @property
    def _has_requests(self) -> bool:
        return self._requests_left is None or self._requests_left() >= _MIN_REQUESTS

    @property
    def _is_time_up(self) -> bool:
        return bool(self._request.solve_time_s) and self._searched_s >= (self._request.solve_time_s or 0.0) / 2.0

    def _add_first_pools(self) -> None:
        """Select the pools to read first.

        They are those of the best route on known state, those that could be better by now, and some that give prices.
        Raises `NoRoute` if no known pool has one of the order's tokens.
        """
        outcome, failure = self._search(self._known)
        own: tuple[str, ...] = ()
        if outcome:
            own = route_pools(outcome)
            self._add(own)
            gains = self._gains(self._known, outcome, self._keys.keys(), PRICE_MARGIN)
            self._add(gains.take_until(TOLERANCE, self._limits.first_pools))
            missing = len(own) + min(_MIN_OTHER_POOLS, self._limits.first_pools) - len(self._keys)
            if missing > 0:
                self._add(self._closest_pools(outcome, missing))
        else:
            assert failure is not None
            self._add(self._pools_of_order(failure)[: self._limits.first_pools])
        self._add(pricing_pools(self._known, self._request))
        self._add(self._sampled_pools()[:_MAX_SAMPLED_POOLS])
        self._max_pools = self._limits.pools + len(own)

    def _sampled_pools(self) -> list[str]:
        """Return the keys of the sampled pools that may be useful: those between tokens of the pools to read.

        Their prices are unknown.
        """
        market, order_tokens = self._known.market, _tokens_in_pools(self._known, self._request.order)
        tokens = order_tokens.union(*(market.pools[key].tokens for key in self._keys))
        return useful_sampled_pools(market, order_tokens, tokens)

    def _pools_of_order(self, failure: NoRoute) -> list[str]:
        """Return the keys of the pools with one of the order's tokens; raise `failure` if there are none."""
        addresses = _tokens_in_pools(self._known, self._request.order)
        touching = [key for key, pool in self._known.market.pools.items() if not addresses.isdisjoint(pool.tokens)]
        if not touching:
            raise failure
        return touching

    def _expect(self, fresh: SearchableMarket, outcome: SearchResult | None) -> _Expected | None:
        """Return the predicted states of all known pools.

        Return None if more reads are useless: nothing is unread, nothing has changed, or the unread pools cannot add
        much.
        """
        known, read = self._known.market.pools, fresh.market.pools
        unread = {key: pool for key, pool in known.items() if key not in self._keys}
        if not unread or (outcome and all(known[key] == pool for key, pool in read.items())):
            return None
        moves = price_moves(known, read)
        pools = {**shift_market(unread, moves), **read}
        searchable = self._known.with_market(
            fresh.market._replace(pools={key: pools[key] for key in known if key in pools})
        )
        if outcome is None:
            return _Expected(searchable, moves.spread, inf)
        left = self._gains(searchable, outcome, self._keys.keys(), moves.spread, all_paths=True).remaining(0)
        return _Expected(searchable, moves.spread, left) if left > TOLERANCE else None

    def _next_pools(self, expected: _Expected, outcome: SearchResult | None, *, is_first: bool) -> tuple[str, ...]:
        """Return the keys of the pools to read next, most useful first.

        If a route is predicted to be better, they are its pools and those that could improve it. Otherwise, if pools
        have moved far, they are those that would be better after as large a move.
        """
        guess, _ = self._search(expected.searchable)
        best = outcome.best if outcome else None
        if guess and is_better(self._request.order, guess.best, best, TOLERANCE):
            own = [key for key in route_pools(guess) if key not in self._keys]
            excluded = self._keys.keys() | set(own)
            bids = self._gains(expected.searchable, guess, excluded, expected.spread)
            return (*own, *bids.take_until(TOLERANCE, self._limits.pools))
        if outcome and is_first and expected.spread > LARGE_SPREAD:
            bids = self._gains(expected.searchable, outcome, self._keys.keys(), expected.spread)
            return bids.take_until(TOLERANCE, self._limits.pools)
        return ()

    def _gains(
        self,
        market: SearchableMarket,
        outcome: SearchResult,
        excluded: Set[str],
        margin: float,
        *,
        all_paths: bool = False,
    ) -> PoolGains:
        """Return how much the pools of a market, without the `excluded` ones, could add to an outcome."""
        order = market.order_in_pools(self._request.order)
        return pool_gains(market.router_for(order).index, order, outcome, excluded, margin, all_paths=all_paths)

    def _closest_pools(self, outcome: SearchResult, limit: int) -> tuple[str, ...]:
        """Return the keys of the pools, besides those to read, whose rates are closest to the best ones."""
        order = self._known.order_in_pools(self._request.order)
        return closest_pools(self._known.router_for(order).index, order, outcome, self._keys.keys(), limit)

    def _add(self, keys: Iterable[str]) -> None:
        self._keys.update(dict.fromkeys(keys))


def pricing_pools(known: SearchableMarket, request: QuoteRequest) -> tuple[str, ...]:
    """Return the keys of the pools that determine the USD prices of the order's tokens and of gas."""
    gas_token = known.network.to_wrapped_token(known.network.native).address
    return deepest_anchor_pools(known.router.index, [*_tokens_in_pools(known, request.order), gas_token])


def _tokens_in_pools(known: SearchableMarket, order: Order) -> frozenset[str]:
    """Return the addresses of an order's tokens as pools have them: wrapped instead of native."""
    return frozenset(known.network.to_wrapped_token(token).address for token in (order.token_in, order.token_out))
