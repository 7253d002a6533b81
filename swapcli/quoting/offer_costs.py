"""The cost of an offer besides its input: gas, valued as in the split quote, and the native currency it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.model.order import Order
from swapcli.core.networks.address import is_native
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_results import LocalQuote, QuoteResult

if TYPE_CHECKING:
    from swapcli.quoting.aggregators.ask_aggregator import AggregatorOffer


class OfferCost(NamedTuple):
    """A cost in dollars, and in base units of the output; None if no price is known."""

    usd: float | None
    in_output: int | None

    def taken_from(self, amount_out: int) -> int | None:
        """Return an output less the cost."""
        return None if self.in_output is None else amount_out - self.in_output


def offer_cost(split: QuoteResult | None, gas_units: int, extra_wei: int = 0) -> OfferCost:
    """Return the cost of gas and of extra native currency. The L1 fee is that of the split route, whose data is about
    as long.

    Without a split quote from this process, nothing has a price.
    """
    if not isinstance(split, LocalQuote):
        return OfferCost(None, None)
    quote = split.quote
    cost_wei = gas_units * quote.gas_price_wei + quote.l1_fee_wei + extra_wei
    usd = None if quote.wei_usd is None else cost_wei * quote.wei_usd
    return OfferCost(usd, quote.cost_in_output(cost_wei))


def extra_wei(offer: AggregatorOffer | None, order: Order) -> int:
    """Return the native currency that an offer takes in addition to the input."""
    if offer is None or offer.transaction is None:
        return 0
    return max(0, offer.transaction.value - (order.amount if is_native(order.token_in.address) else 0))
