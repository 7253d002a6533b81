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

VECTORS = Path(__file__).parent / "vectors"


@cache
def read_vectors(name: str) -> dict[str, Any]:
    """Return the document of `vectors/NAME.json.xz`."""
    document: dict[str, Any] = json.loads(lzma.decompress((VECTORS / f"{name}.json.xz").read_bytes()))
    return document
