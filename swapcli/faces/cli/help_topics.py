"""The topics of the manual, for `swapcli help` and the manual page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from swapcli.faces.cli.exit_codes import MEANING

TOPICS = Path(__file__).parent / "topics"
GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Start": ("amounts", "slippage", "state", "settings", "exit-codes"),
        "Quotes": ("live", "routing", "plan", "aggregators", "history", "proof"),
        "Data": ("pools", "nodes", "networks"),
        "Payloads": ("transactions", "checks", "signing", "routers", "decoding", "warnings"),
        "Programs": ("scripting", "batches", "library", "agents"),
        "Operations": ("service", "api-keys", "deploy", "scale"),
    }
)
"""The topics by group, in the order of the list. Each topic is a text file in `cli/topics` whose first line is its
title."""
ORDER = tuple(topic for topics in GROUPS.values() for topic in topics)
"""All topics, in the order of `GROUPS`."""


def topic_text(name: str) -> str:
    """Return the page of a topic in `ORDER`."""
    text = (TOPICS / f"{name}.txt").read_text(encoding="utf-8")
    if name == "exit-codes":
        text += "".join(f"  {status:<5}{meaning}\n" for status, meaning in MEANING.items())
    return text
