"""Shorten long documents for agents, which read every character of them, and say what is left out."""

from __future__ import annotations

from typing import Any

from swapcli.core.records import NamedTuple
from swapcli.faces.cli.tools.tool_table import ToolDefinition

MAX_LISTED = 100
"""Entries of a list: those of the deepest tokens, about 15,000 characters."""


class Shortened(NamedTuple):
    """A document with a sentence for each thing that is left out of it."""

    document: dict[str, Any]
    notes: tuple[str, ...] = ()


def shorten(tool: ToolDefinition, document: dict[str, Any]) -> Shortened:
    """Return a document without what no agent needs: ways to fill an order that have no route, and ends of lists."""
    if tool.command == "compare":
        return _without_failures(document)
    listed = document.get(tool.list_field, ())
    if len(listed) <= MAX_LISTED:
        return Shortened(document)
    note = f"these are the first {MAX_LISTED} of {len(listed):,} {tool.list_field}"
    hint = "; give a pattern to find others" if "pattern" in tool.inputs else ""
    return Shortened(document | {tool.list_field: listed[:MAX_LISTED]}, (note + hint,))


def _without_failures(document: dict[str, Any]) -> Shortened:
    """Return a comparison of what pays something: a network has dozens of protocols that do not trade a pair."""
    others = ("service", "aggregator")
    found = [each for each in document["alternatives"] if each["outputAmount"] is not None or each["kind"] in others]
    missing = len(document["alternatives"]) - len(found)
    note = (f"{missing} alternatives have no route and are left out",) if missing else ()
    return Shortened(document | {"alternatives": found}, note)
