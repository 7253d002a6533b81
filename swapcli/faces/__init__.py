"""What people and programs see: the command line, the HTTP service and tools for agents."""

PUBLIC = (
    "cli",
    "service.key_file",
    "service.key_plans",
    "service.key_usage",
    "service.keys",
    "service.service_sources",
)
