"""Units: shares of a whole, and of gas prices and time."""

from __future__ import annotations

from swapcli.core.annotations import Final

PPM: Final = 1_000_000
"""Parts per million in one whole: 100% in the unit of `fee_ppm`, `slippage_ppm` and the like."""
BPS: Final = 10_000
"""Basis points in one whole."""
PPM_PER_BPS: Final = PPM // BPS
WAD: Final = 10**18
"""One whole of the 18-decimal fractions that contracts compute with."""
E18_PER_BPS: Final = WAD // BPS
"""A basis point as such a fraction."""
GWEI_DECIMALS: Final = 9
"""Decimals of a gwei in wei."""
DAY_S: Final = 86_400
