"""A small JSON file in which facts about nodes are remembered between runs.

The file only saves time. If it is missing, damaged or read-only, no result changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_MAX_BYTES: Final = 1 << 20  # a bound against a wrong file; chosen


def read_json_file(path: Path, field: str, max_bytes: int = _MAX_BYTES) -> dict[str, object]:
    """Return the object in one field of the file; an empty object if there is none."""
    try:
        if path.stat().st_size > max_bytes:
            return {}
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    found = document.get(field) if isinstance(document, dict) else None
    return found if isinstance(found, dict) else {}


def write_json_file(path: Path, field: str, entries: Mapping[str, object], *, indent: int | None = 1) -> None:
    """Replace the entries in one field of the file. Failures are ignored."""
    from swapcli.state.file_writing import write_file

    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(str(path), json.dumps({field: entries}, indent=indent).encode())
