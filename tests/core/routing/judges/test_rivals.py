"""Simple rivals on a real state, as it is, pushed out of line and with drained pools: few orders have a better route,
and none one that is better by more than a basis point."""

from __future__ import annotations

import random
from functools import cache

import pytest

from bench.optimum.real_market import REAL_MARKET, read_orders
from bench.worlds.changed_pools import pushed_market
from bench.worlds.random_pairs import random_pairs, read_market
from swapcli.core.errors import PoolError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.routing.router import Router
from tests.core.routing.judges.rivals import Lead, lead_of_rivals

EVALUATIONS = 600
MAX_PART_AHEAD = {"real": 0.01, "pushed": 0.02, "drained": 0.15}
"""Of the orders. With drained pools, cycles gain more than any order, and the best order of tokens is hard to find."""

MAX_LEAD_BPS = 1.0
DRAINED_PART = 0.1


@cache
def real_market() -> MarketState:
    return read_market(REAL_MARKET)


def drained_market(seed: int) -> MarketState:
    """A tenth of the pools after a sale of one to three times what they hold: nobody has brought them back in line."""
    market, rng = real_market(), random.Random(f"drained {seed}")
    pools = dict(market.pools)
    for key in rng.sample(sorted(pools), int(len(pools) * DRAINED_PART)):
        sold, bought = rng.sample(pools[key].tokens, 2)
        curve = pools[key].curve(sold, bought)
        amount = curve.trade_to_marginal_rate(curve.start_rate * rng.uniform(0.1, 0.5))[0]
        try:
            pools[key] = pools[key].swap(sold, bought, int(min(amount, 2.0**200)))[1]
        except PoolError:
            continue
    return market._replace(pools=pools)


def markets() -> dict[str, MarketState]:
    return {"real": real_market(), "pushed": pushed_market(real_market(), 1), "drained": drained_market(1)}


def real_orders(market: MarketState, count: int) -> list[Order]:
    rows = random.Random("real orders").sample(read_orders(REAL_MARKET), count)
    tokens = market.tokens
    return [Order(tokens[row["token_in"]], tokens[row["token_out"]], int(row["amount_in"])) for row in rows]


def random_orders(market: MarketState, count: int) -> list[Order]:
    pairs = random_pairs(market, count, 7, max_usd=100_000.0)
    return [Order(market.tokens[pair.token_in], market.tokens[pair.token_out], pair.amount) for pair in pairs]


def leads(state: str, gas_gwei: float, count: int) -> list[Lead]:
    market = markets()[state]
    orders = real_orders(market, count) + random_orders(market, count)
    router = Router(market)
    return [lead_of_rivals(router, order, round(gas_gwei * 1e9), EVALUATIONS) for order in orders]


@pytest.mark.slow
@pytest.mark.parametrize("gas_gwei", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("state", ["real", "pushed", "drained"])
def test_hardly_any_order_has_a_better_route(state: str, gas_gwei: float) -> None:
    found = leads(state, gas_gwei, 50)
    ahead = [lead for lead in found if lead.counts]
    assert len(ahead) <= MAX_PART_AHEAD[state] * len(found)
    assert not [lead for lead in ahead if lead.bps > MAX_LEAD_BPS]


@pytest.mark.slow
@pytest.mark.parametrize(("state", "gas_gwei"), [("real", 1.0), pytest.param("pushed", 0.01, marks=pytest.mark.slow)])
def test_no_order_of_a_sample_has_a_better_route(state: str, gas_gwei: float) -> None:
    assert not [lead for lead in leads(state, gas_gwei, 1) if lead.counts]
