"""The files that describe the packaged networks."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False  # completion reads these files, and importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from typing import Any

_FOLDER = os.path.join(os.path.dirname(__file__), "definitions")
_FURTHER = os.path.join(_FOLDER, "further")
_SUFFIX = ".json"


@cache
def interface_networks() -> frozenset[str]:
    """Return the names, in lower case, of the packaged networks that the Fibrous API lists: the default networks."""
    return _names_in(_FOLDER)


@cache
def packaged_networks() -> frozenset[str]:
    """Return the names of all packaged networks, in lower case."""
    return interface_networks() | _names_in(_FURTHER)


@cache
def read_definition(name: str) -> dict[str, Any]:
    """Return the description of a packaged network, as written in its definition file."""
    folder = _FOLDER if name in interface_networks() else _FURTHER
    with open(os.path.join(folder, name + _SUFFIX), encoding="utf-8") as file:
        return dict(json.load(file))


def _names_in(folder: str) -> frozenset[str]:
    return frozenset(entry.removesuffix(_SUFFIX) for entry in os.listdir(folder) if entry.endswith(_SUFFIX))
