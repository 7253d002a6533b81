"""A tool as the protocol describes it, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from swapcli.core.records import NamedTuple


class Tool(NamedTuple):
    """A tool of the server: what an agent reads of it before the first call. The schemas are JSON schemas of objects.

    `asks_nodes` says whether it may reach beyond this machine.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any]
    asks_nodes: bool = True


class ToolAnswer(NamedTuple):
    """The answer of a tool: an object of its output schema, or an error."""

    document: Mapping[str, Any]
    is_error: bool = False


CallTool = Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]
"""Answers a call of a tool by its name and arguments. Raises nothing but cancellation."""
