"""Order books: pools whose liquidity are orders at prices, and the levels that they share."""

PUBLIC = ("hypercore_books",)
