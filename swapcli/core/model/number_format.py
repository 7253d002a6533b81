"""Format numbers with thousands separators and a limited number of digits, and format times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context, Decimal
from math import isfinite

from swapcli.core.model.token import fixed_point, whole_tokens

SHORT_DIGITS = 6
"""The significant digits of amounts and rates for people. Programs and --verbose get all digits."""
ROUGH_DIGITS = 4
"""The significant digits of a modelled rate: more would suggest false precision."""
_EXACT = Context(prec=400)
_WITHOUT_CENTS = 10_000
_ROUGH_FROM = 1_000


def format_short_amount(amount: int, decimals: int, *, rounds_up: bool = False) -> str:
    """Format an amount in whole tokens with `SHORT_DIGITS` significant digits, and two decimals from one token upwards.

    The amount is rounded down, or up if the user pays it. An amount that needs no rounding is written without extra
    digits.
    """
    value = Decimal(amount).scaleb(-decimals, context=_EXACT)
    places = SHORT_DIGITS - 1 - value.adjusted() if value else 0
    places = min(max(places, 2), decimals)
    step = 10 ** (decimals - places)
    if not amount % step:
        return whole_tokens(amount, decimals)
    return fixed_point(-(-amount // step) if rounds_up else amount // step, places)


def format_ratio(amount_a: int, decimals_a: int, amount_b: int, decimals_b: int, *, digits: int = SHORT_DIGITS) -> str:
    """Format the ratio `a / b` of two amounts in whole tokens with `digits` significant digits and at least two
    decimals."""
    if not amount_b:
        return "unknown"
    value = _EXACT.divide(Decimal(amount_a).scaleb(-decimals_a, _EXACT), Decimal(amount_b).scaleb(-decimals_b, _EXACT))
    return format_significant(value, digits)


def format_significant(value: Decimal, digits: int) -> str:
    """Format a value with `digits` significant digits and separators, without exponent.

    With more than four digits, there are at least two decimals, as in amounts of money.
    """
    if not value:
        return "0"
    places = max(digits - 1 - value.adjusted(), 2 if digits != ROUGH_DIGITS else 0)
    rounded = value.quantize(Decimal(1).scaleb(-places, _EXACT), ROUND_HALF_EVEN, _EXACT)
    text = f"{rounded:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_usd(value: float) -> str:
    """Format USD with cents; from 10,000 without cents, and below ten cents with two significant digits."""
    if value >= _WITHOUT_CENTS:
        return f"${value:,.0f}"
    if value >= 0.1 or value == 0:
        return f"${value:,.2f}"
    return f"${format_significant(Decimal(repr(value)), 2)}"


def format_rough_usd(value: float) -> str:
    """Format an estimate in USD with `ROUGH_DIGITS` significant digits, 51829320 -> "$51,830,000", and below 1,000 with
    cents."""
    if value < _ROUGH_FROM or not isfinite(value):
        return format_usd(value)
    return f"${format_significant(Decimal(f'{value:.{ROUGH_DIGITS - 1}e}'), ROUGH_DIGITS)}"


def format_megabytes(size_bytes: int) -> str:
    """Format the size of a file in megabytes."""
    return f"{size_bytes / 1e6:,.1f} MB"


def format_percentage(fraction: float) -> str:
    """Format a fraction as a percentage with two decimals: 0.00213 -> "0.21%"."""
    value = fraction * 100
    if value and abs(value) < 0.01:
        return "<0.01%"
    return f"{value:,.2f}%"


def format_bps_rounded_up(gap: float) -> str:
    """Format a gap in basis points with two decimals, rounded up because it is an upper bound."""
    return f"{max(Decimal(repr(gap)), Decimal(0)).quantize(Decimal('0.01'), ROUND_CEILING, _EXACT):,f}"


def format_share(share: int) -> str:
    """Format a share in hundredths of a percent: 6120 -> "61.20%"."""
    return f"{share // 100}.{share % 100:02d}%"


def format_shares(shares: Iterable[int]) -> list[str]:
    """Format shares in hundredths of a percent with one decimal, so that they still add up; without decimals if all are
    whole. Every brief view shows shares in this form, every full one as `format_share` does."""
    shares = list(shares)
    if not any(share % 100 for share in shares):
        return [f"{share // 100}%" for share in shares]
    tenths = [share // 10 for share in shares]
    missing = (sum(shares) + 5) // 10 - sum(tenths)
    for number in sorted(range(len(shares)), key=lambda number: -(shares[number] % 10))[:missing]:
        tenths[number] += 1
    return [f"{each // 10}.{each % 10}%" if each else "<0.1%" for each in tenths]


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """Split `total` in proportion to `weights` into integers that sum to it exactly."""
    weight_sum = sum(weights)
    ends = [total * sum(weights[: i + 1]) // weight_sum for i in range(len(weights))]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def format_time(unix_s: int, *, has_seconds: bool = True) -> str:
    """Format a time for people: "2026-12-01 11:34:32 UTC". A time outside the calendar is formatted as Unix seconds."""
    try:
        moment = datetime.fromtimestamp(unix_s, UTC)
    except (OverflowError, ValueError, OSError):
        return f"{unix_s} s"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC" if has_seconds else f"{moment:%Y-%m-%d %H:%M} UTC"


def format_iso_time(unix_s: int) -> str:
    """Format a time for programs as ISO 8601, "2026-12-01T11:34:32Z". A time outside the calendar is formatted as Unix
    seconds."""
    try:
        return datetime.fromtimestamp(unix_s, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return f"{unix_s} s"


def format_duration(seconds: int) -> str:
    """Format a duration in the largest unit that fits: 7300 -> "2 hours"."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count:,} {unit}{'s' if count > 1 else ''}"
    return f"{seconds} second{'s' if seconds != 1 else ''}"


def format_milliseconds(seconds: float) -> str:
    """Format a short time in whole milliseconds, because decimals differ from run to run: 0.0538 -> "54 ms"."""
    return f"{seconds * 1000:,.0f} ms"


def format_gas_price(wei: int) -> str:
    """Format a gas price for people, with `ROUGH_DIGITS` significant digits: 1094047349 -> "1.094 gwei"."""
    return f"{format_significant(Decimal(wei).scaleb(-9), ROUGH_DIGITS)} gwei"


def format_gwei(wei: int) -> str:
    """Format a gas price in gwei, exactly: 5000000 -> "0.005 gwei"."""
    whole, rest = divmod(wei, 10**9)
    return f"{whole:,}.{rest:09d}".rstrip("0").rstrip(".") + " gwei"
