"""A store as a source answers as the market in it would."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swapcli.engine.clock import Clock
from swapcli.engine.sources.freshness import check_fresh
from swapcli.engine.sources.in_memory import InMemorySource
from swapcli.engine.sources.pool_source import PoolSource
from swapcli.engine.sources.stored import StoreSource
from swapcli.errors import AmbiguousToken, MarketUnavailable, NoRoute, UnknownToken
from swapcli.model.api_version import ApiVersion
from swapcli.model.market import Market, Provenance
from swapcli.model.order import Order
from swapcli.model.quote_request import QuoteRequest
from swapcli.model.state_source import StateSource
from swapcli.model.swap_terms import SwapTerms
from swapcli.model.token import Token
from swapcli.store import Store
from tests.store.build import imported
from tests.support.pools import build_wide_market
from tests.support.testnet import NOW_S, TWIN_A, USDC, WETH, build_testnet_market

CLOCK = Clock(lambda: NOW_S, lambda: 0.0)
ROUTER = "0x" + "99" * 20
RECEIVER = "0x" + "77" * 20


def with_router(market: Market) -> Market:
    return replace(market, network=replace(market.network, router=ROUTER))


MARKET = with_router(build_testnet_market())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with imported(tmp_path / "a.sqlite", MARKET) as made:
        yield made


def ask(market: Market, amount: int = 10**18) -> QuoteRequest:
    return QuoteRequest(Order(market.network.native, market.tokens[USDC], amount), ApiVersion.V2)


@pytest.fixture(params=["store", "market"])
def holder(request: pytest.FixtureRequest, store: Store) -> PoolSource:
    """Both must behave alike."""
    return StoreSource(store, CLOCK) if request.param == "store" else InMemorySource(MARKET, CLOCK)


def test_a_pool_source_quotes_as_its_market(holder: PoolSource) -> None:
    expected = InMemorySource(MARKET, CLOCK)
    assert holder.quote(ask(MARKET)) == expected.quote(ask(MARKET))
    assert holder.network == MARKET.network
    assert holder.state_source == expected.state_source == StateSource.of(MARKET, NOW_S)


def test_a_holder_builds_what_it_quoted(holder: PoolSource) -> None:
    terms = SwapTerms(5_000, RECEIVER)
    answer, payload = holder.quote_and_build(ask(MARKET), terms)
    fresh = replace(MARKET, timestamp=int(NOW_S))
    result = InMemorySource(fresh, CLOCK).quote(ask(MARKET)).result
    assert answer.result == result
    assert holder.build(result, terms) == payload


def test_a_holder_gives_at_least_what_is_asked_of_it(holder: PoolSource) -> None:
    keys = list(MARKET.pools)[:2]
    assert set(keys) <= holder.source_with([*keys, "0xunknown"]).market.pools.keys()
    assert holder.source_for(ask(MARKET).order).market.pools == MARKET.pools


def test_a_holder_is_healthy_and_counts_what_it_holds(holder: PoolSource) -> None:
    health = holder.health()
    assert health.is_healthy
    assert (health.pools, health.tokens) == (len(MARKET.pools), len(MARKET.tokens))
    assert health.sample is not None


def test_a_holder_knows_its_tokens(holder: PoolSource) -> None:
    assert holder.token("usdc") == MARKET.tokens[USDC]
    assert holder.token(WETH) == MARKET.tokens[WETH]
    assert holder.token("eth") == MARKET.network.native
    with pytest.raises(AmbiguousToken):
        holder.token("TWIN")
    with pytest.raises(UnknownToken) as caught:
        holder.token("USDQ")
    assert "USDC" in str(caught.value.hint)


def test_a_catalogue_symbol_wins_over_lookalikes(tmp_path: Path) -> None:
    true, false = MARKET.tokens[USDC], Token("0x" + "fa" * 20, "USDC", "Not that one", 6)
    network = replace(MARKET.network, tokens=(true,))
    lookalikes = replace(MARKET, network=network, tokens={**MARKET.tokens, false.address: false})
    with imported(tmp_path / "b.sqlite", lookalikes) as store:
        source = StoreSource(store, CLOCK)
        assert source.token("USDC") == true
        assert source.token(false.address) == false


def test_a_lookalike_is_not_resolved_by_symbol(tmp_path: Path) -> None:
    true = Token("0x" + "0c" * 20, "TWIN", "The one that is listed", 18)
    network = replace(MARKET.network, tokens=(true,))
    with imported(tmp_path / "c.sqlite", replace(MARKET, network=network)) as store:
        source = StoreSource(store, CLOCK)
        assert source.token("TWIN") == true
        assert source.token(TWIN_A).address == TWIN_A
        with pytest.raises(NoRoute):
            source.quote(QuoteRequest(Order(true, MARKET.tokens[USDC], 10**18), ApiVersion.V2))


WIDE = build_wide_market(3_000)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreSource]:
    with imported(tmp_path_factory.mktemp("wide") / "wide.sqlite", WIDE) as store:
        yield StoreSource(store, CLOCK)


@given(st.integers(0, 40), st.integers(0, 40), st.floats(-2, 4))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_health_of_a_large_store_looks_at_its_deepest_pools(wide: StoreSource) -> None:
    health = wide.health()
    assert health.is_healthy
    assert health.pools == len(WIDE.pools)


@pytest.mark.parametrize(
    ("age_s", "allowed_s", "passes"), [(30, 30, True), (31, 30, False), (None, 30, False), (10**9, None, True)]
)
def test_state_may_be_so_old(age_s: int | None, allowed_s: int | None, passes: bool) -> None:
    origin = StateSource(Provenance.SYNCED, "a test", 5, 1_000, age_s)
    if passes:
        check_fresh(origin, MARKET.network, allowed_s)
        return
    with pytest.raises(MarketUnavailable) as caught:
        check_fresh(origin, MARKET.network, allowed_s)
    assert caught.value.details["age_s"] == age_s
    assert "--max-age" in str(caught.value.hint)
