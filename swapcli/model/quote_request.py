"""A request for a quote: an order, and how to quote it."""

from __future__ import annotations

from typing import NamedTuple

from swapcli.model.api_version import ApiVersion
from swapcli.model.order import Order
from swapcli.model.swap_terms import Integrator


class QuoteRequest(NamedTuple):
    """An order (the native token by its zero address) and how to quote it.

    `gas_price_wei` None uses the market's gas price; `certify` also asks for the proof of optimality. `solve_time_s`
    limits the search: None or 0 means no limit. A remote service applies a limit of its own.
    """

    order: Order
    api_version: ApiVersion
    integrator: Integrator | None = None
    gas_price_wei: int | None = None
    certify: bool = False
    solve_time_s: float | None = None
