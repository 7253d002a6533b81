"""No pool that anybody may create stops an order: through every caller, absurd states are answered or left out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite

import pytest

from swapcli.core.errors import SwapcliError, SwapReverts
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.warning import WarningCode
from swapcli.core.pools.uniswap.constant_product import ConstantProduct, ConstantProductCurve
from swapcli.core.routing.router import Router
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.core.routing.unused_pool_gains import PRICE_MARGIN, closest_pools, pool_gains, route_pools
from swapcli.core.selection.depth_ranking import pool_legs
from swapcli.quoting.depth import measure_depth
from swapcli.quoting.pool_listing import list_pools, select_pools
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live_search import LiveSearch
from swapcli.quoting.sources.local_quotes import build_local_quote
from swapcli.quoting.sources.market_prices import price_basis, unit_prices
from swapcli.quoting.warnings import answer_warnings
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import few, fuzzed_seeds
from tests.support.extreme_pools import build_extreme_market
from tests.support.pools import build_constant_product, build_market, build_token

AMOUNTS = (1, 10**6, 10**18, 10**24, 2**200)
SEEDS = [*range(1_000, 1_012), 2_115, 2_158, *fuzzed_seeds(0, full=100, fuzz=300)]
"""The first twelve have five of the divisions by zero that pools at both ends of the price range once caused, and the
two after them have gains beyond all floats."""


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
                gains = pool_gains(router.index, order, result, used, PRICE_MARGIN, all_paths=all_paths)
                assert all(isfinite(gain) and gain > 0.0 for gain in gains.gains)
            assert not used & set(closest_pools(router.index, order, result, used, 5))


@pytest.mark.parametrize("seed", SEEDS)
def test_live_quotes_lists_and_prices_survive_extreme_pools(seed: int) -> None:
    market = build_extreme_market(seed)
    source = InMemorySource(market, SYSTEM_CLOCK)

    def read(keys: Sequence[str]) -> MarketState:
        return market._replace(pools={key: market.pools[key] for key in keys}, provenance=Provenance.LIVE)

    for order in orders(market, seed, count=2):
        request = QuoteRequest(order, ApiVersion.V2, gas_price_wei=0)
        with suppress(SwapcliError):
            assert LiveSearch(source.searchable, request, read).run().outcome.best.replay.amount_out > 0
        with suppress(SwapcliError):
            assert source.quote(request).quote.amount_out > 0
    listed = select_pools(source, (), None).pools
    assert all(isfinite(price) and price > 0.0 for price in unit_prices(source.searchable).values())
    for pool in listed.values():
        for leg in pool_legs(0, pool, range(len(pool.tokens))):
            assert leg.up is None or isfinite(leg.up)


def orders(market: MarketState, seed: int, count: int) -> Iterator[Order]:
    rng, tokens = random.Random(seed), list(market.tokens.values())
    for _ in range(count):
        a, b = rng.sample(tokens, 2)
        yield Order(a, b, rng.choice(AMOUNTS), reverse=rng.random() < 0.3)


class BrokenCurve:
    """The curve of a pool that pays twice what others do, and divides by zero in one of its methods.

    `trade`, `amount_out`, `rate` and `capacity` fail for the numbers that are tried to find broken pools, `unforeseen`
    for an amount that is not.
    """

    start_rate = 2.0

    def __init__(self, failing: str) -> None:
        self.failing = failing

    @property
    def capacity(self) -> float:
        return self.divide("capacity", 1e30)

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        amount = self.divide("trade", 1e22)
        return amount, amount * self.start_rate, 1e24

    def amount_out(self, amount_in: float) -> float:
        if 1e10 < amount_in < 1e28:
            self.divide("unforeseen", 1.0)
        return self.divide("amount_out", amount_in * self.start_rate)

    def rate(self, amount_in: float) -> float:
        del amount_in
        return self.divide("rate", self.start_rate)

    def divide(self, name: str, number: float) -> float:
        return number / (name != self.failing)


@dataclass(frozen=True, slots=True)
class BrokenPool(ConstantProduct):
    """A pool whose state breaks the computation, as a bug in a family would."""

    failing: str = ""

    def curve(self, token_in: str, token_out: str) -> ConstantProductCurve:
        del token_in, token_out
        if self.failing == "curve":
            raise ZeroDivisionError
        if self.failing == "reverting curve":
            raise SwapReverts("the amount overflows the contract's arithmetic")
        return BrokenCurve(self.failing)  # type: ignore[return-value]  # the class of the curve is the family's own

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, BrokenPool]:
        del token_in, token_out
        if self.failing == "swap":
            raise ZeroDivisionError
        return 2 * amount_in, self


FAILURES = ("curve", "reverting curve", "trade", "amount_out", "rate", "capacity", "unforeseen", "swap")
TOKENS = [build_token(number) for number in range(3)]
GOOD = [
    build_constant_product(number, *pair, 10**24, 10**24)
    for number, pair in enumerate([(TOKENS[0], TOKENS[1]), (TOKENS[0], TOKENS[2]), (TOKENS[2], TOKENS[1])])
]
REQUEST = QuoteRequest(Order(TOKENS[0], TOKENS[1], 10**21), ApiVersion.V2, gas_price_wei=0)
TERMS = SwapTerms(0, ttl_s=60, impact_warning_ppm=10**6)


def market_with(failing: str) -> tuple[MarketState, BrokenPool]:
    """Return a market of good pools and a broken one between the tokens of the order."""
    bad = BrokenPool(
        GOOD[0].address[:-2] + "99", "v2", GOOD[0].tokens, GOOD[0].decimals, 3_000, (10**24, 10**24), failing=failing
    )
    return build_market([*GOOD, bad], TOKENS), bad


def warnings_of(answer: LocalQuote) -> list[str]:
    return [each.message for each in answer_warnings(answer, None, TERMS) if each.code == WarningCode.POOL_LEFT_OUT]


@pytest.mark.parametrize("failing", FAILURES)
def test_a_pool_that_breaks_a_computation_is_left_out_and_named(failing: str) -> None:
    market, bad = market_with(failing)
    good = InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK)
    for order in (REQUEST.order, REQUEST.order._replace(reverse=True)):
        answer = InMemorySource(market, SYSTEM_CLOCK).quote(REQUEST._replace(order=order, certify=True))
        expected = good.quote(REQUEST._replace(order=order)).quote
        assert (answer.quote.amount_in, answer.quote.amount_out) == (expected.amount_in, expected.amount_out)
        if failing != "swap":
            assert answer.quote.broken_pools == (bad.key,)
            assert bad.key in "".join(warnings_of(answer))


@pytest.mark.parametrize("failing", FAILURES)
def test_a_live_quote_names_the_pool_that_breaks_a_computation(failing: str) -> None:
    market, bad = market_with(failing)
    source = InMemorySource(market, SYSTEM_CLOCK)
    for keys in (market.pools.keys(), market.pools.keys() - {bad.key}):

        def read(requested: Sequence[str], keys: Set[str] = keys) -> MarketState:
            return market._replace(pools={key: market.pools[key] for key in requested if key in keys})

        found = LiveSearch(source.searchable, REQUEST, read).run()
        answer = build_local_quote(found.searched, REQUEST, found.outcome, 0.0)
        assert bad.key not in answer.result.pool_keys
        assert len(warnings_of(answer)) == (failing != "swap")


@pytest.mark.parametrize("failing", few(FAILURES, 3))
def test_lists_prices_and_depths_do_without_a_broken_pool(failing: str) -> None:
    market, bad = market_with(failing)
    source, good = (InMemorySource(each, SYSTEM_CLOCK) for each in (market, build_market(GOOD, TOKENS)))
    measured, expected = (measure_depth(each, REQUEST, TERMS, (10**18, 10**21)) for each in (source, good))
    assert measured.points == expected.points
    for each in (source, InMemorySource(market, SYSTEM_CLOCK)):
        if failing in ("curve", "reverting curve", "trade"):
            assert unit_prices(each.searchable) == unit_prices(good.searchable)
            assert price_basis(each.searchable, TOKENS[2]) == price_basis(good.searchable, TOKENS[2])
        listed = {pool.key: pool for pool in list_pools(select_pools(each, (), None), ())}
        assert listed.keys() == market.pools.keys()
        assert "computations on it fail" in listed[bad.key].left_out or failing in ("rate", "capacity", "swap")


@pytest.mark.parametrize("failing", FAILURES)
def test_a_pool_that_breaks_in_a_new_block_is_left_out(failing: str) -> None:
    market, bad = market_with(failing)
    source = InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK, memory=SearchMemory())
    before = source.quote(REQUEST).quote
    after = source.with_changes(market, {bad.key})
    assert after.quote(REQUEST).quote.amount_out == before.amount_out
    assert after.with_changes(build_market(GOOD, TOKENS), {bad.key}).quote(REQUEST).quote.broken_pools == ()
