"""The domain model as frozen data. It does no I/O and names no pool family."""

PUBLIC = (
    "api_version", "block_tag", "book_prices", "contract_kind", "decoded_call", "distribution", "finding",
    "live_and_check_modes",
    "market", "network", "number_format", "order", "past_block", "past_pools", "pool", "price_basis", "price_impact",
    "proof", "quote", "quote_figures", "quote_request", "quoter", "route_result", "router_dialect", "router_execution",
    "router_findings", "router_variant", "signing_figures", "skipped_pool", "state_source", "swap_terms", "swap_type",
    "quote", "quote_figures", "quote_request", "quoter", "route_result", "router_choice", "router_dialect",
    "router_execution", "router_findings", "router_variant", "signing_figures", "skipped_pool", "state_source",
    "swap_terms", "swap_type",
    "swappable_tokens", "token", "transaction", "transfer_behaviour", "units", "written_amount",
)  # fmt: skip
