"""Sync a network's pools from a node into the network's store, and follow the chain.

`open_sync` is the entry point. It opens a sync, which fills the store and follows the chain. `results` defines the
results, `filters` parses the filter for pools, `publish` publishes each block in a separate thread, and `watch_chain`
retries after failures.
"""

PUBLIC = ("filters", "open_sync", "publish", "results", "watch_chain")
