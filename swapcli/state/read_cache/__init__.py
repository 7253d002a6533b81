"""Nodes' responses about final blocks, in one SQLite file: `cache_file` keeps it, `cached_node` uses it."""

PUBLIC = ("cache_file", "cached_node")
