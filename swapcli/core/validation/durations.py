"""Durations as people write them: a number with its unit, as in 90s, 20m, 1.5h or 3d."""

from __future__ import annotations

import re
from typing import Final

UNITS_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
"""The seconds of each unit."""
UNIT_NAMES: Final = tuple(UNITS_S)

_DURATION: Final = r"([0-9]{1,12})(?:\.([0-9]{1,9}))? ?([smhd])"  # compiled on first use: most commands need none


def parse_duration_s(text: str) -> float | None:
    """Return the seconds of a number with its unit, such as "1.5h"; None for any other text.

    A duration of whole seconds is exact. Text without a unit is no duration: what a plain number means is decided where
    it is read.
    """
    match = re.fullmatch(_DURATION, text, re.IGNORECASE)
    if match is None:
        return None
    unit_s, fraction = UNITS_S[match[3].lower()], match[2] or ""
    seconds: int
    seconds, rest = divmod(int(match[1] + fraction) * unit_s, 10 ** len(fraction))
    return seconds + rest / 10 ** len(fraction) if rest else seconds
