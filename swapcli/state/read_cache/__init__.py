"""Cache nodes' responses about final blocks in one SQLite file. `cache_file` manages the file, and `cached_node` uses
it."""

PUBLIC = ("cache_file", "cached_node")
