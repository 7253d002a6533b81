"""A larger order never pays less: what a smaller one leaves can go to a pool that takes it, however full."""

from __future__ import annotations

import random

import pytest

from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.core.routing.router import Router
from tests.core.routing.judges.quoted import quote_or_none
from tests.core.routing.judges.small_markets import cut_market
from tests.examples import fuzzed_seeds
from tests.support.pools import UNIT, build_concentrated, build_constant_product, build_market, build_order, build_token

PARTS = (0.03, 0.1, 0.3, 0.6, 1.0, 2.0, 4.0)
"""Of the depth of the thinner of the two tokens."""

MAX_LOSS = 1e-3
"""Of the output of a smaller order. Shares are hundredths of a percent of the order, of which pools may use little."""

MARKETS_PER_SEED = 6


@pytest.mark.parametrize("seed", fuzzed_seeds(2, full=50))
def test_larger_orders_on_parts_of_a_market_pay_no_less(seed: int) -> None:
    rng = random.Random(f"larger orders {seed}")
    for number in range(MARKETS_PER_SEED):
        part = cut_market(rng, 16 if number % 3 == 0 else 6)
        if part is None:
            continue
        router, best = Router(part.market), 0
        for quote in (quote_or_none(router, part.order(each)) for each in PARTS):
            if quote:  # pools of limited capacity may leave no route for a larger order
                assert quote.amount_out >= best * (1 - MAX_LOSS)
                best = max(best, quote.amount_out)


def deep_pool(number: int, a: Token, b: Token, depth: int) -> Pool:
    return build_constant_product(number, a, b, depth * UNIT, depth * UNIT)


@pytest.mark.parametrize("is_limited", [True, False])
def test_an_order_beyond_a_full_pool_keeps_the_route_through_it(is_limited: bool) -> None:
    """The surplus goes to the pool that pays next to nothing for it, and not the order."""
    a, b, between = tokens = [build_token(k) for k in range(3)]
    full_soon = build_concentrated(1, between, b, 10**21, 1.0, 600) if is_limited else deep_pool(1, between, b, 10)
    market = build_market([deep_pool(0, a, between, 1_000), full_soon, deep_pool(2, a, b, 1)], tokens)
    router, best = Router(market), 0
    for amount in (UNIT // 10 * 10**power for power in range(8)):
        quote = quote_or_none(router, build_order(market, 0, 1, amount))
        assert quote is not None
        # A pool that takes no more than its limit gets whole shares: up to one of them, at a price below 1, is missing.
        share = amount // 10_000 if is_limited else 0
        assert quote.amount_out >= best * (1 - MAX_LOSS) - share
        best = max(best, quote.amount_out)
