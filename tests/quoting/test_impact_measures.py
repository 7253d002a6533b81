"""The price impact that quotes warn of: next to nothing in a pool can neither hide a loss nor make one up."""

from __future__ import annotations

from functools import cache
from math import log, sqrt

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool, PoolIdentity
from swapcli.core.model.price_impact import ImpactBasis, PriceImpact
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.families import family
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.quoting.impact_measures import highest_impact, impact_of
from swapcli.quoting.open_market import open_market
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK

ORDERS = [("ETH", "USDC", 1.0), ("ETH", "USDC", 100.0), ("AERO", "USDC", 1000.0), ("ETH", "AERO", 2.0)]
PAIRS = [("WETH", "USDC"), ("WETH", "AERO"), ("USDC", "cbBTC"), ("USDC", "AERO")]
USD = {"WETH": 3120.0, "USDC": 1.0, "AERO": 0.78, "cbBTC": 86_000.0}
"""Approximate prices of the embedded market."""
SPACING = 60
RANGES = {"narrow": (-10, 10), "wide": (-10_000, 10_000), "above": (1, 5), "below": (-5, -1)}
"""Ranges in tick spacings around the price; the last two contain one token only."""
KINDS = ["pair", *RANGES]
SLACK = 0.05


@cache
def clean() -> InMemorySource:
    return InMemorySource(open_market("base", find_network).market, SYSTEM_CLOCK)


def token(symbol: str) -> Token:
    return clean().token(symbol)


def units(symbol: str, dollars: float) -> int:
    return max(1, int(dollars / USD[symbol] * 10 ** token(symbol).decimals))


def identity(number: int, a: str, b: str, protocol: str) -> PoolIdentity:
    first, second = sorted((token(a), token(b)), key=lambda each: each.address)
    tokens, decimals = (first.address, second.address), (first.decimals, second.decimals)
    return PoolIdentity(f"0x{0xDEAD00 + number:040x}", protocol, tokens, decimals, 3000)


def pair(number: int, a: str, b: str, off: float) -> Pool:
    """Return a pair with a dollar on one side and `off` dollars on the other."""
    reserves = {token(a).address: units(a, 1.0), token(b).address: units(b, off)}
    made = identity(number, a, b, "uniswapV2")
    return family("constant_product").from_state(made, {"reserves": [str(reserves[each]) for each in made.tokens]})


def position(number: int, a: str, b: str, off: float, kind: str) -> Pool:
    """Return a pool with a position of about a dollar at `off` times the fair price."""
    first, second = sorted((a, b), key=lambda each: token(each).address)
    fair = (USD[first] / 10 ** token(first).decimals) / (USD[second] / 10 ** token(second).decimals)
    tick = int(log(fair * off) / log(1.0001)) // SPACING * SPACING
    low, high = (max(-887_220, min(887_220, tick + each * SPACING)) for each in RANGES[kind])
    liquidity = max(1, int(sqrt(units(first, 1.0) * units(second, 1.0)) * (1 if kind == "wide" else 30)))
    state = {
        "sqrt_price_x96": str(sqrt_ratio_at_tick(tick)),
        "tick": tick,
        "liquidity": str(liquidity if low <= tick < high else 0),
        "tick_spacing": SPACING,
        "ticks": [[low, str(liquidity)], [high, str(-liquidity)]],
    }
    return family("concentrated").from_state(identity(number, a, b, "uniswapV3"), state)


def dusty(kind: str, off: float) -> InMemorySource:
    """Return the embedded market of base with a worthless pool in each of four pairs."""
    market = clean().market
    dust = [
        pair(number, a, b, off) if kind == "pair" else position(number, a, b, off, kind)
        for number, (a, b) in enumerate(PAIRS)
    ]
    return InMemorySource(market._replace(pools={**market.pools, **{each.key: each for each in dust}}), SYSTEM_CLOCK)


def quoted(source: InMemorySource, sold: str, bought: str, amount: float) -> LocalQuote:
    token_in, token_out = source.token(sold), source.token(bought)
    return source.quote(QuoteRequest(Order(token_in, token_out, int(amount * 10**token_in.decimals)), ApiVersion.V1))


def fraction(answer: LocalQuote) -> float:
    impact = impact_of(answer)
    assert impact is not None
    return impact.fraction


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "off", [1e-3, pytest.param(0.1, marks=pytest.mark.slow), pytest.param(10.0, marks=pytest.mark.slow), 1e3]
)
def test_a_worthless_pool_neither_hides_nor_invents_a_loss(kind: str, off: float) -> None:
    source = dusty(kind, off)
    for order in ORDERS:
        before, after = quoted(clean(), *order), quoted(source, *order)
        lost = 1.0 - after.result.output_amount / before.result.output_amount
        assert fraction(after) >= lost - SLACK, order
        if lost < SLACK:
            assert fraction(after) <= max(lost, 0.0) + fraction(before) + SLACK, order


def test_both_impact_figures_agree_on_a_normal_market() -> None:
    for amount in (1.0, 100.0, 10_000.0, 100_000.0):
        answer = quoted(clean(), "ETH", "USDC", amount)
        result, out = answer.result, answer.result.output_amount
        in_usd = highest_impact(result, out, answer.network)
        unpriced = result._replace(input_token=result.input_token._replace(price_usd=None))
        on_pools = highest_impact(unpriced, out, answer.network, answer.pools)
        assert in_usd is not None
        assert on_pools is not None
        assert (in_usd.basis, on_pools.basis) == (ImpactBasis.USD, ImpactBasis.POOLS)
        assert in_usd.fraction == pytest.approx(on_pools.fraction, abs=0.05)


def test_without_prices_and_pools_the_impact_is_unknown() -> None:
    result = quoted(clean(), "ETH", "AERO", 1.0).result
    unpriced = result._replace(input_token=result.input_token._replace(price_usd=None))
    assert highest_impact(unpriced, result.output_amount, find_network("base")) is None
    reported = PriceImpact(0.3, ImpactBasis.SERVICE)
    assert highest_impact(unpriced, result.output_amount, find_network("base"), reported=0.3) == reported


def test_a_stablecoin_price_from_a_service_is_ignored() -> None:
    result = quoted(clean(), "USDC", "USDT", 1000.0).result
    lying = result._replace(input_token=result.input_token._replace(price_usd=1e-9))
    assert highest_impact(lying, result.output_amount // 2, find_network("base")) == highest_impact(
        result, result.output_amount // 2, find_network("base")
    )


@pytest.mark.parametrize("amount", [1e-9, 1e-8, 1e-6])
def test_rounding_of_a_few_units_is_no_impact(amount: float) -> None:
    assert fraction(quoted(clean(), "ETH", "USDC", amount)) < 0.01
