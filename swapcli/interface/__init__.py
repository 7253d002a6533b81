"""The JSON of the HTTP API in both versions, parsed and rendered for the service and its client."""

PUBLIC = (
    "document_fields", "document_types", "errors", "fields", "handoff_types", "health", "integrators",
    "interface_by_network", "json_schemas", "json_types", "listings", "own_document", "plan_types", "proof_types",
    "quote_fields", "quote_parameters", "requests", "result", "route", "router_call", "segments", "sent_requests",
    "slippage", "starknet_batch", "state_headers", "timestamps", "transaction_responses", "unknown_parameters",
    "value_types",
)  # fmt: skip
