"""What the gas of a quote costs, in its output token."""

from __future__ import annotations

from math import ceil

from swapcli.engine.quote_results import LocalQuote, QuoteResult


def gas_wei_of(answer: QuoteResult) -> int | None:
    """Return the whole gas cost of a quote; None if it is unknown."""
    return answer.quote.gas_wei if isinstance(answer, LocalQuote) else answer.result.gas_cost_wei or None


def gas_in_output(answer: QuoteResult, gas_wei: int | None, gas_usd: float | None) -> int | None:
    """Return a gas cost in the output token of a quote, rounded up; None if the cost or a price is unknown.

    The native token pays for its gas exactly; any other output pays at the prices of the quote in USD.
    """
    network, result, token = answer.network, answer.result, answer.order.token_out
    native = network.to_wrapped_token(network.native)
    if gas_wei is not None and network.to_wrapped_token(token).address == native.address:
        return gas_wei
    price_usd = result.output_token.price_usd
    if gas_usd is None or not price_usd:
        return None
    cost: int = ceil(gas_usd / price_usd * 10**token.decimals)
    return cost
