"""Order books: pools whose liquidity is orders at prices, and the price levels that they share."""

PUBLIC = ("hypercore_books",)
