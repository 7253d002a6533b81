"""Quotes as judges compare them: by the output net of gas that documents show."""

from __future__ import annotations

from swapcli.core.errors import NoRoute
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, Quote
from swapcli.core.routing.router import Router


def quote_or_none(router: Router, order: Order, gas_price_wei: int = 0, share_step: int = HUNDREDTHS) -> Quote | None:
    """Return the quote of an order; None if there is no route."""
    try:
        return router.quote(order, gas_price_wei=gas_price_wei, share_step=share_step)
    except NoRoute:
        return None


def gas_unit_value(router: Router, order: Order, gas_price_wei: int) -> float:
    """Return the value of a unit of gas in base units of the bought token, at mid prices; 0.0 if it is unknown."""
    network = router.market.network
    native = network.wrapped_native or network.native
    price_native, price_out = router.index.usd_prices(native, order.token_out)
    if not price_native or not price_out:
        return 0.0
    return gas_price_wei * price_native / 10.0**native.decimals / price_out * 10.0**order.token_out.decimals


def net_output(quote: Quote | None, unit_value: float) -> float:
    """Return the output of a quote less its gas, in base units; 0.0 without a route."""
    return quote.amount_out - quote.gas_units * unit_value if quote else 0.0


def usd(router: Router, order: Order, amount_out: float) -> float:
    """Return the value of an amount of the bought token; 0.0 if its price is unknown."""
    (price,) = router.index.usd_prices(order.token_out)
    return amount_out / 10.0**order.token_out.decimals * (price or 0.0)
