"""Reverse orders: the output of an order for an input needs that input at most, and less output never needs more.

Rounding may cost the twentieth part of a basis point, or a cent: no user sees less.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from bench.worlds.changed_pools import pushed_market
from bench.worlds.random_pairs import random_pairs
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.token import Token
from swapcli.core.routing.router import Router
from tests.core.routing.judges.quoted import quote_or_none
from tests.core.routing.judges.small_markets import cut_market
from tests.examples import few
from tests.support.markets import embedded_market

TOLERANCE = 5e-6  # of the input: a twentieth of a basis point
CENT = 0.01
MAX_USD = 100_000.0
ORDERS = 5
DEPTHS = (0.001, 0.01, 0.05)  # of a small market: beyond, pools fill up, and output comes in steps
SMALL_MARKETS = 12


def cent_of(router: Router, token: Token) -> float:
    """Return a cent in base units of a token; 0.0 if its price is unknown."""
    (price,) = router.index.usd_prices(token)
    return CENT / price * 10.0**token.decimals if price else 0.0


def check_reverse(router: Router, order: Order, gas_price_wei: int) -> None:
    """Compare the inputs for the output that `order` brings, and for a bit less, with its own input and gas."""
    forward = quote_or_none(router, order, gas_price_wei)
    if forward is None or forward.amount_out < 2:
        return
    price_in = forward.price_in_usd
    gas = forward.wei_usd / price_in * 10.0**order.token_in.decimals if forward.wei_usd and price_in else 0.0
    margin = max(TOLERANCE * order.amount, cent_of(router, order.token_in), 1.0)
    reverse = order._replace(amount=forward.amount_out, reverse=True)
    found = quote_or_none(router, reverse, gas_price_wei)
    assert found is not None
    assert found.amount_out >= forward.amount_out
    assert found.amount_in + gas * found.gas_wei <= order.amount + gas * forward.gas_wei + margin
    less = quote_or_none(
        router, reverse._replace(amount=forward.amount_out - forward.amount_out // 1000), gas_price_wei
    )
    assert less is not None
    assert less.amount_in + gas * less.gas_wei <= found.amount_in + gas * found.gas_wei + margin


def orders_on(market: MarketState, seed: int) -> Iterator[Order]:
    for pair in random_pairs(market, ORDERS, seed, MAX_USD):
        yield Order(market.tokens[pair.token_in], market.tokens[pair.token_out], pair.amount)


@pytest.mark.parametrize("gas_gwei", few([0.0, 1.0], 1))
@pytest.mark.parametrize("is_pushed", [False, True])
def test_the_input_for_an_output_is_that_which_brings_it(is_pushed: bool, gas_gwei: float) -> None:
    market = pushed_market(embedded_market("base"), 0) if is_pushed else embedded_market("base")
    router = Router(market)
    for order in orders_on(market, 1):
        check_reverse(router, order, round(gas_gwei * 1e9))


def test_the_input_for_an_output_of_a_small_market_is_that_which_brings_it() -> None:
    rng = random.Random("reverse orders")
    for pools in (6, 16) * (SMALL_MARKETS // 2):
        small = cut_market(rng, pools)
        if small:
            for part in DEPTHS:
                check_reverse(Router(small.market), small.order(part), 0)
