"""The files that describe the networks which come with the program."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False  # completion reads these files, and importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.path.join(os.path.dirname(__file__), "definitions")
_SUFFIX = ".json"


@cache
def packaged_networks() -> frozenset[str]:
    """Return the names of the networks that come with the program, in lower case."""
    return frozenset(entry.removesuffix(_SUFFIX) for entry in os.listdir(_FOLDER) if entry.endswith(_SUFFIX))


@cache
def read_definition(name: str) -> dict[str, Any]:
    """Return the description of a packaged network as it is in its file."""
    with open(os.path.join(_FOLDER, name + _SUFFIX), encoding="utf-8") as file:
        return dict(json.load(file))
