"""Units of numbers that are shares of a whole."""

from __future__ import annotations

from typing import Final

PPM: Final = 1_000_000
"""Parts per million in one whole: 100% in the unit of `fee_ppm`, `slippage_ppm` and the like."""
BPS: Final = 10_000
"""Basis points in one whole."""
PPM_PER_BPS: Final = PPM // BPS
WAD: Final = 10**18
"""One whole of the 18-decimal fractions that contracts compute with."""
