"""How a quote differs from an earlier one for the same order."""

from __future__ import annotations

from swapcli.core.model.quote_figures import QuoteFigures
from swapcli.core.model.units import BPS
from swapcli.core.records import NamedTuple


class QuoteChange(NamedTuple):
    """The change since an earlier quote, made at `since_s` (Unix), in base units.

    `bps` is that of the output, or of the input if the order names the output.
    """

    amount_in: int
    amount_out: int
    bps: float
    since_s: int


def compute_change(first: QuoteFigures, figures: QuoteFigures, *, is_reverse: bool) -> QuoteChange:
    """Return the change from the first quote of an order to a later one."""
    change_in, change_out = figures.amount_in - first.amount_in, figures.amount_out - first.amount_out
    change, amount = (change_in, first.amount_in) if is_reverse else (change_out, first.amount_out)
    return QuoteChange(change_in, change_out, round(BPS * change / amount, 4) if amount else 0.0, first.quoted_at_s)
