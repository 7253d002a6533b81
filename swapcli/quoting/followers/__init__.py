"""Markets in memory that follow a store, a node or a feed, as sources of quotes."""
