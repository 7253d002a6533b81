PUBLIC = (
    "found_pools", "freshness", "in_memory", "joined_orders", "live", "market_prices", "public", "quote_source",
    "remote", "searchable_market", "stored", "token_checks",
)  # fmt: skip
