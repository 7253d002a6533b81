"""The price impact of a swap: the lost part, and its basis."""

from __future__ import annotations

from enum import StrEnum

from swapcli.core.records import NamedTuple


class ImpactBasis(StrEnum):
    """The basis of a price impact."""

    USD = "usd"
    POOLS = "pools"
    SERVICE = "service"


class PriceImpact(NamedTuple):
    """`fraction` is the part of the value that is lost, at most 1.0; negative if the swap gains value.

    `sold_usd` and `bought_usd` are known where USD prices are the basis.
    """

    fraction: float
    basis: ImpactBasis
    sold_usd: float | None = None
    bought_usd: float | None = None
