"""Tools for agents: a server of the Model Context Protocol, over stdio or HTTP."""

PUBLIC = ("protocol_server", "tool")
