"""The depth of a market for a token pair: how much price impact larger amounts have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapcli.core.model.network import Network
from swapcli.core.model.price_impact import PriceImpact
from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.interface.quote_fields import render_state_source, render_swap_token, render_warning_list

if TYPE_CHECKING:
    from swapcli.interface.document_types import DepthJson, DepthPointJson


class DepthPoint(NamedTuple):
    """A quote for one amount, in base units. `impact` is None if it is unknown, and `sold_usd` if the token has no
    price."""

    amount_in: int
    amount_out: int
    impact: PriceImpact | None
    sold_usd: float | None = None

    def exceeds(self, fraction: float) -> bool:
        """Return whether the price impact is known and above `fraction`."""
        return self.impact is not None and self.impact.fraction > fraction


class DepthLevel(NamedTuple):
    """The amount at which the price impact reaches `fraction`.

    `within` is a quote whose impact is at most `fraction`. `beyond` is a quote for the next larger amount, whose impact
    is above `fraction`. Amounts have four significant digits. `within` is None if the smallest amount already exceeds
    the fraction, and `beyond` is None if the liquidity ends before any amount exceeds it.
    """

    fraction: float
    within: DepthPoint | None
    beyond: DepthPoint | None


class Depth(NamedTuple):
    """Quotes for a ladder of amounts, smallest first, and the amounts at given levels of price impact.

    `figures` are from the quote for the smallest amount. `has_end` is true if there is no route for the next amount in
    the ladder. `notes` explain how amounts such as "2k" were read.
    """

    network: Network
    token_in: Token
    token_out: Token
    points: tuple[DepthPoint, ...]
    levels: tuple[DepthLevel, ...]
    figures: QuoteFigures
    has_end: bool
    notes: tuple[str, ...] = ()

    @own_document
    def document(self) -> DepthJson:
        """Return the JSON that `swapcli depth` prints. Amounts are strings of base units, and impacts and levels are in
        percent."""
        return {
            "network": self.network.name,
            "inputToken": render_swap_token(self.token_in, self.network),
            "outputToken": render_swap_token(self.token_out, self.network),
            "state": render_state_source(self.figures.state),
            "warnings": render_warning_list(self.figures.warnings),
            "points": self.rows(),
            "liquidityEnds": self.has_end,
            "levels": [
                {
                    "impactPercent": level.fraction * 100,
                    "within": level.within and _render_point(level.within),
                    "beyond": level.beyond and _render_point(level.beyond),
                }
                for level in self.levels
            ],
        }

    def rows(self) -> list[DepthPointJson]:
        """Return the quotes as JSON without nested values."""
        return [_render_point(point) for point in self.points]


def _render_point(point: DepthPoint) -> DepthPointJson:
    return {
        "inputAmount": str(point.amount_in),
        "inputUsd": point.sold_usd,
        "outputAmount": str(point.amount_out),
        "priceImpact": None if point.impact is None else point.impact.fraction * 100,
        "impactBasis": None if point.impact is None else point.impact.basis.value,
    }
