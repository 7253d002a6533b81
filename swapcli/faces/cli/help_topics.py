"""The topics of the manual, which `swapcli help` and the manual page print."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from textwrap import wrap

from swapcli.faces.cli.exit_codes import MEANING

TOPICS = Path(__file__).parent / "topics"
ORDER = (
    "amounts", "slippage", "state", "live", "history", "proof", "pools", "transactions", "routers", "aggregators",
    "warnings", "exit-codes", "scripting", "library", "agents", "service", "deploy", "scale", "settings", "networks",
    "routing",
)  # fmt: skip
"""The topics as the list shows them; each is a text file in `cli/topics`, whose first line is its title."""

_FIELDS_WIDTH = 56
"""Of the lines of a table in the topic on pools."""


def topic_text(name: str) -> str:
    """Return the page on a topic of `ORDER`."""
    text = (TOPICS / f"{name}.txt").read_text(encoding="utf-8")
    if name == "pools":
        text = text.replace("{families}\n", _fields_of_families())
    if name == "networks":
        from swapcli.quoting.config.network_schema import key_lines

        text = text.replace("{keys}\n", key_lines())
    if name == "exit-codes":
        text += "".join(f"  {status:<5}{meaning}\n" for status, meaning in MEANING.items())
    return text


def _fields_of_families() -> str:
    """Return the table of the fields that a pool has in a market file, by family."""
    from swapcli.families import FAMILIES, family_row

    table = ""
    for name in FAMILIES:
        lines = [each for part in ", ".join(family_row(name).fields).split("\n") for each in wrap(part, _FIELDS_WIDTH)]
        table += "".join(f"  {label:<26}{line}\n" for label, line in zip_longest([name], lines, fillvalue=""))
    return table
