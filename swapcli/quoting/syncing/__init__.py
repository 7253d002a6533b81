"""Sync the pools of a network from a node into its store, and follow the chain.

`open_sync` is the entry point: it opens the sync, which fills the store and follows the chain. `results` has the
results, `filters` parses the filter of a sync, `publish` publishes each block on a thread, and `watch_chain` retries
after failures.
"""

PUBLIC = ("filters", "open_sync", "publish", "results", "watch_chain")
