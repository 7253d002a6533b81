"""The quotes of a watch, each with its difference from the order's first quote, and any failed refreshes."""

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
    """The change since an earlier quote, made at `since_s` (Unix), in base units.

    `bps` is the change of the output, or of the input if the order specifies the output.
    """

    amount_in: int
    amount_out: int
    bps: float
    since_s: int


class WatchedQuote(NamedTuple):
    """A quote of `Market.watch`, and its difference from the first one."""

    quote: SwapQuote
    change: QuoteChange

    @classmethod
    def since(cls, first: SwapQuote, quote: SwapQuote) -> WatchedQuote:
        """Return a quote with its change since the first one for the same order."""
        start, end = first.figures, quote.figures
        change_in, change_out = end.amount_in - start.amount_in, end.amount_out - start.amount_out
        is_reverse = quote.answer.order.reverse
        change, amount = (change_in, start.amount_in) if is_reverse else (change_out, start.amount_out)
        bps = round(BPS * change / amount, 4) if amount else 0.0
        return cls(quote, QuoteChange(change_in, change_out, bps, start.quoted_at_s))

    def document(self) -> WatchedRouteJson:
        """Return the JSON of a line of `swapcli route --watch`; amounts are text, in base units."""
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
    """A refresh of a watch that failed, and the age of the last good quote."""

    error: SwapcliError
    last_quote_age_s: float

    @own_document
    def document(self) -> FailedRefreshJson:
        """Return the JSON of a line of `swapcli route --watch`."""
        error = self.error
        return {
            "error": {"code": error.code, "message": error.message, "retryable": error.is_retryable},
            "lastQuoteAgeS": round(self.last_quote_age_s, 3),
        }
