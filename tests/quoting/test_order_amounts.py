"""Dollars become base units at the market's price, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAmount
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.amount_notation import parse_notation
from swapcli.quoting.order_amounts import from_dollars
from tests.examples import examples
from tests.support.markets import embedded_source

SOURCE = embedded_source("base")
ORDER = Order(SOURCE.token("ETH"), SOURCE.token("USDC"), 0)
REQUEST = QuoteRequest(ORDER, ApiVersion.V2)


@given(st.integers(1, 10**9), st.integers(0, 99), st.booleans())
@settings(max_examples=examples(20, full=200))
def test_dollars_are_worth_what_they_say(dollars: int, cents: int, reverse: bool) -> None:
    order = ORDER._replace(reverse=reverse)
    token = order.token_out if reverse else order.token_in
    found = from_dollars(parse_notation(f"${dollars}.{cents:02}"), REQUEST._replace(order=order), SOURCE)
    unit_usd = Fraction(found.price_usd) / 10**token.decimals
    assert 0 <= Fraction(100 * dollars + cents, 100) - found.amount * unit_usd < unit_usd
    whole = SOURCE.quote(REQUEST._replace(order=ORDER._replace(amount=10**18))).result
    assert found.price_usd == (whole.output_token if reverse else whole.input_token).price_usd


def test_dollars_for_less_than_a_unit_are_refused() -> None:
    with pytest.raises(InvalidAmount, match="less than one base unit of USDC"):
        from_dollars(parse_notation("$0.0000001"), REQUEST._replace(order=ORDER._replace(reverse=True)), SOURCE)
