"""The quotes made by a watch, each with its change from the first quote for the same order, and the failed
refreshes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from swapcli.core.errors import SwapcliError
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple
from swapcli.interface.own_document import own_document
from swapcli.quoting.swap_quote import SwapQuote

if TYPE_CHECKING:
    from swapcli.interface.document_types import FailedRefreshJson, WatchedRouteJson


class QuoteChange(NamedTuple):
    """The change in base units since an earlier quote, which was made at `since_s` (Unix).

    `bps` is the change of the output in basis points, or of the input if the order specifies the output.
    """

    amount_in: int
    amount_out: int
    bps: float
    since_s: int


class WatchedQuote(NamedTuple):
    """A quote from `Market.watch`, with its change since the first quote."""

    quote: SwapQuote
    change: QuoteChange

    @classmethod
    def since(cls, first: SwapQuote, quote: SwapQuote) -> WatchedQuote:
        """Return `quote` with its change since `first`, the first quote for the same order."""
        start, end = first.figures, quote.figures
        change_in, change_out = end.amount_in - start.amount_in, end.amount_out - start.amount_out
        is_reverse = quote.answer.order.reverse
        change, amount = (change_in, start.amount_in) if is_reverse else (change_out, start.amount_out)
        bps = round(BPS * change / amount, 4) if amount else 0.0
        return cls(quote, QuoteChange(change_in, change_out, bps, start.quoted_at_s))

    def document(self) -> WatchedRouteJson:
        """Return the JSON of a line that `swapcli route --watch` prints. Amounts are strings of base units."""
        change = self.change
        return cast(
            "WatchedRouteJson",
            {
                **self.quote.document(),
                "change": {
                    "input": str(change.amount_in),
                    "output": str(change.amount_out),
                    "bps": change.bps,
                    "since": change.since_s,
                },
            },
        )


class FailedRefresh(NamedTuple):
    """A failed refresh during a watch, with the age of the last good quote."""

    error: SwapcliError
    last_quote_age_s: float

    @own_document
    def document(self) -> FailedRefreshJson:
        """Return the JSON of a line that `swapcli route --watch` prints."""
        error = self.error
        return {
            "error": {"code": error.code, "message": error.message, "retryable": error.is_retryable},
            "lastQuoteAgeS": round(self.last_quote_age_s, 3),
        }
