"""The value of gas in the output token: one figure for the search, the proof and the quote, and where it comes from."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.model.quote import GasValueSource, WeiValue
from swapcli.core.model.token import Token
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.gas import value_of_wei
from swapcli.core.routing.router import Router
from tests.support.markets import embedded_market
from tests.support.pools import UNIT, build_constant_product, build_market, build_order, build_token

BASE = find_network("base")
USDC, DAI = build_token(1)._replace(decimals=6), build_token(2)
NATIVE_USD = 2_000.0
NATIVE, MID, PATH = GasValueSource.NATIVE, GasValueSource.MID_PRICES, GasValueSource.BEST_PATH


def never() -> float:
    raise AssertionError("no path is needed")


@pytest.mark.parametrize(
    ("token_out", "native_usd", "token_usd", "path", "expected"),
    [
        (BASE.native, NATIVE_USD, NATIVE_USD, None, WeiValue(1.0, NATIVE)),
        (BASE.wrapped_native, None, None, None, WeiValue(1.0, NATIVE)),
        (USDC, NATIVE_USD, 1.0, None, WeiValue(2e-9, MID)),
        (DAI, NATIVE_USD, 0.5, None, WeiValue(4e3, MID)),
        (DAI, None, 0.5, 7.0, WeiValue(7.0, PATH)),
        (DAI, NATIVE_USD, None, 7.0, WeiValue(7.0, PATH)),
        (DAI, 0.0, 0.5, 7.0, WeiValue(7.0, PATH)),
        (DAI, NATIVE_USD, 1e-305, 7.0, WeiValue(7.0, PATH)),
        (DAI, 1e-320, 1e300, 7.0, WeiValue(7.0, PATH)),
        (DAI, None, None, 0.0, None),
        (DAI, None, None, inf, None),
    ],
)
def test_mid_prices_value_gas_or_else_the_best_path(
    token_out: Token, native_usd: float | None, token_usd: float | None, path: float | None, expected: WeiValue | None
) -> None:
    found = value_of_wei(
        BASE, token_out, lambda *_: (native_usd, token_usd), never if path is None else lambda: float(path)
    )
    assert (found and found.source) == (expected and expected.source)
    assert (found and found.amount) == pytest.approx(expected and expected.amount)


@given(st.integers(0, 10**30), st.floats(1e-30, 1e30))
def test_a_cost_is_rounded_up(gas_wei: int, amount: float) -> None:
    exact = Fraction(gas_wei) * Fraction(amount)
    cost = WeiValue(amount, MID).cost(gas_wei)
    assert abs(cost - exact) <= 1 + exact / 2**52
    assert WeiValue(1.0, NATIVE).cost(gas_wei) == gas_wei, "to the unit, also above 2**53"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("network", "sold", "bought", "source"),
    [
        ("base", "USDC", "WETH", NATIVE),
        ("base", "WETH", "USDC", MID),
        ("base", "cbBTC", "AERO", MID),
        ("starknet", "ETH", "USDC", MID),
        ("starknet", "USDC", "STRK", NATIVE),
    ],
)
def test_search_proof_and_quote_have_one_value(
    network: str, sold: str, bought: str, source: GasValueSource, *, reverse: bool
) -> None:
    market = embedded_market(network)
    tokens = {token.symbol: token for token in market.tokens.values()}
    order = build_order(market, 0, 1, 1)._replace(token_in=tokens[sold], token_out=tokens[bought])
    (sold_usd,), (bought_usd,) = (Router(market).index.usd_prices(tokens[each]) for each in (sold, bought))
    assert sold_usd is not None
    assert bought_usd is not None
    token, price_usd = (tokens[bought], bought_usd) if reverse else (tokens[sold], sold_usd)
    order = order._replace(amount=int(5_000 / price_usd * 10**token.decimals), reverse=reverse)
    gas_price_wei = 10 * market.gas_price_wei
    router = Router(market)
    result = router.search(order, gas_price_wei=gas_price_wei)
    quote = router.build_quote(order, result, gas_price_wei=gas_price_wei, proof=True)
    native = market.network.to_wrapped_token(market.network.native)
    (native_usd,) = router.index.usd_prices(native)
    assert native_usd is not None
    exact = Fraction(native_usd) / Fraction(bought_usd) * 10 ** tokens[bought].decimals / 10**native.decimals
    assert quote.wei_value is not None
    assert quote.wei_value.source is source
    assert quote.wei_value.amount == pytest.approx(float(exact))
    unit_value = float(exact * gas_price_wei * market.network.gas_units_per_evm_gas)
    assert result.problem.spec.gas_value == pytest.approx(unit_value)
    assert quote.witness is not None
    assert quote.witness.gas.unit_value == pytest.approx(unit_value)
    assert result.best.net == pytest.approx(result.best.replay.amount_out - result.best.gas_units * unit_value)
    cost = quote.cost_in_output(quote.gas_wei)
    assert cost == pytest.approx(result.best.gas_units * unit_value, abs=1)
    free = router.quote(order, gas_price_wei=0)
    assert (free.wei_value, free.cost_in_output(free.gas_wei)) == (quote.wei_value, 0), "mid prices need no gas price"


def test_a_path_values_gas_where_no_token_has_a_price() -> None:
    """One pool at par between the native token and the output, and no stablecoin: the pool's fee is lost."""
    native = BASE.to_wrapped_token(BASE.native)
    pool = build_constant_product(0, native, DAI, 10**6 * UNIT, 10**6 * UNIT)
    market = build_market([pool], [native, DAI])._replace(network=BASE)
    order = build_order(market, 0, 1, UNIT)
    quote = Router(market).quote(order, gas_price_wei=10**12)
    assert quote.price_out_usd is None
    assert quote.wei_value is not None
    assert quote.wei_value.source is PATH
    assert quote.wei_value.amount == pytest.approx(0.997, rel=1e-5)
    assert Router(market).quote(order, gas_price_wei=0).cost_in_output(0) == 0


def test_without_the_native_token_gas_has_no_value_and_decides_nothing() -> None:
    pool = build_constant_product(0, USDC, DAI, 10**12, 10**6 * UNIT)
    market = build_market([pool], [USDC, DAI])._replace(network=BASE)
    router = Router(market)
    order = build_order(market, 0, 1, 10**6)
    quote = router.quote(order, gas_price_wei=10**12)
    assert (quote.wei_value, quote.cost_in_output(1), quote.cost_in_output(0)) == (None, None, 0)
    assert router.search(order, gas_price_wei=10**12).problem.spec.gas_value == 0.0
