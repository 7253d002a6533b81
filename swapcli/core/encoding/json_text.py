"""Write JSON as text."""

from __future__ import annotations

import json


def to_json(document: object, *, indent: int | None = None) -> str:
    """Serialize a document as JSON in ASCII, so that any stream can encode it."""
    return json.dumps(document, indent=indent, allow_nan=False)
