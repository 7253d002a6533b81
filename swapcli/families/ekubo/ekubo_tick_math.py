"""Ticks and square-root ratios of Ekubo's cores, equal to theirs bit for bit.

A tick t represents the price 1.000001^t (token1 per token0); pools hold its square root as a fixed-point number with
128 fractional bits. The contracts multiply 128-bit factors 1.000001^(-2^k / 2), one per set bit of |t| in rising order,
and truncate the product after each.

The core of EVM networks stores ratios as 96-bit floating-point numbers, with two bits of exponent and 94 bits of
mantissa. It expands them to 128 fractional bits for its maths. Here all its ratios are the expanded ones, rounded to
that form.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import log, log1p

from swapcli.core.annotations import Final
from swapcli.core.records import NamedTuple

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
# In ticks: both logarithms are accurate to 1e-14, which is 2e-8 ticks; rounding moves a ratio by less.
REACH: Final = 1_400_000
"""The number of ticks read on either side of the price: the price can move to four times itself."""
_MAX_LOG_ERROR: Final = 1e-4
_MANTISSA_BITS: Final = 94
_MANTISSA_MASK: Final = (1 << _MANTISSA_BITS) - 1
# Ratios below 2^96, 2^128, 2^160 and 2^192 are multiples of 2^2, 2^34, 2^66 and 2^98.
_EXPONENTS: Final = (2, 34, 66, 98)
_MAX_COMPACT_BITS: Final = 96


class EkuboTicks(NamedTuple):
    """The ticks of a core, from `-max_tick` to `max_tick`, and the ratios at both ends.

    `ratio_at(tick)` returns the square-root ratio at a tick, and `tick_at(ratio)` the greatest tick whose ratio is at
    most `ratio`. Both raise `ValueError` outside the range.
    """

    max_tick: int
    min_ratio: int
    max_ratio: int
    ratio_at: Callable[[int], int]
    tick_at: Callable[[int], int]


def ticks_up_to(max_tick: int, round_ratio: Callable[[int], int] | None = None) -> EkuboTicks:
    """Return the ticks of a core that stores ratios as rounded by `round_ratio`, or exactly."""

    @lru_cache(maxsize=1 << 14)
    def ratio_at(tick: int) -> int:
        distance = abs(tick)
        if distance > max_tick:
            raise ValueError(f"tick {tick} is outside {-max_tick} to {max_tick}")
        ratio = Q128
        for bit, factor in _BIT_FACTORS:
            if distance & bit:
                ratio = ratio * factor >> 128
        if tick > 0:
            ratio = ((1 << 256) - 1) // ratio
        return round_ratio(ratio) if round_ratio else ratio

    min_ratio, max_ratio = ratio_at(-max_tick), ratio_at(max_tick)

    def tick_at(ratio: int) -> int:
        if not min_ratio <= ratio <= max_ratio:
            raise ValueError(f"square-root ratio {ratio} is outside {min_ratio} to {max_ratio}")
        estimate = (log(ratio) - _LOG_Q128) * _TICKS_PER_LOG
        nearest = round(estimate)
        if abs(estimate - nearest) > _MAX_LOG_ERROR:
            return nearest if nearest < estimate else nearest - 1
        return nearest if ratio_at(nearest) <= ratio else nearest - 1

    return EkuboTicks(max_tick, min_ratio, max_ratio, ratio_at, tick_at)


def round_ratio(ratio: int, *, up: bool = False) -> int:
    """Return the greatest ratio up to `ratio` that an EVM core can store or, with `up`, the least one from `ratio`
    upwards.

    Beyond the greatest ratio that can be stored, it returns a number above all ratios.
    """
    for shift in _EXPONENTS:
        lifted = ratio + (1 << shift) - 1 if up else ratio
        if not lifted >> (shift + _MANTISSA_BITS):
            return lifted >> shift << shift
    return 1 << (_EXPONENTS[-1] + _MANTISSA_BITS)


def expand_ratio(compact: int) -> int:
    """Return a stored 96-bit ratio with 128 fractional bits."""
    return (compact & _MANTISSA_MASK) << _EXPONENTS[compact >> _MANTISSA_BITS]


def is_compact_ratio(compact: int) -> bool:
    """Return whether a number has the form in which an EVM core stores ratios."""
    return 0 <= compact < 1 << _MAX_COMPACT_BITS


STARKNET_TICKS: Final = ticks_up_to(88_722_883)
EVM_TICKS: Final = ticks_up_to(88_722_835, round_ratio)
