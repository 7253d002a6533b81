"""The view of a list, for all three formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ListView:
    """Rows with column titles. `documents` are the same rows as JSON objects.

    `links` are the pages about cells in the explorer of the network, by the title of the column, for each row; they may
    be left out.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    documents: tuple[Mapping[str, object], ...]
    links: tuple[Mapping[str, str], ...] = ()
