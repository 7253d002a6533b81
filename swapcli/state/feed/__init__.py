"""Feeds of markets. One process follows a node, and any number of others receive the market over a Redis server.

`publisher` writes the changes of each block of a store to the network's feed, in the streams of `feed_stream`, over the
connections of `redis_client`. `quoting.followers` keep a market in memory at a feed's latest block, and verify it by
its hash.
"""

PUBLIC = ("counters", "feed_stream", "publisher", "redis_client", "token_index")
