"""The number of recorded swaps for which each pool family computes exactly the output on the chain
(`recorded_swaps.json`).

`make exactness` counts them by replaying the recordings in the tests. `swapcli record` makes new recordings.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")


def recorded_swaps(family: str) -> int:
    """Return the number of a family's recorded swaps that match its quotes; 0 if there are none."""
    return _counts().get(family, 0)


@cache
def _counts() -> dict[str, int]:
    return dict(json.loads(FILE.read_text(encoding="utf-8")))
