"""Wrap and unwrap the native token, one to one, without a market."""

from __future__ import annotations

from math import inf, nextafter
from typing import TYPE_CHECKING

from swapcli.core.errors import NoRoute
from swapcli.core.model.network import WRAPPER_FAMILY, WRAPPER_PROTOCOL, Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import (
    SHARES_PER_HOP,
    SHARES_PER_ROUTE,
    Certificate,
    GasValueSource,
    Quote,
    Route,
    Segment,
    Swap,
    WeiValue,
)
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.routing.replay import replay
from swapcli.families import family

if TYPE_CHECKING:
    from swapcli.core.model.transaction import UnsignedTransaction

WRAP_GAS_UNITS = 69_300
UNWRAP_GAS_UNITS = 78_300
"""The gas of whole transactions with only this call, measured as described in `core.routing.gas`."""


def terms_of_payload(payload: UnsignedTransaction, terms: SwapTerms) -> SwapTerms:
    """Return the terms of a payload, without slippage for a wrap or unwrap whose minimum is its whole output."""
    route = payload.call.route
    is_exact = route.token_in == route.token_out and route.min_received == route.amount_out
    return terms._replace(slippage_ppm=0) if is_exact else terms


def check_wrapper_allowed(order: Order, network: Network) -> None:
    """Raise `NoRoute` if the order excludes the wrapper, the only protocol that can serve it."""
    wrappers = {protocol.amm_name for protocol in network.protocols if protocol.is_wrapper}
    if excluded := wrappers & order.excluded_protocols:
        raise NoRoute(
            f"no route from {order.token_in.symbol} to {order.token_out.symbol} without {', '.join(excluded)}",
            hint="exclude fewer protocols",
            details={"token_in": order.token_in.address, "token_out": order.token_out.address},
        )


def wrap_quote(
    order: Order, gas_price_wei: int, price_usd: float | None, *, certify: bool = False
) -> tuple[Quote, dict[str, Pool]]:
    """Return the quote for a wrapping order, and its only pool by key. The amounts in and out are equal.

    `price_usd` is the native token's price, None if unknown.
    """
    pool = wrapper_pool(order.token_in if order.token_in.address != ZERO_ADDRESS else order.token_out)
    swap = Swap(pool.key, order.token_in.address, order.token_out.address, SHARES_PER_HOP)
    route = Route((Segment(SHARES_PER_ROUTE, ((swap,),)),))
    replayed = replay({pool.key: pool}, route, order.amount)
    quote = Quote(
        order=order,
        route=route,
        steps=replayed.steps,
        amount_in=order.amount,
        amount_out=replayed.amount_out,
        gas_units=WRAP_GAS_UNITS if order.token_in.address == ZERO_ADDRESS else UNWRAP_GAS_UNITS,
        gas_price_wei=gas_price_wei,
        wei_usd=None if price_usd is None else price_usd / 10**order.token_in.decimals,
        price_in_usd=price_usd,
        price_out_usd=price_usd,
        price_impact=0.0,
        best_single_path_out=replayed.amount_out,
        best_single_path_gas_units=WRAP_GAS_UNITS if order.token_in.address == ZERO_ADDRESS else UNWRAP_GAS_UNITS,
        time_s=0.0,
        certificate=_one_to_one_certificate(order.amount) if certify else None,
        wei_value=WeiValue(1.0, GasValueSource.NATIVE),
    )
    return quote, {pool.key: pool}


def _one_to_one_certificate(amount: int) -> Certificate:
    """Return the certificate of a wrap: the contract pays one unit for one unit, so no route can pay more."""
    bound = float(amount) if float(amount) >= amount else nextafter(float(amount), inf)
    return Certificate(
        bound=bound, gap_bps=0.0, acyclic_bound=bound, acyclic_gap_bps=0.0, pools_checked=1
    )  # net is unknown


def wrapper_pool(wrapped: Token) -> Pool:
    """Return the contract of the wrapped native token as a pool."""
    return family(WRAPPER_FAMILY)(
        address=wrapped.address,
        protocol=WRAPPER_PROTOCOL.amm_name,
        tokens=(ZERO_ADDRESS, wrapped.address),
        decimals=(wrapped.decimals, wrapped.decimals),
        fee_ppm=0,
    )
