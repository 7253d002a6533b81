"""Ticks and square-root ratios of Ekubo on Starknet, equal to the contract's in every bit.

A tick t stands for the price 1.000001^t (token1 per token0); pools hold its square root as a fixed-point number with
128 fractional bits. The contract multiplies 128-bit factors 1.000001^(-2^k / 2), one per set bit of |t| in rising
order, and truncates the product after each.
"""

from __future__ import annotations

from functools import lru_cache
from math import log, log1p
from typing import Final

MAX_TICK: Final = 88_722_883
MIN_TICK: Final = -MAX_TICK
MIN_SQRT_RATIO: Final = 18_446_748_437_148_339_061
MAX_SQRT_RATIO: Final = 6_277_100_250_585_753_475_930_931_601_400_621_808_602_321_654_880_405_518_632
"""The square-root ratios at `MIN_TICK` and `MAX_TICK`."""

Q128: Final = 1 << 128

# round(2^128 * 1.000001^(-2^k / 2)) for k = 0 ... 26.
_FACTORS: Final = (
    0xFFFFF79C8499329C7CBB2510D893283B,
    0xFFFFEF390978C398134B4FF3764FE410,
    0xFFFFDE72140B00A354BD3DC828E976C9,
    0xFFFFBCE42C7BE6C998AD6318193C0B18,
    0xFFFF79C86A8F6150A32D9778ECEEF97C,
    0xFFFEF3911B7CFF24BA1B3DBB5F8F5974,
    0xFFFDE72350725CC4EA8FEECE3B5F13C8,
    0xFFFBCE4B06C196E9247AC87695D53C60,
    0xFFF79CA7A4D1BF1EE8556CEA23CDBAA5,
    0xFFEF3995A5B6A6267530F207142A5764,
    0xFFDE7444B28145508125D10077BA83B8,
    0xFFBCECEEB791747F10DF216F2E53EC57,
    0xFF79EB706B9A64C6431D76E63531E929,
    0xFEF41D1A5F2AE3A20676BEC6F7F9459A,
    0xFDE95287D26D81BEA159C37073122C73,
    0xFBD701C7CBC4C8A6BB81EFD232D1E4E7,
    0xF7BF5211C72F5185F372AEB1D48F937E,
    0xEFC2BF59DF33ECC28125CF78EC4F167F,
    0xE08D35706200796273F0B3A981D90CFD,
    0xC4F76B68947482DC198A48A54348C4ED,
    0x978BCB9894317807E5FA4498EEE7C0FA,
    0x59B63684B86E9F486EC54727371BA6CA,
    0x1F703399D88F6AA83A28B22D4A1F56E3,
    0x03DC5DAC7376E20FC8679758D1BCDCFC,
    0x000EE7E32D61FDB0A5E622B820F681D0,
    0x000000DE2EE4BC381AFA7089AA84BB66,
    0x000000000000C0D55D4D7152C25FB139,
)
_BIT_FACTORS: Final = tuple((1 << k, factor) for k, factor in enumerate(_FACTORS))

_TICKS_PER_LOG: Final = 2 / log1p(1e-6)
_LOG_Q128: Final = 128 * log(2)
# In ticks: both logarithms are good to 1e-14, which is 2e-8 ticks; rounding moves a ratio by less.
_MAX_LOG_ERROR: Final = 1e-4


@lru_cache(maxsize=1 << 14)
def sqrt_ratio_at_tick(tick: int) -> int:
    """Return the square-root ratio at `tick` with 128 fractional bits, MIN_TICK <= tick <= MAX_TICK."""
    if not MIN_TICK <= tick <= MAX_TICK:
        raise ValueError(f"tick {tick} is outside {MIN_TICK} to {MAX_TICK}")
    distance = abs(tick)
    ratio = Q128
    for bit, factor in _BIT_FACTORS:
        if distance & bit:
            ratio = ratio * factor >> 128
    return ((1 << 256) - 1) // ratio if tick > 0 else ratio


def tick_at_sqrt_ratio(sqrt_ratio: int) -> int:
    """Return the greatest tick whose ratio is at most `sqrt_ratio`, MIN_SQRT_RATIO <= ratio <= MAX_SQRT_RATIO."""
    if not MIN_SQRT_RATIO <= sqrt_ratio <= MAX_SQRT_RATIO:
        raise ValueError(f"square-root ratio {sqrt_ratio} is outside {MIN_SQRT_RATIO} to {MAX_SQRT_RATIO}")
    estimate = (log(sqrt_ratio) - _LOG_Q128) * _TICKS_PER_LOG
    nearest = round(estimate)
    if abs(estimate - nearest) > _MAX_LOG_ERROR:
        return nearest if nearest < estimate else nearest - 1
    return nearest if sqrt_ratio_at_tick(nearest) <= sqrt_ratio else nearest - 1
