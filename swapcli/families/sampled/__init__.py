"""Pools for which only the protocol's own quotes are known."""

PUBLIC = ("rows", "sampled", "sampled_curve", "sampled_discovery", "sampled_pools_reader", "sampled_reader")
