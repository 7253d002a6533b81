"""Markets made to mislead a router: routes, amounts and certificates are still correct."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.replay import replay
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.route_search import RouteSearch
from swapcli.quoting.open_market import open_market
from tests.core.routing.build import graph_of, problem_on
from tests.core.routing.dust_pools import DustAmounts, with_dust
from tests.examples import examples, generator, seeds
from tests.support.pools import UNIT, build_market, build_order, build_random_market, build_token

MARKETS = Path(__file__).parent / "markets"
LOSS = 1e-5
"""A tenth of a basis point: what dust may cost an order."""

DRAINING = 0.3
"""A price impact from which whole percents that overflow a pool decide more than dust does."""

DUST_VALUE_USD = 1e-4
"""Of a token in a dust pool: a millionth of the least order here."""


@cache
def recorded(name: str) -> MarketState:
    document = (MARKETS / f"{name}.json").read_bytes()
    return open_market(json.loads(document)["network"]["name"], find_network, document=document).market


def of_symbols(market: MarketState, sold: str, bought: str, amount: int) -> Order:
    by_symbol = {each.symbol: each for each in market.tokens.values()}
    return Order(by_symbol[sold], by_symbol[bought], amount)


def value_of(market: MarketState, usd: float) -> DustAmounts:
    """Base units of each token that are worth `usd`, of tokens that have a price."""
    listed = list(market.tokens.values())
    prices = zip(listed, Router(market).index.usd_prices(*listed), strict=True)
    return {each.address: max(1.0, usd / price * 10**each.decimals) for each, price in prices if price}


def test_a_worthless_pool_at_an_extreme_tick_misleads_no_order() -> None:
    market = recorded("hostile_extreme_tick")
    quote = Router(market).quote(of_symbols(market, "WETH", "SIX", 3 * 10**18), certify=True)
    singles = []
    for pool in market.pools.values():
        try:
            singles.append(pool.swap(quote.order.token_in.address, quote.order.token_out.address, 3 * 10**18)[0])
        except (PoolError, KeyError, ValueError):
            continue
    assert quote.amount_out >= max(singles) == 8_989_082_437
    assert quote.certificate is not None
    assert quote.amount_out <= quote.certificate.acyclic_bound < 5 * quote.amount_out


def test_a_token_whose_only_pool_cannot_take_it_has_no_route() -> None:
    market = recorded("hostile_one_sided")
    with pytest.raises(NoRoute):
        Router(market).quote(of_symbols(market, "AAA", "WETH", 10**18))


@pytest.mark.parametrize("seed", seeds(2, full=6))
def test_dust_pools_cost_no_order_a_tenth_of_a_basis_point(seed: int) -> None:
    """As many dust pools as the market has pools, over random markets whose tokens all have prices."""
    market = build_random_market(seed, tokens=12, pools=40, every_family=True)
    value = value_of(market, DUST_VALUE_USD)
    dusted = with_dust(market, value, list(combinations(value, 2)), 40, seed)
    assert len(dusted.pools) > len(market.pools) + 10
    rng = random.Random(seed)
    listed = list(value)
    clean, dirty = Router(market), Router(dusted)
    for _ in range(6):
        sold, bought = rng.sample(listed, 2)
        amount = int(value[sold] / DUST_VALUE_USD * 10 ** rng.uniform(2, 5))
        calls = Order(market.tokens[sold], market.tokens[bought], amount)
        without = clean.quote(calls)
        if without.price_impact is None or without.price_impact > DRAINING:
            continue
        quote = dirty.quote(calls, certify=True)
        assert quote.amount_out >= without.amount_out * (1 - LOSS) - 1
        assert quote.certificate is not None
        assert quote.certificate.is_proof
        assert quote.certificate.bound >= without.amount_out * (1 - 1e-12) - 1


@pytest.mark.parametrize("seed", range(4))
def test_dust_pools_cost_no_order_on_the_embedded_market(seed: int) -> None:
    market = open_market("base", find_network).market
    value = value_of(market, DUST_VALUE_USD)
    hubs = [address for address in value if sum(address in pool.tokens for pool in market.pools.values()) > 8]
    pairs = [*combinations(hubs, 2), *random.Random(seed).sample(list(combinations(value, 2)), 40)]
    dusted = with_dust(market, value, pairs, 20, seed)
    clean, dirty = Router(market), Router(dusted)
    for sold, bought in (("ETH", "USDC"), ("USDC", "cbBTC"), ("AERO", "USDC")):
        for usd in (100, 100_000):
            requested = of_symbols(market, {"ETH": "WETH"}.get(sold, sold), bought, 0)
            calls = requested._replace(amount=int(value[requested.token_in.address] / DUST_VALUE_USD * usd))
            without, quote = (router.quote(calls, gas_price_wei=0) for router in (clean, dirty))
            assert quote.amount_out >= without.amount_out * (1 - LOSS)


@pytest.mark.fuzz
def test_hostile_markets_give_an_exact_quote_or_a_plain_error() -> None:
    """One-sided and drained pools, 0 to 30 decimals, one unit to all liquidity and more."""
    cases = examples(20, full=300, fuzz=2_000)
    rng, answered = generator("hostile"), 0
    for case in range(cases):
        market = hostile(rng)
        listed = list(market.tokens.values())
        sold, bought = rng.sample(listed, 2)
        reserve = max((max(getattr(p, "reserves", (10**20,))) for p in market.pools.values()), default=1)
        amount = max(1, int(10 ** rng.uniform(0, len(str(reserve)) + 1)))
        calls = Order(sold, bought, amount, reverse=case % 5 == 0)
        try:
            quote = Router(market).quote(calls, gas_price_wei=rng.choice((0, 10**9)), certify=case % 3 == 0)
        except NoRoute:
            continue
        answered += 1
        done = replay(market.pools, quote.route, quote.amount_in)
        assert done.amount_out == quote.amount_out > 0
        if calls.reverse:
            assert quote.amount_out >= amount
        else:
            assert quote.amount_in == amount
        if quote.certificate:
            assert quote.certificate.bound >= quote.amount_out
    assert answered > cases // 4


def hostile(rng: random.Random) -> MarketState:
    """A small market of any decimals, some of whose pools have been drained, with dust at absurd prices."""
    fair = build_random_market(
        rng.randrange(10**6), tokens=5, pools=8, noise=rng.choice((0.8, 30.0)), every_family=True
    )
    pools = dict(fair.pools)
    for key in rng.sample(sorted(pools), 3):
        sold, bought = rng.sample(pools[key].tokens, 2)
        for digits in (30, 26, 22):
            try:
                pools[key] = pools[key].swap(sold, bought, 10**digits)[1]
                break
            except PoolError:
                continue
    drained = fair._replace(pools=pools)
    listed = list(drained.tokens)
    value = {address: 10.0 ** rng.uniform(0, 12) for address in listed}
    return with_dust(drained, value, list(combinations(listed, 2)), 6, rng.randrange(10**6))


def stepping(limit: int) -> Callable[[], bool]:
    """Time that is up after `limit` looks at it."""
    looks = iter(range(limit))
    return lambda: next(looks, None) is None


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_a_search_out_of_time_returns_an_exact_route_and_says_so(limit: int) -> None:
    market = build_random_market(3, tokens=20, pools=120, every_family=True)
    calls = build_order(market, 0, 1, 10**21)
    whole = Router(market).quote(calls)
    quote = Router(market).quote(calls, is_time_up=stepping(limit))
    assert not quote.is_search_complete
    assert whole.is_search_complete
    assert 0 < quote.amount_out <= whole.amount_out
    assert replay(market.pools, quote.route, quote.amount_in).amount_out == quote.amount_out


def test_more_time_never_pays_less() -> None:
    market = build_random_market(3, tokens=20, pools=120, every_family=True)
    quotes = [
        Router(market).quote(build_order(market, 0, 1, 10**21), is_time_up=stepping(limit)) for limit in range(0, 60, 3)
    ]
    amounts = [quote.amount_out for quote in quotes]
    assert amounts == sorted(amounts)
    assert amounts[0] >= 0.99 * amounts[-1]  # a coarse split stands at once


@pytest.mark.parametrize("seed", range(12))
def test_more_hops_never_pay_less(seed: int) -> None:
    """A chain of pools beside a net of them: long paths carry part of the order."""
    market = build_random_market(seed, tokens=9, pools=20, noise=0.8)
    outputs = []
    for max_hops in range(2, 9):
        found = RouteSearch(problem_on(graph_of(market), 10**20, max_hops), market.pools).run()
        outputs.append(found.best.replay.amount_out if found else 0)
    for fewer, more in pairwise(outputs):
        assert more >= fewer * (1 - LOSS)


def test_gas_is_not_weighed_by_the_price_of_a_dust_pool() -> None:
    """A pool that offers a million times the price for a speck of native currency does not make gas dear."""
    from tests.support.pools import build_constant_product

    weth, usd, mid = (build_token(number) for number in range(3))
    pools = [
        build_constant_product(0, weth, usd, 10**3 * UNIT, 3 * 10**6 * UNIT),
        build_constant_product(1, mid, usd, 10**6 * UNIT, 10**6 * UNIT),
        build_constant_product(2, mid, usd, 10**6 * UNIT, 10**6 * UNIT),
    ]
    clean = build_market(pools, [weth, usd, mid], 10**9)
    dusted = build_market([*pools, build_constant_product(3, weth, usd, 1, 10**9)], [weth, usd, mid], 10**9)
    calls = Order(mid, usd, 10**4 * UNIT)
    quotes = [Router(each).quote(calls) for each in (clean, dusted)]
    assert quotes[0].amount_out == quotes[1].amount_out
    assert len(quotes[1].steps) == 2
