"""The depth of a market for a pair of tokens: what amounts lose by their size."""

from __future__ import annotations

from swapcli.core.model.network import Network
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple


class DepthPoint(NamedTuple):
    """A quote for one amount, in base units; `impact` is None if it is unknown, and `sold_usd` without a price."""

    amount_in: int
    amount_out: int
    impact: PriceImpact | None
    sold_usd: float | None = None

    def exceeds(self, fraction: float) -> bool:
        """Return whether the price impact is known and above a fraction."""
        return self.impact is not None and self.impact.fraction > fraction


class DepthLevel(NamedTuple):
    """The amount at which the price impact reaches a fraction.

    `within` is a quote whose impact is at most `fraction`, `beyond` one for the next larger amount, whose impact is
    above it; amounts have four digits. `within` is None if the smallest amount already exceeds the fraction, `beyond`
    if the liquidity ends before an amount does.
    """

    fraction: float
    within: DepthPoint | None
    beyond: DepthPoint | None


class Depth(NamedTuple):
    """Quotes over a ladder of amounts, smallest first, and the amounts of some levels of price impact.

    `figures` are those of the quote for the smallest amount. `has_end` says whether no route exists for the next amount
    of the ladder.
    """

    network: Network
    token_in: Token
    token_out: Token
    points: tuple[DepthPoint, ...]
    levels: tuple[DepthLevel, ...]
    figures: QuoteFigures
    has_end: bool
