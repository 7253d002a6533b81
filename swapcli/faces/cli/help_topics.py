"""The topics of the manual, which `swapcli help` and the manual page print."""

from __future__ import annotations

from pathlib import Path

from swapcli.faces.cli.exit_codes import MEANING

TOPICS = Path(__file__).parent / "topics"
ORDER = (
    "amounts", "slippage", "state", "live", "history", "pools", "transactions", "routers", "aggregators", "warnings",
    "exit-codes", "scripting", "library", "agents", "service", "deploy", "scale", "settings", "routing",
)  # fmt: skip
"""The topics as the list shows them; each is a text file in `cli/topics`, whose first line is its title."""


def topic_text(name: str) -> str:
    """Return the page on a topic of `ORDER`."""
    text = (TOPICS / f"{name}.txt").read_text(encoding="utf-8")
    if name == "exit-codes":
        text += "".join(f"  {status:<5}{meaning}\n" for status, meaning in MEANING.items())
    return text
