PUBLIC = ("freshness", "in_memory", "live", "pool_source", "public", "quote_source", "remote", "stored")
