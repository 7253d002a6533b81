"""The API as a service: HTTP endpoints, keys, limits, metrics, logs, and its own documentation."""

PUBLIC = (
    "access_log", "access_policy", "app", "key_file", "key_plans", "key_usage", "keys", "listeners", "log_writer",
    "market_followers", "market_registry", "parent_channel", "redis_state", "run_service", "server",
    "service_sources", "shared_pool_stores", "supervisor", "terminal", "worker_group",
)  # fmt: skip
