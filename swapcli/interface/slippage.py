"""Slippage as a percentage, and the range that each endpoint accepts."""

from __future__ import annotations

import re

from swapcli.core.encoding.text import truncate
from swapcli.core.errors import InvalidSlippage
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.swap_terms import PPM_PER_PERCENT
from swapcli.core.records import NamedTuple

_PERCENT = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,40}))?|\.([0-9]{1,40})")
_DECIMALS = 4  # decimal places of a percentage, which give parts per million


class SlippageRange(NamedTuple):
    """An accepted range of slippage in parts per million, both ends included."""

    min_ppm: int
    max_ppm: int

    def check(self, slippage_ppm: int) -> int:
        """Return `slippage_ppm` if it is in the range. Raises `InvalidSlippage` with the range."""
        low, high = format_percent(self.min_ppm), format_percent(self.max_ppm)
        if not self.min_ppm <= slippage_ppm <= self.max_ppm:
            raise InvalidSlippage(
                f"slippage must be between {low} and {high} percent, not {format_percent(slippage_ppm)}",
                details={"least": low, "most": high},
            )
        return slippage_ppm


ANY_SLIPPAGE = SlippageRange(0, 100 * PPM_PER_PERCENT)
"""The range for payloads of any origin."""
V1_SLIPPAGE = SlippageRange(PPM_PER_PERCENT // 10, 100 * PPM_PER_PERCENT)
V2_SLIPPAGE = SlippageRange(0, 49 * PPM_PER_PERCENT)
SIGNER_SLIPPAGE = SlippageRange(PPM_PER_PERCENT // 10, 49 * PPM_PER_PERCENT)
"""The range of `GET /hyperevm/calldata` and `GET /citrea/calldata`."""

SLIPPAGE_RANGE: dict[ApiVersion, SlippageRange] = {ApiVersion.V1: V1_SLIPPAGE, ApiVersion.V2: V2_SLIPPAGE}


def parse_slippage_ppm(text: str) -> int:
    """Parse a percentage ("0.5") into parts per million (5,000), rounded down: 0.30000000000000004, JavaScript's 0.1 +
    0.2, is 0.3.

    Raises `InvalidSlippage` for anything else. `SlippageRange` checks the range.
    """
    match = _PERCENT.fullmatch(text)
    if match is None:
        raise InvalidSlippage(
            f'slippage "{truncate(text, 40)}" is not a percentage',
            hint="write half a percent as 0.5",
        )
    whole, decimals = match[1] or "0", match[2] or match[3] or ""
    return int(whole) * PPM_PER_PERCENT + int(decimals[:_DECIMALS].ljust(_DECIMALS, "0"))


def format_percent(ppm: int) -> str:
    """Format parts per million as a percentage: 5,000 -> "0.5"."""
    whole, rest = divmod(ppm, PPM_PER_PERCENT)
    return f"{whole}.{rest:04d}".rstrip("0").rstrip(".")
