"""A list of things of one kind, for all three forms of output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListView:
    """Rows under column titles. `documents` are the same rows as JSON objects."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    documents: tuple[Mapping[str, object], ...]
