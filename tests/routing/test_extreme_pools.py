"""No pool that anybody may create stops an order: through every caller, absurd states are answered or left out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite

import pytest

from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.sources.in_memory import InMemorySource
from swapcli.engine.sources.live_search import LiveSearch
from swapcli.engine.warnings import answer_warnings
from swapcli.errors import SwapcliError
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import MarketState, Provenance
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.warning import WarningCode
from swapcli.pools.constant_product import ConstantProduct, ConstantProductCurve
from swapcli.routing.router import Router
from swapcli.routing.unused_pool_gains import PRICE_MARGIN, route_pools
from swapcli.selection.depth_ranking import pool_legs
from tests.support.extreme_pools import build_extreme_market
from tests.support.pools import build_constant_product, build_market, build_token

AMOUNTS = (1, 10**6, 10**18, 10**24, 2**200)
SEEDS = [*range(1_000, 1_012), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2_000, 2_300))]
"""The first twelve have five of the divisions by zero that pools at both ends of the price range once caused."""


@pytest.mark.parametrize("seed", SEEDS)
def test_orders_among_extreme_pools_are_answered_or_refused(seed: int) -> None:
    market = build_extreme_market(seed)
    for order in orders(market, seed, count=4):
        router = Router(market)
        with suppress(SwapcliError):
            result = router.search(order)
            quote = router.build_quote(order, result, certify=True)
            assert quote.amount_out > 0
            assert quote.broken_pools == ()
            used = set(route_pools(result))
            for all_paths in (False, True):
                gains = router.pool_gains(order, result, used, PRICE_MARGIN, all_paths=all_paths)
                assert all(isfinite(gain) and gain > 0.0 for gain in gains.gains)
            assert not used & set(router.closest_pools(order, result, used, 5))


@pytest.mark.parametrize("seed", SEEDS)
def test_live_quotes_lists_and_prices_survive_extreme_pools(seed: int) -> None:
    market = build_extreme_market(seed)
    source = InMemorySource(market, SYSTEM_CLOCK)

    def read(keys: Sequence[str]) -> MarketState:
        return market._replace(pools={key: market.pools[key] for key in keys}, provenance=Provenance.LIVE)

    for order in orders(market, seed, count=2):
        request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=0)
        with suppress(SwapcliError):
            assert LiveSearch(source, request, read, SYSTEM_CLOCK).run().outcome.best.replay.amount_out > 0
        with suppress(SwapcliError):
            assert source.quote(request).quote.amount_out > 0
    listed = source.select_pools((), None).pools
    assert all(isfinite(price) and price > 0.0 for price in source.unit_prices().values())
    for pool in listed.values():
        for leg in pool_legs(0, pool, range(len(pool.tokens))):
            assert leg.up is None or isfinite(leg.up)


def orders(market: MarketState, seed: int, count: int) -> Iterator[Order]:
    rng, tokens = random.Random(seed), list(market.tokens.values())
    for _ in range(count):
        a, b = rng.sample(tokens, 2)
        yield Order(a, b, rng.choice(AMOUNTS), reverse=rng.random() < 0.3)


class BrokenCurve:
    """A curve that fails at any rate below its spot rate."""

    start_rate, capacity = 2.0, 1e30

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        raise ZeroDivisionError

    def amount_out(self, amount_in: float) -> float:
        return amount_in * self.start_rate

    def rate(self, amount_in: float) -> float:
        return self.start_rate if amount_in < self.capacity else 0.0


@dataclass(frozen=True, slots=True)
class BrokenPool(ConstantProduct):
    """A pool whose state breaks the computation, as a bug in a family would."""

    def curve(self, token_in: str, token_out: str) -> ConstantProductCurve:
        assert token_in != token_out
        return BrokenCurve()  # type: ignore[return-value]  # the class of the curve is the family's own


def test_a_pool_that_breaks_a_computation_is_left_out_and_named() -> None:
    a, b, c = (build_token(number) for number in range(3))
    good = [build_constant_product(k, *pair, 10**24, 10**24) for k, pair in enumerate([(a, b), (a, c), (c, b), (a, b)])]
    bad = BrokenPool(good[0].address[:-2] + "99", "v2", good[0].tokens, good[0].decimals, 3_000, (10**24, 10**24))
    request = QuoteRequest(Order(a, b, 10**21), ApiVersion.V2, gas_price_wei=0)
    with_bad = InMemorySource(build_market([*good, bad], [a, b, c]), SYSTEM_CLOCK)
    without = InMemorySource(build_market(good, [a, b, c]), SYSTEM_CLOCK)
    answer = with_bad.quote(request)
    assert answer.quote.amount_out == without.quote(request).quote.amount_out
    assert answer.quote.broken_pools == (bad.key,)
    (warning,) = [
        each
        for each in answer_warnings(answer, None, SwapTerms(0, ttl_s=60, impact_warning_ppm=10**6))
        if each.code == WarningCode.POOL_LEFT_OUT
    ]
    assert bad.key in warning.message
