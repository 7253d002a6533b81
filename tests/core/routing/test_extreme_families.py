"""Extreme states of every family, through everything that computes on pools: answered, refused, or left out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import permutations
from math import isfinite

import pytest

from swapcli.core.errors import SwapcliError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.routing.broken_pools import broken_pools
from swapcli.core.routing.router import Router
from swapcli.core.routing.unused_pool_gains import PRICE_MARGIN, closest_pools, pool_gains, route_pools
from swapcli.families import FAMILIES
from swapcli.quoting.depth import measure_depth
from swapcli.quoting.pool_listing import list_pools, select_pools
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live_search import LiveSearch
from swapcli.quoting.sources.local_quotes import build_local_quote, quote_batch
from swapcli.quoting.sources.market_prices import price_basis, unit_prices
from swapcli.state.clock import SYSTEM_CLOCK
from tests.examples import few, fuzzed_seeds
from tests.support.extreme_families import after_large_swaps, build_extreme_pool, build_market_of_extremes
from tests.support.pools import build_token

AMOUNTS = (1, 10**6, 10**18, 10**24, 2**200)
TERMS = SwapTerms(0, ttl_s=60, impact_warning_ppm=10**6)
STATES, QUOTES = 25, 20
"""States of a family, and live quotes, for each seed."""
TOKENS = [build_token(number, decimals) for number, decimals in enumerate((18, 6, 18, 8, 0, 18, 18, 18))]


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=20, fuzz=40))
@pytest.mark.parametrize("name", few(FAMILIES, 16))
def test_no_state_that_a_family_accepts_breaks_its_curve(name: str, seed: int) -> None:
    rng = random.Random(f"{name} {seed}")
    pools = [pool for number in range(STATES) if (pool := build_extreme_pool(rng, number, name, TOKENS))]
    assert len(pools) >= STATES // 8
    assert broken_pools(pools) == ()
    for pool in pools:
        check_numbers(rng, pool)


def check_numbers(rng: random.Random, pool: Pool) -> None:
    """Assert that a curve gives numbers for any rates and amounts."""
    for token_in, token_out in permutations(pool.tokens[:3], 2):
        curve = pool.curve(token_in, token_out)
        start_rate, capacity = curve.start_rate, min(curve.capacity, 2.0**128)
        for _ in range(4 if start_rate else 0):
            rate, amount_in = start_rate * 10.0 ** rng.uniform(-250.0, 0.0), capacity * 10.0 ** rng.uniform(-40.0, 0.0)
            numbers = *curve.trade_to_marginal_rate(rate), curve.amount_out(amount_in), curve.rate(amount_in)
            assert all(isfinite(number) and number >= 0.0 for number in numbers)


@pytest.mark.parametrize("seed", fuzzed_seeds(1, full=100, fuzz=250))
def test_live_quotes_among_extreme_pools_are_answered(seed: int) -> None:
    """Twenty quotes for each seed; each pool has moved since its state was stored."""
    rng, known = random.Random(seed), build_market_of_extremes(seed)
    source = InMemorySource(known, SYSTEM_CLOCK)
    for request in requests_for(known, rng, QUOTES):
        present = after_swaps_in(known, rng)

        def read(keys: Sequence[str], present: MarketState = present) -> MarketState:
            pools = {key: present.pools[key] for key in keys}
            return present._replace(pools=pools, provenance=Provenance.LIVE)

        with suppress(SwapcliError):
            found = LiveSearch(source.searchable, request).run(read)
            answer = build_local_quote(found.searched, request, found.outcome, 0.0)
            assert answer.quote.amount_out > 0
            assert answer.quote.broken_pools == ()
            figures = compute_figures(answer, TERMS)
            assert figures.price_impact is None or isfinite(figures.price_impact.fraction)
            source.build(answer, TERMS)


@pytest.mark.parametrize("seed", fuzzed_seeds(3, full=50, fuzz=150))
def test_all_computations_on_extreme_pools_end_in_numbers(seed: int) -> None:
    rng, market = random.Random(seed), build_market_of_extremes(seed)
    source = InMemorySource(market, SYSTEM_CLOCK)
    prices = unit_prices(source.searchable)
    assert all(isfinite(price) and price > 0.0 for price in prices.values())
    for token in market.tokens.values():
        basis = price_basis(source.searchable, token)
        assert basis is None or isfinite(basis.price_usd)
    listed = list_pools(select_pools(source, (), None), ())
    assert {each.key for each in listed} == market.pools.keys()
    assert all(isfinite(each.price or 0.0) and isfinite(each.liquidity_usd or 0.0) for each in listed)
    for request in requests_for(market, rng, 3):
        with suppress(SwapcliError):
            check_proof_and_gains(Router(market), request.order)
        with suppress(SwapcliError):
            quote_batch(source.searchable, [request, request])
    token_in, token_out = list(market.tokens.values())[:2]
    order = Order(token_in, token_out, 10**18)
    with suppress(SwapcliError):
        measure_depth(source, QuoteRequest(order, ApiVersion.V2, gas_price_wei=0), TERMS, (1, 10**18, 10**30))


@pytest.mark.parametrize("seed", fuzzed_seeds(3, full=50, fuzz=150))
def test_extreme_pools_that_appear_in_a_block_stop_no_order(seed: int) -> None:
    rng, market = random.Random(seed), build_market_of_extremes(seed)
    ordinary = {key: pool for key, pool in market.pools.items() if pool.address < f"0x{0xE00000:040x}"}
    steps: list[Callable[[], MarketState]] = [lambda: market, lambda: after_swaps_in(market, rng)]
    source, state = InMemorySource(market._replace(pools=ordinary), SYSTEM_CLOCK), market._replace(pools=ordinary)
    for step in steps:
        for request in requests_for(market, rng, 2):
            with suppress(SwapcliError):
                source.quote(request)
        after = step()
        changed = {key for key in after.pools if after.pools[key] != state.pools.get(key)}
        source, state = source.with_changes(after, changed), after
        for request in requests_for(market, rng, 2):
            with suppress(SwapcliError):
                assert source.quote(request).quote.broken_pools == ()


def requests_for(market: MarketState, rng: random.Random, count: int) -> list[QuoteRequest]:
    requests, tokens = [], list(market.tokens.values())
    for _ in range(count):
        token_in, token_out = rng.sample(tokens[: rng.choice((3, len(tokens)))], 2)
        order = Order(token_in, token_out, rng.choice(AMOUNTS), reverse=rng.random() < 0.3)
        gas_price_wei = rng.choice((0, None))
        requests.append(QuoteRequest(order, ApiVersion.V2, gas_price_wei=gas_price_wei, solve_time_s=1.0))
    return requests


def after_swaps_in(market: MarketState, rng: random.Random) -> MarketState:
    """Return the market after swaps of any size in half of its pools."""
    pools = {key: after_large_swaps(rng, pool, 1) if rng.random() < 0.5 else pool for key, pool in market.pools.items()}
    return market._replace(pools=pools)


def check_proof_and_gains(router: Router, order: Order) -> None:
    result = router.search(order)
    certificate = router.build_quote(order, result, certify=True).certificate
    assert certificate is not None
    used = set(route_pools(result))
    for all_paths in (False, True):
        gains = pool_gains(router.index, order, result, used, PRICE_MARGIN, all_paths=all_paths)
        assert all(isfinite(gain) and gain > 0.0 for gain in gains.gains)
    assert not used & set(closest_pools(router.index, order, result, used, 5))
