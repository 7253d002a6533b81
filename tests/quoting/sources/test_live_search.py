"""A live search is no worse than any route on the states it read, and reads few pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import NoRoute, PoolError, RequestBudgetSpent
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.routing.replay import replay
from swapcli.quoting.sources.live_search import Limits, LiveSearch, pricing_pools
from swapcli.quoting.sources.searchable_market import SearchableMarket
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import examples
from tests.support.pools import (
    UNIT,
    build_constant_product,
    build_market,
    build_random_market,
    build_token,
    build_wide_market,
    seeds,
)

FEW = Limits(first_pools=3, pools=8, reads=3)
WIDE = build_wide_market(300)
UNSETTLED = build_wide_market(100, noise=2.0)
few_examples = settings(max_examples=examples(3, full=15), deadline=None)


class Chain:
    """Returns pools in their present state, and records the keys of each read."""

    def __init__(self, known: MarketState, present: MarketState) -> None:
        self.known, self.present = known, present
        self.reads: list[tuple[str, ...]] = []

    def read(self, keys: Sequence[str]) -> MarketState:
        self.reads.append(tuple(keys))
        return self.part(keys)

    def part(self, keys: Sequence[str]) -> MarketState:
        pools = {key: self.present.pools[key] for key in keys if key in self.present.pools}
        return self.known._replace(pools=pools, provenance=Provenance.LIVE)

    def search(self, order: Order, limits: Limits | None = None) -> LiveSearch:
        return LiveSearch(SearchableMarket(self.known, SYSTEM_CLOCK), request_of(order), limits)


def request_of(order: Order) -> QuoteRequest:
    return QuoteRequest(order, ApiVersion.V2, gas_price_wei=0)


def after_trades(market: MarketState, seed: int, by: float) -> MarketState:
    """Return the market after a trade in each pool that moves its rate by about `by`."""
    rng = Random(seed)
    return market._replace(pools={key: _traded(rng, pool, by) for key, pool in market.pools.items()})


def _traded(rng: Random, pool: Pool, by: float) -> Pool:
    sold, bought = rng.sample(pool.tokens, 2)
    curve = pool.curve(sold, bought)
    amount = int(curve.trade_to_marginal_rate(curve.start_rate * exp(-abs(rng.gauss(0.0, by))))[0])
    try:
        return pool.swap(sold, bought, amount)[1] if amount > 1_000 else pool
    except PoolError:
        return pool


@few_examples
@given(seeds, st.floats(0.0, 0.1), st.integers(15, 22), st.booleans())
def test_the_quote_is_no_worse_than_on_any_part_read(seed: int, by: float, digits: int, in_reverse: bool) -> None:
    known = build_random_market(seed, tokens=5, pools=16, noise=3.0)
    chain = Chain(known, after_trades(known, seed, by))
    tokens = list(known.tokens.values())
    order = Order(tokens[0], tokens[1], 10**digits, reverse=in_reverse)
    try:
        found = chain.search(order, FEW).run(chain.read)
    except NoRoute:
        return
    pools = found.searched.market.pools
    assert pools == chain.part(chain.reads[-1]).pools
    best = found.outcome.best
    assert replay(pools, best.route, best.amount_in) == best.replay
    for state in (known, *map(chain.part, chain.reads)):
        _assert_no_worse(found.outcome.best.replay.amount_out, best.amount_in, order, state, pools)


def _assert_no_worse(
    amount_out: int, amount_in: int, order: Order, state: MarketState, pools: Mapping[str, Pool]
) -> None:
    """Check that the quote is no worse than the best route on `state`, replayed on `pools`."""
    try:
        route = SearchableMarket(state, SYSTEM_CLOCK).search(request_of(order)).best
        replayed = replay(pools, route.route, route.amount_in)
    except (NoRoute, PoolError):
        return
    if not order.reverse:
        assert amount_out >= replayed.amount_out
    elif replayed.amount_out >= order.amount:
        assert amount_in <= route.amount_in


@few_examples
@given(seeds, st.floats(-4.0, 1.0))
def test_without_changes_the_quote_equals_that_over_all_pools(seed: int, magnitude: float) -> None:
    order = _order(UNSETTLED, Random(seed), magnitude)
    try:
        whole = SearchableMarket(UNSETTLED, SYSTEM_CLOCK).search(request_of(order))
    except NoRoute:
        return
    chain = Chain(UNSETTLED, UNSETTLED)
    found = chain.search(order).run(chain.read)
    assert found.outcome.best.replay.amount_out >= whole.best.replay.amount_out
    assert len(chain.reads) == 1
    assert found.left_bps is None


def _order(market: MarketState, rng: Random, magnitude: float) -> Order:
    sold, bought = rng.sample(list(market.tokens.values())[:20], 2)
    return Order(sold, bought, max(1, int(10 ** (sold.decimals + magnitude))))


@few_examples
@given(seeds, st.floats(-4.0, 1.0), st.floats(0.0, 0.05))
def test_a_search_reads_no_more_than_the_limits_allow(seed: int, magnitude: float, by: float) -> None:
    chain = Chain(UNSETTLED, after_trades(UNSETTLED, seed, by))
    order = _order(UNSETTLED, Random(seed), magnitude)
    known_market = SearchableMarket(UNSETTLED, SYSTEM_CLOCK)
    try:
        own = {step.pool for step in known_market.search(request_of(order)).best.replay.steps}
        chain.search(order, FEW).run(chain.read)
    except NoRoute:
        return
    allowed = len(own) + len(pricing_pools(known_market, request_of(order)))
    assert len(chain.reads) <= FEW.reads
    assert len(chain.reads[0]) <= allowed + FEW.first_pools
    assert len(chain.reads[-1]) <= allowed + FEW.pools
    for earlier, later in zip(chain.reads, chain.reads[1:], strict=False):
        assert set(earlier) < set(later)


def test_a_large_order_reads_more_than_a_small_one() -> None:
    weth, usdc = list(WIDE.tokens.values())[:2]
    counts = []
    for amount in (10**14, 10**20):
        chain = Chain(WIDE, WIDE)
        chain.search(Order(weth, usdc, amount)).run(chain.read)
        counts.append(len(chain.reads[-1]))
    assert counts[0] * 3 < counts[1]


@pytest.mark.slow
def test_an_unbalanced_market_is_read_more_widely() -> None:
    rng, counts = Random(5), []
    orders = [_order(WIDE, rng, -1.0) for _ in range(6)]
    for by in (0.0, 0.02):
        chain = Chain(WIDE, after_trades(WIDE, 1, by))
        for order in orders:
            chain.search(order).run(chain.read)
        counts.append(sum(map(len, chain.reads)))
    assert counts[0] < counts[1]


def collapsed_pool() -> tuple[Chain, Order, str]:
    """The best pool of a pair has collapsed; small pools beside it and a deep, worse one have not changed."""
    a, b, others = build_token(2), build_token(3), [build_token(0), build_token(1)]
    best = build_constant_product(0, a, b, 10**6 * UNIT, 10**6 * UNIT)
    small = [build_constant_product(1 + k, a, b, UNIT, UNIT * 998 // 1000) for k in range(3)]
    far_off = build_constant_product(9, a, b, 10**6 * UNIT, 95 * 10**4 * UNIT)
    known = build_market([best, *small, far_off], [*others, a, b])
    collapsed = known._replace(
        pools={**known.pools, best.key: build_constant_product(0, a, b, 10**6 * UNIT, 10**5 * UNIT)}
    )
    return Chain(known, collapsed), Order(a, b, 100 * UNIT), far_off.key


def test_pools_that_look_better_on_fresh_state_are_read_too() -> None:
    chain, order, far_off = collapsed_pool()
    found = chain.search(order, FEW).run(chain.read)
    assert far_off not in chain.reads[0]
    assert far_off in {step.pool for step in found.outcome.best.replay.steps}
    whole = SearchableMarket(chain.present, SYSTEM_CLOCK).search(request_of(order))
    assert found.outcome.best.replay.amount_out >= whole.best.replay.amount_out
    assert found.left_bps is None


@pytest.mark.parametrize("limits", [FEW._replace(reads=1), FEW._replace(pools=3)])
def test_a_search_that_ends_at_a_limit_reports_the_possible_gain(limits: Limits) -> None:
    chain, order, far_off = collapsed_pool()
    found = chain.search(order, limits).run(chain.read)
    assert far_off not in chain.reads[-1]
    assert found.left_bps is not None
    whole = SearchableMarket(chain.present, SYSTEM_CLOCK).search(request_of(order)).best.replay.amount_out
    reached = found.outcome.best.replay.amount_out
    assert (whole / reached - 1) * 1e4 <= found.left_bps


def test_unreadable_pools_are_not_requested_twice() -> None:
    chain, order, far_off = collapsed_pool()
    del chain.present.pools[far_off]  # type: ignore[attr-defined]
    found = chain.search(order, FEW).run(chain.read)
    assert far_off in chain.reads[-1]
    assert far_off not in found.searched.market.pools
    assert len(chain.reads) <= FEW.reads


@few_examples
@given(seeds, st.booleans())
def test_where_the_requests_end_the_earlier_read_stands(seed: int, is_known_before: bool) -> None:
    known = build_random_market(seed, tokens=5, pools=16, noise=3.0)
    chain = Chain(known, after_trades(known, seed, 0.1))
    tokens = list(known.tokens.values())
    order = Order(tokens[0], tokens[1], 10**19)

    def read(keys: Sequence[str]) -> MarketState:
        if chain.reads:
            raise RequestBudgetSpent("spent")
        return chain.read(keys)

    known_market, left = SearchableMarket(known, SYSTEM_CLOCK), 0 if is_known_before else 5
    search = LiveSearch(known_market, request_of(order), FEW, requests_left=lambda: left)
    try:
        found = search.run(read)
    except NoRoute:
        return
    assert len(chain.reads) == 1
    assert found.searched.market.pools == chain.part(chain.reads[0]).pools
    best = found.outcome.best
    assert replay(found.searched.market.pools, best.route, best.amount_in) == best.replay
    chain.search(order, FEW).run(chain.read)
    assert found.left_bps is not None or len(chain.reads) == 2
