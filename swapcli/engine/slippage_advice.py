"""The slippage that is advised for a quote, where its state was read from the network itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.engine.quote_results import LocalQuote, QuoteResult
from swapcli.model.units import PPM

if TYPE_CHECKING:
    from swapcli.payload.slippage_advice import SlippageAdvice


def advise_on(answer: QuoteResult) -> SlippageAdvice | None:
    """Return the advice for a quote; None on state that is not real, for a service's quote, and for wrapping."""
    if not isinstance(answer, LocalQuote) or not answer.state_source.is_live:
        return None
    quote = answer.quote
    if all(answer.pools[step.pool].is_wrapper for step in quote.steps):
        return None
    from swapcli.payload.slippage_advice import advise_slippage, bound_sandwich

    gas_unit_ppm = _gas_unit_ppm(answer)
    return advise_slippage(bound_sandwich(quote.steps, answer.pools, quote.amount_in, quote.amount_out, gas_unit_ppm))


def _gas_unit_ppm(answer: LocalQuote) -> float | None:
    """Return the price of a unit of gas in ppm of what the order is worth; None if a price is unknown."""
    quote, network, (token_in, token_out) = (
        answer.quote,
        answer.network,
        (answer.order.token_in, answer.order.token_out),
    )
    if network.to_wrapped_token(token_in).address == network.to_wrapped_token(network.native).address:
        return quote.gas_price_wei / quote.amount_in * PPM
    worth_usd = max(
        (quote.price_in_usd or 0.0) * quote.amount_in / 10**token_in.decimals,
        (quote.price_out_usd or 0.0) * quote.amount_out / 10**token_out.decimals,
    )
    return quote.gas_price_wei * quote.wei_usd / worth_usd * PPM if quote.wei_usd and worth_usd else None
