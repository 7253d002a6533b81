"""Finds the best route on present state while reading as few pools as that takes.

Which pools are read first is decided on known state, which may be old. What they turn out to be tells how prices have
moved, and so what is to be expected of the pools not read. As long as these may add more than `TOLERANCE`, they are
read too, within limits. Every route found on the way competes on the state that was read: the answer is no worse than
any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from swapcli.engine.clock import Clock
from swapcli.engine.sources.in_memory import InMemorySource
from swapcli.errors import FeeOnTransfer, NoRoute
from swapcli.model.market import Market
from swapcli.model.quote_request import QuoteRequest
from swapcli.routing.candidate_pools import PRICE_MARGIN, route_pools
from swapcli.routing.known_routes import KnownRoute, is_better
from swapcli.routing.price_moves import price_moves, shift_market

if TYPE_CHECKING:
    from swapcli.routing.search.route_search import SearchResult

TOLERANCE = 0.5e-4
"""Of the output: what pools that are not read may add together, half a basis point."""
LARGE_SPREAD = 5e-4
"""Of a rate: where pools have moved by more than this beside their tokens, those not read may well be better than
expected. The least fee of a common pool is as much."""
_MIN_TIME_SHARE = 0.1  # of the time for searching, once it is spent
_MIN_OTHER_POOLS = 24
"""Pools beside the best route that are read at least: fewer do not show how much pools have moved by themselves."""

Read = Callable[[Sequence[str]], Market]
"""Gives the known market with the pools of these keys alone, all as they are at one block: those that can be read."""


class Limits(NamedTuple):
    """How much may be read for one order: pools beside the best route on known state, at first and in all, and how many
    times the node is asked for pools."""

    first_pools: int = 48
    pools: int = 192
    reads: int = 3


class LiveResult(NamedTuple):
    """The source over the pools that were read, and the best outcome on it.

    `searched_s` is the core's time. Where reading ended at a limit, `left_bps` bounds what the other known pools could
    add to the output as they are expected to be; None elsewhere.
    """

    source: InMemorySource
    outcome: SearchResult
    searched_s: float
    left_bps: float | None


class _Expected(NamedTuple):
    """The source over all known pools as they are expected to be, those that were read as they are.

    `spread` is by how much pools have moved by themselves; `left` bounds what those not read could add, as a part of
    the output.
    """

    source: InMemorySource
    spread: float
    left: float


class LiveSearch:
    """The search for one order. `known` is the source over known state.

    Example: `LiveSearch(known, ask, read, SYSTEM_CLOCK).run().outcome`.
    """

    def __init__(
        self, known: InMemorySource, ask: QuoteRequest, read: Read, clock: Clock, limits: Limits | None = None
    ) -> None:
        self._known, self._ask, self._read, self._clock = known, ask, read, clock
        self._limits = limits or Limits()
        self._candidates: list[KnownRoute] = []
        self._keys: dict[str, None] = {}
        self._max_pools = 0
        self._searched_s = 0.0

    def run(self) -> LiveResult:
        """Return the best that was found. Raises `NoRoute`, and what reading raises."""
        self._add_first_pools()
        reads = 0
        while True:
            fresh = self._known.with_market(self._read(tuple(self._keys)))
            outcome, failure = self._search(fresh)
            reads += 1
            expected = self._expect(fresh, outcome)
            candidates = self._next_pools(expected, outcome, is_first=reads == 1) if expected else ()
            more = candidates[: self._room] if reads < self._limits.reads and not self._is_time_up else ()
            if not more:
                break
            self._keys.update(dict.fromkeys(more))
        if outcome is None:
            assert failure is not None
            raise failure
        left_bps = expected.left * 1e4 if expected and candidates else None
        return LiveResult(fresh, outcome, self._searched_s, left_bps)

    def _search(self, source: InMemorySource) -> tuple[SearchResult | None, NoRoute | None]:
        """Return the best on a source, and remember its route; or why there is none."""
        started_s = self._clock.monotonic_s()
        try:
            outcome = source.search(self._request_with_time(), self._candidates)
        except FeeOnTransfer:
            raise
        except NoRoute as error:
            return None, error
        finally:
            self._searched_s += self._clock.monotonic_s() - started_s
        self._candidates.append(KnownRoute(outcome.best.route, outcome.best.amount_in))
        return outcome, None

    def _request_with_time(self) -> QuoteRequest:
        """Return the order with half of the time that is left for searching, so that some is left for other searches;
        once none is left, with just enough for the routes that are known."""
        time_s = self._ask.solve_time_s
        if not time_s:
            return self._ask
        return self._ask._replace(solve_time_s=max(time_s - self._searched_s, time_s * _MIN_TIME_SHARE) / 2.0)

    @property
    def _room(self) -> int:
        """How many more pools may be read."""
        return max(0, self._max_pools - len(self._keys))

    @property
    def _is_time_up(self) -> bool:
        return bool(self._ask.solve_time_s) and self._searched_s >= (self._ask.solve_time_s or 0.0) / 2.0

    def _add_first_pools(self) -> None:
        """Choose the pools to read first: the best route's on known state, those that could be better by now, and some
        that tell prices. Raises `NoRoute` where no known pool touches the order's tokens."""
        outcome, failure = self._search(self._known)
        own: tuple[str, ...] = ()
        if outcome:
            own = route_pools(outcome)
            self._add(own)
            gains = self._known.pool_gains(self._ask, outcome, self._keys.keys(), PRICE_MARGIN)
            self._add(gains.take_until(TOLERANCE, self._limits.first_pools))
            missing = len(own) + min(_MIN_OTHER_POOLS, self._limits.first_pools) - len(self._keys)
            if missing > 0:
                self._add(self._known.closest_pools(self._ask, outcome, self._keys.keys(), missing))
        else:
            assert failure is not None
            self._add(self._pools_of_order(failure)[: self._limits.first_pools])
        self._add(self._known.pricing_pools(self._ask))
        self._max_pools = self._limits.pools + len(own)

    def _pools_of_order(self, failure: NoRoute) -> list[str]:
        """Return the keys of the pools that touch the order's tokens; raise `failure` where there are none."""
        addresses = self._known.order_tokens(self._ask.order)
        touching = [key for key, pool in self._known.market.pools.items() if not addresses.isdisjoint(pool.tokens)]
        if not touching:
            raise failure
        return touching

    def _expect(self, fresh: InMemorySource, outcome: SearchResult | None) -> _Expected | None:
        """Return what is to be expected of all known pools; None where reading more is of no use: nothing is unread, or
        nothing has changed, or what is unread cannot add much."""
        known, read = self._known.market.pools, fresh.market.pools
        unread = {key: pool for key, pool in known.items() if key not in self._keys}
        if not unread or (outcome and all(known[key] == pool for key, pool in read.items())):
            return None
        moves = price_moves(known, read)
        pools = {**shift_market(unread, moves), **read}
        source = self._known.with_market(
            replace(fresh.market, pools={key: pools[key] for key in known if key in pools})
        )
        if outcome is None:
            return _Expected(source, moves.spread, inf)
        left = source.pool_gains(self._ask, outcome, self._keys.keys(), moves.spread, all_paths=True).remaining(0)
        return _Expected(source, moves.spread, left) if left > TOLERANCE else None

    def _next_pools(self, expected: _Expected, outcome: SearchResult | None, *, is_first: bool) -> tuple[str, ...]:
        """Return the keys of the pools to read next, the most useful first.

        They are those of a route that is expected to be better, and what could be better still. Where none is expected
        but pools have moved much by themselves, they are those that could be better if they did.
        """
        guess, _ = self._search(expected.source)
        best = outcome.best if outcome else None
        if guess and is_better(self._ask.order, guess.best, best, TOLERANCE):
            own = [key for key in route_pools(guess) if key not in self._keys]
            excluded = self._keys.keys() | set(own)
            bids = expected.source.pool_gains(self._ask, guess, excluded, expected.spread)
            return (*own, *bids.take_until(TOLERANCE, self._limits.pools))
        if outcome and is_first and expected.spread > LARGE_SPREAD:
            bids = expected.source.pool_gains(self._ask, outcome, self._keys.keys(), expected.spread)
            return bids.take_until(TOLERANCE, self._limits.pools)
        return ()

    def _add(self, keys: Iterable[str]) -> None:
        self._keys.update(dict.fromkeys(keys))
