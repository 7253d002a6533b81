"""Pools of which only the protocol's own quotes are known."""

PUBLIC = ("sampled", "sampled_curve")
