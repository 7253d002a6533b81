"""A store source returns the same quotes as its market in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swapcli.core.errors import AmbiguousToken, MarketUnavailable, NoRoute, UnknownToken
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.model.token import Token
from swapcli.quoting.sources.freshness import check_fresh
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.quote_source import PoolSource, quote_and_build
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import Clock
from swapcli.state.store import SkippedEntry, Store
from tests.examples import examples
from tests.state.store.build import create, imported
from tests.support.pools import build_wide_market
from tests.support.testnet import NOW_S, TWIN_A, USDC, WETH, build_testnet_market

CLOCK = Clock(lambda: NOW_S, lambda: 0.0)
ROUTER = "0x" + "99" * 20
RECIPIENT = "0x" + "77" * 20


def with_router(market: MarketState) -> MarketState:
    return market._replace(network=market.network._replace(router=ROUTER))


MARKET = with_router(build_testnet_market())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with imported(tmp_path / "a.sqlite", MARKET) as made:
        yield made


def request_of(market: MarketState, amount: int = 10**18) -> QuoteRequest:
    return QuoteRequest(Order(market.network.native, market.tokens[USDC], amount), ApiVersion.V2)


@pytest.fixture(params=["store", "market"])
def source(request: pytest.FixtureRequest, store: Store) -> PoolSource:
    """Return a source over the store or over the market in memory; both behave the same."""
    return StoreSource(store, CLOCK) if request.param == "store" else InMemorySource(MARKET, CLOCK)


def test_a_skipped_token_is_unknown_with_the_reason(tmp_path: Path) -> None:
    skipped = "0x" + "ab" * 20
    with create(tmp_path / "synced.sqlite") as store:
        with store.write_block(1, "0x1") as writer:
            writer.record_skipped([SkippedEntry(skipped, "decimals(): the contract reverts")])
        with pytest.raises(UnknownToken, match=r"was skipped by swapcli sync: decimals\(\): the contract reverts"):
            StoreSource(store, CLOCK).token(skipped.upper().replace("X", "x"))


def test_a_pool_source_quotes_as_its_market(source: PoolSource) -> None:
    expected = InMemorySource(MARKET, CLOCK)
    assert source.quote(request_of(MARKET)) == expected.quote(request_of(MARKET))
    assert source.network == MARKET.network
    assert source.state_source == expected.state_source == StateSource.of(MARKET, NOW_S)


def test_a_pool_source_builds_what_it_quoted(source: PoolSource) -> None:
    terms = SwapTerms(5_000, RECIPIENT)
    answer, payload = quote_and_build(source, request_of(MARKET), terms)
    fresh = MARKET._replace(timestamp=int(NOW_S))
    result = InMemorySource(fresh, CLOCK).quote(request_of(MARKET)).result
    assert answer.result == result
    assert source.build(result, terms) == payload


def test_a_pool_source_returns_at_least_the_requested_pools(source: PoolSource) -> None:
    keys = list(MARKET.pools)[:2]
    assert set(keys) <= source.known().with_pools([*keys, "0xunknown"]).market.pools.keys()
    assert source.known().for_order(request_of(MARKET).order).market.pools == MARKET.pools


def test_a_pool_source_is_healthy_and_counts_its_pools(source: PoolSource) -> None:
    health = source.health()
    assert health.is_healthy
    assert (health.pools, health.tokens) == (len(MARKET.pools), len(swappable_in(MARKET)))
    assert health.sample is not None


def test_a_pool_source_finds_its_tokens(source: PoolSource) -> None:
    assert source.token("usdc") == MARKET.tokens[USDC]
    assert source.token(WETH) == MARKET.tokens[WETH]
    assert source.token("eth") == MARKET.network.native
    with pytest.raises(AmbiguousToken):
        source.token("TWIN")
    with pytest.raises(UnknownToken) as caught:
        source.token("USDQ")
    assert "USDC" in str(caught.value.hint)


def test_a_catalogue_symbol_wins_over_lookalikes(tmp_path: Path) -> None:
    listed, lookalike = MARKET.tokens[USDC], Token("0x" + "fa" * 20, "USDC", "Not that one", 6)
    network = MARKET.network._replace(tokens=(listed,))
    lookalikes = MARKET._replace(network=network, tokens={**MARKET.tokens, lookalike.address: lookalike})
    with imported(tmp_path / "b.sqlite", lookalikes) as store:
        source = StoreSource(store, CLOCK)
        assert source.token("USDC") == listed
        assert source.token(lookalike.address) == lookalike


def test_a_lookalike_is_not_resolved_by_symbol(tmp_path: Path) -> None:
    listed = Token("0x" + "0c" * 20, "TWIN", "The one that is listed", 18)
    network = MARKET.network._replace(tokens=(listed,))
    with imported(tmp_path / "c.sqlite", MARKET._replace(network=network)) as store:
        source = StoreSource(store, CLOCK)
        assert source.token("TWIN") == listed
        assert source.token(TWIN_A).address == TWIN_A
        with pytest.raises(NoRoute):
            source.quote(QuoteRequest(Order(listed, MARKET.tokens[USDC], 10**18), ApiVersion.V2))


WIDE = build_wide_market(3_000)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreSource]:
    with imported(tmp_path_factory.mktemp("wide") / "wide.sqlite", WIDE) as store:
        yield StoreSource(store, CLOCK)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(-2, 4))
@settings(max_examples=examples(3, full=40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_pools_around_an_order_are_all_it_needs(wide: StoreSource, i: int, j: int, magnitude: float) -> None:
    tokens = list(WIDE.tokens.values())
    if i == j:
        return
    order = Order(tokens[i], tokens[j], max(1, int(10 ** (tokens[i].decimals + magnitude - 2))))
    whole = InMemorySource(WIDE, CLOCK)
    try:
        best = whole.quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount
    except NoRoute:
        return
    assert wide.quote(QuoteRequest(order, ApiVersion.V1)).result.output_amount >= best * (1 - 5e-4) - 2


def test_health_of_a_large_store_uses_its_deepest_pools(wide: StoreSource) -> None:
    health = wide.health()
    assert health.is_healthy
    assert health.pools == len(WIDE.pools)


@pytest.mark.parametrize(
    ("age_s", "allowed_s", "passes"), [(30, 30, True), (31, 30, False), (None, 30, False), (10**9, None, True)]
)
def test_state_beyond_the_maximum_age_is_refused(age_s: int | None, allowed_s: int | None, passes: bool) -> None:
    origin = StateSource(Provenance.SYNCED, "a test", 5, 1_000, age_s)
    if passes:
        check_fresh(origin, MARKET.network, allowed_s)
        return
    with pytest.raises(MarketUnavailable) as caught:
        check_fresh(origin, MARKET.network, allowed_s)
    assert caught.value.details["age_s"] == age_s
    assert "a greater age" in str(caught.value.hint)
