"""The tools that `swapcli mcp` offers to agents. Each tool is a command that prints JSON, with some of its options."""

PUBLIC = ("arguments", "caller", "resources", "schemas", "skill", "tool_table")
