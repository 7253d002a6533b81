"""Results as tables, plain text and JSON. Views contain the words; `terminal_tables` and `plain` lay them out."""

PUBLIC = (
    "columns", "csv_order", "csv_text", "detail_view", "list_view", "median_note", "node_view", "payload_view", "plain",
    "pool_and_price_views", "quote_facts", "route_layout", "route_view", "simulation_view", "state_wording",
    "store_view", "terminal_tables", "transaction_formats",
)  # fmt: skip
