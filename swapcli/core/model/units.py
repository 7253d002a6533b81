"""Units of shares, gas prices and time."""

from __future__ import annotations

from swapcli.core.annotations import Final

PPM: Final = 1_000_000
"""Parts per million in the whole: 100% in the unit of `fee_ppm`, `slippage_ppm` and the like."""
BPS: Final = 10_000
"""Basis points in the whole."""
PPM_PER_BPS: Final = PPM // BPS
WAD: Final = 10**18
"""The value 1 in the 18-decimal fixed-point format that contracts use."""
E18_PER_BPS: Final = WAD // BPS
"""One basis point in that format."""
GWEI_DECIMALS: Final = 9
"""The decimals of a gwei in wei."""
DAY_S: Final = 86_400
