"""Read swaps that were recorded from the real contracts of a pool family.

A file in `vectors` has `{source, units, pools: [{..., steps: [...]}]}`: the constants of pools, and swaps that follow
one another with the state before each. Integers that may exceed 2^53 are decimal strings.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from pathlib import Path
from typing import Any

from swapcli.testing.recorded_swaps import FORMAT

VECTORS = Path(__file__).parent / "vectors"


@cache
def read_vectors(name: str) -> dict[str, Any]:
    """Return the document of `vectors/NAME.json.xz`."""
    document: dict[str, Any] = json.loads(lzma.decompress(vectors_file(name).read_bytes()))
    return document


@cache
def names_of_recorded_swaps() -> tuple[str, ...]:
    """Return the names of the files of the form that every family can have."""
    files = sorted(VECTORS.glob("*.json.xz"))
    # Documents begin with their form, so that the long ones of other forms are not parsed.
    return tuple(file.name.partition(".")[0] for file in files if FORMAT in _beginning_of(file.read_bytes()))


def vectors_file(name: str) -> Path:
    """Return the path of `vectors/NAME.json.xz`."""
    return VECTORS / f"{name}.json.xz"


def _beginning_of(compressed: bytes) -> str:
    return lzma.LZMADecompressor().decompress(compressed, max_length=200).decode(errors="replace")
