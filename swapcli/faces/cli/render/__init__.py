"""Results as tables, plain text and JSON. Views hold the words; `terminal_tables` and `plain` lay them out."""

PUBLIC = (
    "columns", "csv_text", "detail_view", "list_view", "market_views", "node_view", "payload_json", "payload_view",
    "plain", "quote_facts", "route_shape", "route_view", "simulation_view", "state_wording", "store_view",
    "terminal_tables", "transaction_formats",
)  # fmt: skip
