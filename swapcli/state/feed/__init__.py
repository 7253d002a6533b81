"""Markets that travel from one process, which follows a node, to any number of others over a Redis server.

`publisher` writes the changes of each block of a store to the network's feed, in the streams of `feed_stream`, over the
connections of `redis_client`. `quoting.followers` keep a market in memory at the latest block of a feed, and prove it
by a hash.
"""

PUBLIC = ("counters", "feed_stream", "publisher", "redis_client", "token_index")
