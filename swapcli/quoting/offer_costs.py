"""The cost of an offer apart from its input: gas, valued as in the split quote, and additional native currency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.model.order import Order
from swapcli.core.networks.address import is_native
from swapcli.core.records import NamedTuple
from swapcli.quoting.quote_results import LocalQuote, QuoteResult

if TYPE_CHECKING:
    from swapcli.quoting.aggregators.ask_aggregator import AggregatorOffer


class OfferCost(NamedTuple):
    """A cost in dollars, and in base units of the output token; None if there is no price."""

    usd: float | None
    in_output: int | None

    def taken_from(self, amount_out: int) -> int | None:
        """Return `amount_out` less the cost; None if the cost is unknown."""
        return None if self.in_output is None else amount_out - self.in_output


def offer_cost(split: QuoteResult | None, gas_units: int, extra_wei: int = 0) -> OfferCost:
    """Return the cost of gas and of additional native currency. The split route's L1 fee is used, because the offer's
    data is about as long.

    Without a split quote from this process, the cost is unknown.
    """
    if not isinstance(split, LocalQuote):
        return OfferCost(None, None)
    quote = split.quote
    cost_wei = gas_units * quote.gas_price_wei + quote.l1_fee_wei + extra_wei
    usd = None if quote.wei_usd is None else cost_wei * quote.wei_usd
    return OfferCost(usd, quote.cost_in_output(cost_wei))


def extra_wei(offer: AggregatorOffer | None, order: Order) -> int:
    """Return the native currency, in wei, that an offer takes in addition to the input."""
    if offer is None or offer.transaction is None:
        return 0
    return max(0, offer.transaction.value - (order.amount if is_native(order.token_in.address) else 0))
