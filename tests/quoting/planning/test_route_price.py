"""The price of a route: its legs with their weights, and what moves it."""

from __future__ import annotations

from math import isclose, log

import pytest

from swapcli import Market
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.pool import PoolIdentity
from swapcli.core.model.quote import Step
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.quoting.planning.measured_market import measure_market
from swapcli.quoting.planning.price_path import PricePath, Unmeasured
from swapcli.quoting.planning.route_price import RoutePrice, log_mid_price, route_fee, route_legs
from swapcli.quoting.quote_results import LocalQuote
from tests.support.testnet import DAI, USDC, WETH


def pair(digit: str, tokens: tuple[str, str], reserves: tuple[int, int], fee_ppm: int = 3_000) -> ConstantProduct:
    identity = PoolIdentity("0x" + digit * 40, "uniswapV2", tokens, (18, 18), fee_ppm)
    return ConstantProduct(*identity, reserves)


DIRECT = pair("a", (WETH, USDC), (10**21, 2 * 10**24))
FIRST = pair("b", (WETH, DAI), (10**21, 3 * 10**24), 10_000)
SECOND = pair("c", (DAI, USDC), (10**24, 10**24))
DUST = pair("d", (WETH, USDC), (10**9, 10**20))
POOLS = {pool.key: pool for pool in (DIRECT, FIRST, SECOND, DUST)}
STEPS = (
    Step(DIRECT.key, WETH, USDC, 0, 600, 1_000),
    Step(DUST.key, WETH, USDC, 0, 1, 1),
    Step(FIRST.key, WETH, DAI, 0, 399, 900),
    Step(SECOND.key, DAI, USDC, 0, 900, 890),
)


def test_a_leg_weighs_what_part_of_the_order_takes_it_and_dust_nothing() -> None:
    legs = {leg.pool: leg.weight for leg in route_legs(STEPS, POOLS, 1_000)}
    assert legs == {DIRECT.key: 0.6, FIRST.key: pytest.approx(0.399), SECOND.key: pytest.approx(0.399)}


def test_the_price_moves_with_the_pools_and_not_with_what_is_first_known_of_them() -> None:
    price = RoutePrice(route_legs(STEPS, POOLS, 1_000), POOLS)
    price.follow_fields(DIRECT.key, {"reserves": [10**21, 3 * 10**24]})
    assert price.log_price == 0.0
    price.follow_fields(DIRECT.key, {"reserves": [10**21, 6 * 10**24]})
    price.follow_pool(SECOND)
    price.follow_pool(pair("c", (DAI, USDC), (10**24, 4 * 10**24)))
    assert isclose(price.log_price, 0.6 * log(2) + 0.399 * log(4), rel_tol=1e-9)


@pytest.mark.parametrize(
    "fields",
    [
        {"reserves": [0, 10**24]},
        {"reserves": [-1, 10**24]},
        {"reserves": [1 << 112, 1]},
        {"sqrt_price_x96": 0},
        {"sqrt_price_x96": 1 << 160},
    ],
)
def test_a_state_that_cannot_be_changes_nothing(fields: dict[str, object]) -> None:
    price = RoutePrice(route_legs(STEPS, POOLS, 1_000), POOLS)
    price.follow_pool(DIRECT)
    price.follow_fields(DIRECT.key, fields)
    assert price.log_price == 0.0
    assert price.is_near(DIRECT, 1e-12)


def test_the_mid_price_is_without_the_fee() -> None:
    (leg,) = [leg for leg in route_legs(STEPS, POOLS, 1_000) if leg.pool == FIRST.key]
    assert log_mid_price(FIRST, leg) == pytest.approx(log(3_000), rel=1e-12)


def test_the_fee_of_a_route_is_that_of_its_hops_by_their_weight() -> None:
    legs = route_legs(STEPS, POOLS, 1_000)
    expected = -0.6 * log(0.997) - 0.399 * (log(0.99) + log(0.997))
    assert route_fee(legs, POOLS) == pytest.approx(expected, rel=1e-9)


def test_the_median_of_a_path_is_by_time() -> None:
    path = PricePath([0.0, 10.0, 11.0, 12.0], [1.0, 5.0, 7.0, 2.0], 20.0)
    assert path.median(0.0, 20.0) == 1.0
    assert path.median(10.5, 20.0) == 2.0
    assert path.median(11.0, 12.5) == 7.0


def test_modelled_prices_have_no_past() -> None:
    with Market.embedded("base") as market:
        order = Order(market.token("ETH"), market.token("USDC"), 10**18)
        answer = market.source.quote(QuoteRequest(order, ApiVersion.V2))
        assert isinstance(answer, LocalQuote)
        found = measure_market(market.source, market._nodes, answer)
    assert found.refill == found.volatility == Unmeasured("these prices have no past blocks")
    document = found.document()
    assert (document["origin"], document["refill"], document["requests"]) == ("none", None, 0)
    assert (found.refill_estimate, found.rest_ratio) == (None, None)
