"""Rendered output kept as files: a change of look shows as a change of text.

`UPDATE_SNAPSHOTS=1` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path


def matches_snapshot(text: str, file: Path) -> bool:
    """Is `text` what the file holds? Trailing blanks, which no reader sees, do not count."""
    shown = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown, encoding="utf-8")
    return file.read_text(encoding="utf-8") == shown
