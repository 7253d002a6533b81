"""Dollar prices: anchors, mid rates weighted by depth, over the way whose thinnest pair is deepest."""

from __future__ import annotations

import random
from itertools import pairwise
from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.token import Token
from swapcli.core.routing.graph import usd_prices as usd_prices_module
from swapcli.core.routing.graph.market_graph import MarketGraph
from swapcli.core.routing.graph.usd_prices import mid_rate, usd_prices
from swapcli.core.routing.router import Router
from swapcli.families import family
from swapcli.families.tick_math import sqrt_ratio_at_tick
from tests.core.routing.build import graph_of
from tests.core.routing.random_routes import simple_paths
from tests.support.pools import UNIT, build_constant_product, build_market, build_random_market, build_token, seeds

A, USD, C, D = (build_token(k) for k in range(4))


def graph(*pools: Pool) -> MarketGraph:
    return graph_of(build_market(pools, [A, USD, C, D]))


def pool(number: int, a: Token, b: Token, of_a: float, of_b: float, fee_ppm: int = 3000) -> Pool:
    return build_constant_product(number, a, b, int(of_a * UNIT), int(of_b * UNIT), fee_ppm)


# --- one pair


@given(st.floats(1, 1e9), st.floats(1, 1e9), st.sampled_from([0, 500, 3000, 10_000, 300_000]))
def test_the_mid_rate_of_one_pool_is_its_ratio_whatever_the_fee(of_a: float, of_usd: float, fee_ppm: int) -> None:
    pair = graph(pool(0, A, USD, of_a, of_usd, fee_ppm))
    assert mid_rate(pair, 0, 1)[0] == pytest.approx(of_usd / of_a)
    assert mid_rate(pair, 1, 0)[0] == pytest.approx(of_a / of_usd)


@given(seeds, st.booleans())
def test_a_mid_rate_is_within_the_pools_rates_and_depths_add_up(seed: int, every_family: bool) -> None:
    pair = graph_of(build_random_market(seed, tokens=2, pools=6, noise=30, every_family=every_family))
    rate, depth = mid_rate(pair, 0, 1)
    back = {arc.pool.key: arc for arc in pair.arcs_by_pair[1][0]}
    mids = [(arc.rate / back[arc.pool.key].rate) ** 0.5 for arc in pair.arcs_by_pair[0][1]]
    assert min(mids) * (1 - 1e-9) <= rate <= max(mids) * (1 + 1e-9)
    paid = [arc.trade_to_marginal_rate(arc.rate * 0.999)[1] * 1_000 for arc in pair.arcs_by_pair[0][1]]
    assert depth == pytest.approx(sum(paid), rel=1e-9)


def test_the_mid_rate_is_weighted_by_depth() -> None:
    """The deeper pool says 3,000, one with a third of its dollars 3,400."""
    pair = graph(pool(0, A, USD, 100, 300_000), pool(1, A, USD, 100_000 / 3_400, 100_000))
    assert mid_rate(pair, 0, 1)[0] == pytest.approx((3 * 3_000 + 3_400) / 4)


def one_way(number: int, a: Token, b: Token) -> Pool:
    """A concentrated pool above its only position: it can be sold into, but not out of it."""
    identity = PoolIdentity(f"0x{0xF00000 + number:040x}", "v3", (a.address, b.address), (18, 18), 3000)
    state = {
        "sqrt_price_x96": str(sqrt_ratio_at_tick(1200)),
        "tick": 1200,
        "liquidity": "0",
        "tick_spacing": 60,
        "ticks": [[-600, str(10**24)], [600, str(-(10**24))]],
    }
    return family("concentrated").from_state(identity, state)


def test_a_pool_that_trades_one_way_only_has_no_mid_rate() -> None:
    alone = graph(one_way(0, A, USD))
    assert alone.arcs_by_pair[0][1]
    assert 0 not in alone.arcs_by_pair[1]
    assert mid_rate(alone, 0, 1) == (0.0, 0.0)
    assert usd_prices(alone, {1: 1.0}) == {1: 1.0}
    beside = graph(one_way(0, A, USD), pool(1, A, USD, 1, 3))
    assert mid_rate(beside, 0, 1)[0] == pytest.approx(3)


# --- the way


def test_anchor_prices_stay_and_unreachable_tokens_have_none() -> None:
    prices = usd_prices(graph(pool(0, A, USD, 1, 3_000)), {1: 1.0, 2: 0.99})
    assert prices == {1: 1.0, 2: 0.99, 0: pytest.approx(3_000)}


def test_a_price_comes_over_several_pools() -> None:
    prices = usd_prices(graph(pool(0, A, C, 10, 20), pool(1, C, D, 10, 50), pool(2, D, USD, 10, 70)), {1: 1.0})
    assert [prices[t] for t in (3, 2, 0)] == pytest.approx([7, 35, 70])


@pytest.mark.parametrize(("dollars_of_c", "expected"), [(2_000.0, 10.0), (20.0, 13.0)])
@pytest.mark.parametrize("price_of_c", [0.02, 1.0, 50.0])
def test_the_path_with_the_deeper_thinnest_pair_sets_the_price(
    dollars_of_c: float, expected: float, price_of_c: float
) -> None:
    """Directly a is worth 13 dollars in a pool of 100; over c 10 dollars, in a pool of more or fewer of them."""
    direct = pool(0, A, USD, 100 / 13, 100)
    over = [pool(1, A, C, dollars_of_c / 10, dollars_of_c / price_of_c), pool(2, C, USD, 1e6 / price_of_c, 1e6)]
    assert usd_prices(graph(direct, *over), {1: 1.0})[0] == pytest.approx(expected)


@given(seeds)
def test_prices_in_a_tree_are_products_of_mid_rates(seed: int) -> None:
    rng, known = random.Random(seed), [build_token(k) for k in range(8)]
    joins = [(k, rng.randrange(k)) for k in range(1, 8)]
    tree = [
        pool(n, known[i], known[j], 10 ** rng.uniform(1, 5), 10 ** rng.uniform(1, 5)) for n, (i, j) in enumerate(joins)
    ]
    market = graph_of(build_market(tree, known))
    prices = usd_prices(market, {1: 1.0})
    for t in range(8):
        expected = 1.0
        for i, j in pairwise(next(iter(simple_paths(lambda k: market.best_rate_out[k], t, 1, 8)))):
            expected *= mid_rate(market, i, j)[0]
        assert prices[t] == pytest.approx(expected)


@given(seeds, st.booleans())
def test_prices_without_arbitrage_match_every_pool_up_to_fees(seed: int, every_family: bool) -> None:
    market = graph_of(build_random_market(seed, every_family=every_family))
    prices = usd_prices(market, {1: 1.0})
    for arc in market.arcs():
        if arc.token_in in prices:
            assert arc.rate * prices[arc.token_out] == pytest.approx(prices[arc.token_in], rel=0.12)


# --- some prices only


# --- of whole tokens


def test_a_router_prices_whole_tokens_whatever_their_decimals() -> None:
    eth, usd, btc, lost = build_token(0), build_token(1, decimals=6), build_token(2, decimals=8), build_token(3)
    pools = [
        build_constant_product(0, eth, usd, 10**21, 3_000_000 * 10**6),
        build_constant_product(1, btc, eth, 10 * 10**8, 300 * 10**18),
    ]
    router = Router(build_market(pools, [eth, usd, btc, lost]))
    for _ in range(2):  # the first answer and later ones are found in different ways
        *known, unknown = router.index.usd_prices(eth, usd, btc, lost)
        assert known == pytest.approx([3_000, 1, 90_000])
        assert unknown is None


@given(seeds)
def test_a_router_returns_the_same_prices_on_every_call(seed: int) -> None:
    market = build_random_market(seed, tokens=8)
    tokens = list(market.tokens.values())
    router = Router(market)
    first = [Router(market).index.usd_prices(one)[0] for one in tokens]
    assert [router.index.usd_prices(one)[0] for one in tokens] == first
    assert router.index.usd_prices(*tokens) == tuple(first)


@given(seeds)
def test_prices_do_not_depend_on_how_a_version_of_python_rounds_sums(seed: int) -> None:
    """Since Python 3.12, `sum` of floats is as exact as `fsum`. An order of $1000 must have one size everywhere."""
    market = build_random_market(seed, tokens=8)
    found = Router(market).index.usd_prices(*market.tokens.values())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(usd_prices_module, "sum", fsum, raising=False)
        assert Router(market).index.usd_prices(*market.tokens.values()) == found


def test_a_token_that_the_market_does_not_hold_has_no_price() -> None:
    assert Router(build_random_market(1)).index.usd_prices(build_token(1), build_token(99)) == (1.0, None)


def test_without_a_known_stablecoin_reference_prices_anchor() -> None:
    eth, other = Token(build_token(0).address, "ETH", "Ether", 18, 2_500.0), build_token(1)
    market = build_market([build_constant_product(0, eth, other, 10**21, 10**22)], [eth, other])
    market = market._replace(network=market.network._replace(stablecoins=()))
    first, second = Router(market).index.usd_prices(eth, other)
    assert first == 2_500.0
    assert second == pytest.approx(250)


def test_without_any_anchor_nothing_has_a_price() -> None:
    market = build_market([build_constant_product(0, A, C, 10**21, 10**22)], [A, C])
    market = market._replace(network=market.network._replace(stablecoins=()))
    assert Router(market).index.usd_prices(A, C) == (None, None)
