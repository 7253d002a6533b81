"""The rate curve of pools that convert at a fixed rate up to a limit: Spark's PSM, ERC-4626 vaults, bridges."""

from __future__ import annotations

from swapcli.core.annotations import Final
from swapcli.core.validation.values import MAX_UINT256
from swapcli.families.bins.bin_curve import BinCurve

_START_AT_RATE: Final = 1.0 - 5e-8
"""The rate of a bin falls by 10^-7 around its mean.

Here it starts at the fixed rate and ends 10^-7 below it, so that a conversion and its inverse never seem to gain.
"""


def fixed_rate_curve(rate: float, max_amount_out: int, max_amount_in: int = MAX_UINT256) -> BinCurve:
    """Return the curve of a conversion at `rate` (output per input in base units), up to `max_amount_in` or
    `max_amount_out`, whichever is reached first."""
    return BinCurve([(rate * _START_AT_RATE, max_amount_out)], max_amount_in)
