"""The terms of a swap as they are written: generations of the interface, and slippage as a percentage."""

from __future__ import annotations

import re
from typing import NamedTuple

from swapcli.encoding.text import truncate
from swapcli.errors import InvalidSlippage
from swapcli.model.api_version import ApiVersion
from swapcli.model.swap_terms import PPM_PER_PERCENT

_PERCENT = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,4})0*)?|\.([0-9]{1,4})0*")


class SlippageRange(NamedTuple):
    """The least and the most slippage that is accepted somewhere, both included, in parts per million."""

    min_ppm: int
    max_ppm: int

    def check(self, slippage_ppm: int) -> int:
        """`slippage_ppm` if it lies within. Raises `InvalidSlippage` with the range."""
        low, high = format_percent(self.min_ppm), format_percent(self.max_ppm)
        if not self.min_ppm <= slippage_ppm <= self.max_ppm:
            raise InvalidSlippage(
                f"slippage must be between {low} and {high} percent, not {format_percent(slippage_ppm)}",
                details={"least": low, "most": high},
            )
        return slippage_ppm


V1_SLIPPAGE = SlippageRange(PPM_PER_PERCENT // 10, 100 * PPM_PER_PERCENT)
V2_SLIPPAGE = SlippageRange(0, 49 * PPM_PER_PERCENT)
SIGNER_SLIPPAGE = SlippageRange(PPM_PER_PERCENT // 10, 49 * PPM_PER_PERCENT)
"""Of the calldata endpoints that hyperevm and citrea have for themselves."""

SLIPPAGE_RANGE: dict[ApiVersion, SlippageRange] = {ApiVersion.V1: V1_SLIPPAGE, ApiVersion.V2: V2_SLIPPAGE}


def parse_slippage_ppm(text: str) -> int:
    """A percentage with at most four decimals ("0.5") in parts per million of the output (5,000), exactly.

    Raises `InvalidSlippage` for anything else; ranges are for `SlippageRange`.
    """
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise InvalidSlippage(
            f'slippage "{truncate(text, 40)}" is not a percentage with at most four decimals',
            hint="write half a percent as 0.5",
        )
    whole, decimals = match[1] or "0", match[2] or match[3] or ""
    return int(whole) * PPM_PER_PERCENT + int(decimals.ljust(4, "0"))


def format_percent(ppm: int) -> str:
    """Parts per million as a plain percentage: 5,000 -> "0.5"."""
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")
