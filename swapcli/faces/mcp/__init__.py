"""Tools for agents: an MCP (Model Context Protocol) server, over stdio or HTTP."""

PUBLIC = ("protocol_server", "tool")
