"""Markets in memory that follow a store, a node or a feed, as sources of quotes."""

PUBLIC = ("feed_follower", "market_follower")
