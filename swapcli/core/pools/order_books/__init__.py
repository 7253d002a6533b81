"""Order books: pools whose liquidity are orders at prices, and the levels that they share."""

PUBLIC = ("clober_tick_math", "clober_v2", "hanji", "kuru")
