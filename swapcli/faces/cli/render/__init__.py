"""Results as tables, plain text and JSON. Views hold the words; `terminal_tables` and `plain` lay them out."""

PUBLIC = (
    "columns", "comparison_view", "csv_text", "decode_json", "decode_view", "depth_view", "detail_view", "health_view",
    "list_view", "market_views", "node_view", "payload_json", "payload_view", "plain", "progress", "route_shape",
    "route_view", "simulation_view", "state_wording", "store_view", "sync_view", "terminal_tables",
    "transaction_formats", "verification_json", "verification_view", "watch_view",
)  # fmt: skip
