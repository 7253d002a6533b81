"""Markets that travel from one process, which follows a node, to any number of others over a Redis server.

`publisher` writes what each block of a store has changed to the feed of its network; `follower` keeps a market in
memory at the newest block of a feed, and proves it by a hash.
"""
