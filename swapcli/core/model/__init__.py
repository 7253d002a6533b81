"""Values of the domain, as frozen data: no I/O, and no pool family by name."""

PUBLIC = (
    "api_version", "block_tag", "contract_kind", "decoded_call", "distribution", "execution", "finding", "live_mode",
    "market", "network", "node_figures", "number_format", "order", "past_block", "past_pools", "pool", "price_basis",
    "price_impact", "quote", "quote_figures", "quote_request", "quoter", "route_result", "router_dialect",
    "router_findings", "router_variant", "skipped_pool", "state_source", "swap_terms", "swap_type", "swappable_tokens",
    "token", "transaction", "transfer_behaviour", "units", "written_amount",
)  # fmt: skip
