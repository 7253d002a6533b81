"""Rendered output, compared with files. `UPDATE_SNAPSHOTS=1` writes the files."""

from __future__ import annotations

import os
from pathlib import Path


def matches_snapshot(text: str, file: Path) -> bool:
    """Return whether `text` equals the file, apart from trailing blanks."""
    shown = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(shown, encoding="utf-8")
    return file.read_text(encoding="utf-8") == shown
