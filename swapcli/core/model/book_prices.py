"""The best prices of an order book that routes cannot use, shown with a route."""

from __future__ import annotations

from swapcli.core.model.token import Token
from swapcli.core.records import NamedTuple


class BookPrices(NamedTuple):
    """The best bid and ask in an order book. A price is in whole `quote` tokens per whole `base` token, times
    10^`decimals`.

    `venue` is the book's display name. The sizes of the orders are not known. `bid` or `ask` is 0 if there is none.
    """

    venue: str
    base: Token
    quote: Token
    bid: int
    ask: int
    decimals: int
