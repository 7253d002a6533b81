"""Order books: pools whose liquidity consists of limit orders, and the code for price levels that they share."""

PUBLIC = ("hypercore_books",)
