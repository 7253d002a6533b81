"""A request for a quote: an order, and how to quote it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.order import Order
from swapcli.core.model.swap_terms import Integrator
from swapcli.core.records import NamedTuple


class SharePrecision(StrEnum):
    """How finely an order is divided between the paths of its route."""

    FINE = "fine"
    """To hundredths of a percent."""
    WHOLE = "whole"
    """To whole percents, the only form that the Fibrous API documents."""


class QuoteRequest(NamedTuple):
    """An order (the native token has the zero address) and its quote options.

    `gas_price_wei` None means the market's gas price; `certify` also requests bounds on the output of any route, and
    `proof` also a proof of the bounds. `solve_time_s` limits the search: None or 0 means no limit. A remote service
    applies its own limit. `shares` None means fine shares, or a remote service's own choice.
    """

    order: Order
    api_version: ApiVersion
    integrator: Integrator | None = None
    gas_price_wei: int | None = None
    certify: bool = False
    proof: bool = False
    solve_time_s: float | None = None
    shares: SharePrecision | None = None

    @classmethod
    def from_values(
        cls, order: Order, api_version: ApiVersion, integrator: Integrator | None, values: Mapping[str, Any]
    ) -> QuoteRequest:
        """Return a request for an order, with each entry of `values` that is a field of a request."""
        return cls(order, api_version, integrator, **{name: values[name] for name in values if name in cls._fields})
