"""The price impact of a swap: the part of the value that is lost, and how it was measured."""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.records import NamedTuple


class ImpactBasis(StrEnum):
    """How a price impact was measured."""

    USD = "usd"
    POOLS = "pools"
    SERVICE = "service"


class PriceImpact(NamedTuple):
    """A price impact. `fraction` is the part of the value that is lost, at most 1.0; negative if the swap gains value.

    `sold_usd` and `bought_usd` are known if USD prices are the basis.
    """

    fraction: float
    basis: ImpactBasis
    sold_usd: float | None = None
    bought_usd: float | None = None
