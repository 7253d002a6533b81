"""Offers cost what the same gas costs the split route, and the native currency that they take beyond the input."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli import Market
from swapcli.core.model.transaction import Transaction
from swapcli.quoting.aggregators.ask_aggregator import AggregatorOffer
from swapcli.quoting.offer_costs import OfferCost, extra_wei, offer_cost
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.swap_quote import SwapQuote

TARGET = "0x" + "b2" * 20


@pytest.fixture(scope="module")
def quote() -> Iterator[SwapQuote]:
    with Market.embedded("base") as market:
        yield market.quote("ETH", "USDC", "1.5")


def test_the_gas_of_the_split_route_costs_what_its_quote_says(quote: SwapQuote) -> None:
    answer, figures = quote.answer, quote.figures
    assert isinstance(answer, LocalQuote)
    cost = offer_cost(answer, answer.quote.gas_units)
    assert cost.usd == pytest.approx(figures.gas_usd)
    assert cost.taken_from(figures.amount_out) == pytest.approx(figures.output_after_gas, abs=1)


def test_more_gas_and_more_native_currency_cost_more(quote: SwapQuote) -> None:
    least, gas, wei = (offer_cost(quote.answer, units, extra).usd for units, extra in ((1, 0), (10**6, 0), (1, 10**15)))
    assert least is not None
    assert gas is not None
    assert wei is not None
    assert least < gas
    assert wei - least == pytest.approx(10**15 / 10**18 * 3_000, rel=0.9)


def test_without_a_split_quote_nothing_has_a_price() -> None:
    assert offer_cost(None, 10) == OfferCost(None, None)
    assert OfferCost(None, None).taken_from(5) is None


def test_only_what_exceeds_the_input_is_extra(quote: SwapQuote) -> None:
    native, reverse = quote.answer.order, quote.answer.order
    reverse = reverse._replace(token_in=native.token_out, token_out=native.token_in)

    def offer(value: int) -> AggregatorOffer:
        return AggregatorOffer(1, None, Transaction(TARGET, "0x", value))

    assert extra_wei(offer(native.amount), native) == 0
    assert extra_wei(offer(native.amount + 7), native) == 7
    assert extra_wei(offer(7), reverse) == 7
    assert extra_wei(AggregatorOffer(1), native) == extra_wei(None, native) == 0
