"""Markets in memory that follow a store, a node or a feed, for use as sources of quotes."""

PUBLIC = ("feed_follower", "market_follower")
