"""The tools that `swapcli mcp` offers to agents: each is a command that prints JSON, with a part of its options."""

PUBLIC = ("arguments", "caller", "resources", "schemas", "skill", "tool_table")
