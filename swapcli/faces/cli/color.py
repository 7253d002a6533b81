"""Colors of messages and of plain text. Tables use the colors in `render.terminal_tables`."""

from __future__ import annotations

import os
import re
from typing import TextIO

from swapcli.state.environment import variable

ALWAYS, NEVER = "always", "never"

_RESET = "\x1b[0m"
_BOLD, _BOLD_GREEN = "\x1b[1m", "\x1b[1;32m"
_LABELS = {"error:": "\x1b[1;31m", "warning:": "\x1b[1;33m", "note:": "\x1b[1;36m", "hint:": "\x1b[2m"}


def has_color(color: str, stream: TextIO) -> bool:
    """Return whether messages on a stream have colors: on a terminal, unless NO_COLOR is set or the terminal is
    dumb."""
    if color in (ALWAYS, NEVER):
        return color == ALWAYS
    return stream.isatty() and not variable(os.environ, "NO_COLOR") and variable(os.environ, "TERM") != "dumb"


def paint_labels(text: str) -> str:
    """Return a message with colored labels, such as "error:"."""
    labels = "|".join(_LABELS)
    return re.sub(rf"^(?:{labels})", lambda found: f"{_LABELS[found[0]]}{found[0]}{_RESET}", text, flags=re.MULTILINE)


def paint_plain(text: str) -> str:
    """Return plain text with its first line (a title or column titles) in bold and swap amounts in green."""
    first, newline, rest = text.partition("\n")
    amounts = r"^((?:You receive|You sell) +)(\S+ \S+)"
    rest = re.sub(amounts, rf"\1{_BOLD_GREEN}\2{_RESET}", rest, flags=re.MULTILINE)
    return f"{_BOLD}{first}{_RESET}{newline}{rest}"
