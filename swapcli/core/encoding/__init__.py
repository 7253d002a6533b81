PUBLIC = (
    "abi", "abi_arguments", "byte_order_mark", "closest", "disk_errors", "fastlz", "http_body",
    "json_text", "keccak", "key_recovery", "redis_url", "retry_after", "secret", "strict_json", "text", "url",
)  # fmt: skip
