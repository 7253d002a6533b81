"""Recommend a slippage for a quote on state read from the network itself."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from swapcli.core.errors import SwapcliError
from swapcli.core.model.units import PPM
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import execution_of
from swapcli.quoting.quote_results import LocalQuote, QuoteResult
from swapcli.quoting.sources.quote_source import known_market

if TYPE_CHECKING:
    from swapcli.quoting.slippage_measures import SlippageAdvice
    from swapcli.quoting.sources.quote_source import QuoteSource


def advise_on(answer: QuoteResult, source: QuoteSource, window_s: int) -> SlippageAdvice | None:
    """Return the advice for a quote from `source`; None for a service's quote, and for wrapping.

    The route's pools may change for `window_s` before the swap is mined.
    """
    if not isinstance(answer, LocalQuote):
        return None
    quote = answer.quote
    if all(answer.pools[step.pool].is_wrapper for step in quote.steps):
        return None
    from swapcli.quoting.slippage_measures import advise_slippage, bound_sandwich, measure_movement

    bound = bound_sandwich(quote.steps, answer.pools, quote.amount_in, quote.amount_out, _gas_unit_ppm(answer))
    return advise_slippage(measure_movement(_past_outputs(answer, source), window_s), bound)


def _past_outputs(answer: LocalQuote, source: QuoteSource) -> list[tuple[int, int]]:
    """Return the route's outputs on earlier states of its pools, by Unix time."""
    quote, execution, outputs = answer.quote, execution_of(answer.network), []
    wrappers = {step.pool for step in quote.steps if answer.pools[step.pool].is_wrapper}
    known = known_market(source)
    with suppress(SwapcliError):
        for times_s, past in known.past_pools({step.pool for step in quote.steps} - wrappers) if known else ():
            pools = {**past, **{key: answer.pools[key] for key in wrappers}}
            with suppress(SwapcliError):  # the route could not sell so much then
                amount_out = replay(pools, quote.route, quote.amount_in, execution).amount_out
                outputs += [(time_s, amount_out) for time_s in times_s]
    if answer.state_source.timestamp is not None:
        outputs.append((answer.state_source.timestamp, quote.amount_out))
    return outputs


def _gas_unit_ppm(answer: LocalQuote) -> float | None:
    """Return the price of a unit of gas in ppm of the order's value; None if a price is unknown."""
    quote = answer.quote
    if answer.network.is_gas_token(answer.order.token_in):  # the order is in the gas currency, so no price is needed
        return quote.gas_price_wei / quote.amount_in * PPM
    if quote.wei_value is None or not quote.amount_out:
        return None
    of_output = quote.gas_price_wei * quote.wei_value.amount / quote.amount_out * PPM
    return of_output * min(1.0, 1.0 - (quote.price_impact or 0.0))  # the sold amount may be worth more
