"""The supported networks and their facts. Pure data and lookups; nothing here uses a node."""

PUBLIC = (
    "address", "catalogue", "definition", "definition_fields", "definition_files", "explorer", "hook_rules",
    "l1_fee", "main_tokens", "name_services", "permit2", "pool_addresses", "quoter_definitions", "token_facts",
    "token_list_file",
)  # fmt: skip
