"""No pool that anybody may create stops an order: through every caller, absurd states are answered or left out."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite

import pytest

from swapcli.core.errors import Cancelled, MarketError, SwapcliError, SwapReverts
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search_memory import SearchMemory
from swapcli.core.routing.unused_pool_gains import PRICE_MARGIN, closest_pools, pool_gains, route_pools
from swapcli.core.selection.depth_ranking import pool_legs
from swapcli.families.uniswap.constant_product import ConstantProduct, ConstantProductCurve
from swapcli.quoting.depth import measure_depth
from swapcli.quoting.pool_listing import list_pools, select_pools
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live_search import LiveSearch
from swapcli.quoting.sources.local_quotes import build_local_quote
from swapcli.quoting.sources.market_prices import price_basis, unit_prices
from swapcli.quoting.token_prices import price_tokens
from swapcli.quoting.warnings import answer_warnings, state_warnings
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import few, few_rows, fuzzed_seeds
from tests.support.extreme_pools import build_extreme_market
from tests.support.pools import build_constant_product, build_market, build_token

AMOUNTS = (1, 10**6, 10**18, 10**24, 2**200)
SEEDS = [*few(range(1_000, 1_012), 2), 2_115, 2_158, *fuzzed_seeds(0, full=100, fuzz=300)]
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
            assert LiveSearch(source.searchable, request).run(read).outcome.best.replay.amount_out > 0
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


class DefectError(Exception):
    """An exception that no family raises on purpose."""


class BrokenCurve:
    """The curve of a pool that pays twice what others do, and raises `error` in one of its methods.

    `trade`, `amount_out`, `rate` and `capacity` fail for the numbers that are tried to find broken pools, `unforeseen`
    for an amount that is not.
    """

    start_rate = 2.0

    def __init__(self, failing: str, error: type[Exception]) -> None:
        self.failing, self.error = failing, error

    @property
    def capacity(self) -> float:
        return self.check("capacity", 1e30)

    def trade_to_marginal_rate(self, rate: float) -> tuple[float, float, float]:
        if rate >= self.start_rate:
            return 0.0, 0.0, 0.0
        amount = self.check("trade", 1e22)
        return amount, amount * self.start_rate, 1e24

    def amount_out(self, amount_in: float) -> float:
        if 1e10 < amount_in < 1e28:
            self.check("unforeseen", 1.0)
        return self.check("amount_out", amount_in * self.start_rate)

    def rate(self, amount_in: float) -> float:
        del amount_in
        return self.check("rate", self.start_rate)

    def check(self, name: str, number: float) -> float:
        if name == self.failing:
            raise self.error(DEFECT)
        return number


@dataclass(frozen=True, slots=True)
class BrokenPool(ConstantProduct):
    """A pool whose code fails, as a bug in a family would, or as an absurd state."""

    failing: str = ""
    error: type[Exception] = ZeroDivisionError

    def curve(self, token_in: str, token_out: str) -> ConstantProductCurve:
        del token_in, token_out
        if self.failing == "curve":
            raise self.error(DEFECT)
        return BrokenCurve(self.failing, self.error)  # type: ignore[return-value]  # the curve's class is the family's

    def swap(self, token_in: str, token_out: str, amount_in: int) -> tuple[int, BrokenPool]:
        del token_in, token_out
        if self.failing == "swap" or (self.failing == "unforeseen swap" and 10**10 < amount_in < 10**28):
            raise self.error(DEFECT)
        return 2 * amount_in, self

    def gas_units_to(self, token_in: str, token_out: str, rate: float) -> int:
        del token_in, token_out, rate
        if self.failing == "gas":
            raise self.error(DEFECT)
        return 100_000


DEFECT = "not as foreseen"
ERRORS = (
    ZeroDivisionError,
    ValueError,
    OverflowError,
    KeyError,
    TypeError,
    RecursionError,
    AssertionError,
    DefectError,
)
FAILURES = ("curve", "trade", "amount_out", "rate", "capacity", "unforeseen", "swap", "unforeseen swap")
FAULTS = [
    *few_rows([(failing, error) for failing in FAILURES for error in ERRORS], 17),
    ("curve", SwapReverts),
    ("curve", MarketError),
    ("swap", MarketError),
    ("curve", SwapcliError),
    ("gas", TypeError),
]
TOKENS = [build_token(number) for number in range(3)]
GOOD = [
    build_constant_product(number, *pair, 10**24, 10**24)
    for number, pair in enumerate([(TOKENS[0], TOKENS[1]), (TOKENS[0], TOKENS[2]), (TOKENS[2], TOKENS[1])])
]
REQUEST = QuoteRequest(Order(TOKENS[0], TOKENS[1], 10**21), ApiVersion.V2, gas_price_wei=0)
TERMS = SwapTerms(0, ttl_s=60, impact_warning_ppm=10**6)


def market_with(failing: str, error: type[Exception] = ZeroDivisionError, count: int = 1) -> MarketState:
    """Return a market of good pools and broken ones between the tokens of the order."""
    keys = [f"{GOOD[0].address[:-2]}{0x99 + number:02x}" for number in range(count)]
    traits = (GOOD[0].tokens, GOOD[0].decimals, 3_000, (10**24, 10**24))
    return build_market(
        [*GOOD, *(BrokenPool(key, "v2", *traits, failing=failing, error=error) for key in keys)], TOKENS
    )


def broken_key(market: MarketState) -> str:
    """Return the key of the first broken pool."""
    return next(key for key, pool in market.pools.items() if isinstance(pool, BrokenPool))


def warnings_of(answer: LocalQuote) -> list[str]:
    found = answer_warnings(answer, None, TERMS, None)
    return [each.message for each in found if each.code == FindingCode.POOL_LEFT_OUT]


@pytest.mark.parametrize(("failing", "error"), FAULTS)
def test_a_pool_whose_code_fails_is_skipped_and_named(failing: str, error: type[Exception]) -> None:
    market, good = market_with(failing, error), InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK)
    key = broken_key(market)
    for order in (REQUEST.order, REQUEST.order._replace(reverse=True)):
        request = REQUEST._replace(order=order, certify=True, gas_price_wei=int(failing == "gas"))
        answer, expected = InMemorySource(market, SYSTEM_CLOCK).quote(request), good.quote(request).quote
        assert (answer.quote.amount_in, answer.quote.amount_out) == (expected.amount_in, expected.amount_out)
        assert [each.key for each in answer.quote.broken_pools] == [key]
        name = "" if issubclass(error, SwapcliError) else f"{error.__name__}: "
        assert [DEFECT in each for each in warnings_of(answer)] == [True]
        assert warnings_of(answer)[0].startswith(f"pool {key} (v2) was skipped: {name}")


@pytest.mark.parametrize("failing", FAILURES)
def test_a_family_whose_code_fails_costs_its_pools_only(failing: str) -> None:
    market, good = market_with(failing, count=40), InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK)
    answer = InMemorySource(market, SYSTEM_CLOCK).quote(REQUEST)
    assert answer.quote.amount_out == good.quote(REQUEST).quote.amount_out
    (message,) = warnings_of(answer)
    assert message.startswith("40 pools were skipped: ZeroDivisionError: ") or "unforeseen" in failing
    assert broken_key(market) in message


@pytest.mark.parametrize("error", [MemoryError, Cancelled])
def test_errors_of_the_whole_request_end_it(error: type[Exception]) -> None:
    for failing in ("curve", "amount_out", "swap"):
        with pytest.raises(error):
            InMemorySource(market_with(failing, error), SYSTEM_CLOCK).quote(REQUEST)


def test_a_defect_outside_of_the_pools_is_raised() -> None:
    def fail() -> bool:
        raise DefectError

    with pytest.raises(DefectError):
        InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK).quote(REQUEST, is_cancelled=fail)


@pytest.mark.parametrize("failing", FAILURES)
def test_a_live_quote_names_the_pool_whose_code_fails(failing: str) -> None:
    market = market_with(failing)
    source, bad = InMemorySource(market, SYSTEM_CLOCK), broken_key(market)
    for keys in (market.pools.keys(), market.pools.keys() - {bad}):

        def read(requested: Sequence[str], keys: Set[str] = keys) -> MarketState:
            return market._replace(pools={key: market.pools[key] for key in requested if key in keys})

        found = LiveSearch(source.searchable, REQUEST).run(read)
        answer = build_local_quote(found.searched, REQUEST, found.outcome, 0.0)
        assert bad not in answer.result.pool_keys
        assert len(warnings_of(answer)) == 1


@pytest.mark.parametrize("failing", few(FAILURES, 3))
def test_lists_prices_and_depths_do_without_a_broken_pool(failing: str) -> None:
    market = market_with(failing)
    source, good = (InMemorySource(each, SYSTEM_CLOCK) for each in (market, build_market(GOOD, TOKENS)))
    measured, expected = (measure_depth(each, REQUEST, TERMS, (10**18, 10**21)) for each in (source, good))
    assert measured.points == expected.points
    assert len([each for each in measured.figures.warnings if each.code is FindingCode.POOL_LEFT_OUT]) == 1
    for each in (source, InMemorySource(market, SYSTEM_CLOCK)):
        if failing in ("curve", "trade"):
            assert unit_prices(each.searchable) == unit_prices(good.searchable)
            assert price_basis(each.searchable, TOKENS[2]) == price_basis(good.searchable, TOKENS[2])
            prices = price_tokens(each, TOKENS)
            assert [w.code for w in state_warnings(each.state_source, prices.state, 60)][:1] == [
                FindingCode.POOL_LEFT_OUT
            ]
        listed = {pool.key: pool for pool in list_pools(select_pools(each, (), None), ())}
        assert listed.keys() == market.pools.keys()
        assert "computations on its state fail: Zero" in listed[broken_key(market)].left_out or failing not in (
            "curve", "trade", "amount_out",
        )  # fmt: skip


@pytest.mark.parametrize("failing", FAILURES)
def test_a_pool_that_breaks_in_a_new_block_is_left_out(failing: str) -> None:
    market = market_with(failing)
    bad = broken_key(market)
    source = InMemorySource(build_market(GOOD, TOKENS), SYSTEM_CLOCK, memory=SearchMemory())
    before = source.quote(REQUEST).quote
    after = source.with_changes(market, {bad})
    assert after.quote(REQUEST).quote.amount_out == before.amount_out
    assert after.with_changes(build_market(GOOD, TOKENS), {bad}).quote(REQUEST).quote.broken_pools == ()


@pytest.mark.parametrize("failing", ["swap", "unforeseen swap"])
def test_a_route_found_before_its_pool_failed_is_refused(failing: str) -> None:
    market = market_with("")
    bad = broken_key(market)
    route = InMemorySource(market, SYSTEM_CLOCK).quote(REQUEST).quote.route
    with pytest.raises(SwapReverts, match=f"pool {bad}: ZeroDivisionError: {DEFECT}"):
        replay(market_with(failing).pools, route, REQUEST.order.amount)
