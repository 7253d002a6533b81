"""A plausible state for a concentrated pool: many overlapping positions around the price, and one wide one below all.

The depth is the value of the positions; deeper pools have more of them. The active liquidity is the sum of what the
positions that hold the price add, so the ticks and the liquidity agree to the unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from swapcli.families import tick_math
from swapcli.families.ekubo.ekubo_tick_math import Q128, STARKNET_TICKS
from tests.generate.modelling.exact import SeededRandom

_MIN_TICKS, _MAX_TICKS = 20, 110
_DEPTH_PER_TICK_USD = 300_000
_WIDE_SHARE = Decimal("0.12")
_SPREAD = Decimal("0.9")


@dataclass(frozen=True, slots=True)
class TickScale:
    """The ticks of a protocol: `unit` is a square-root ratio of one; `ticks_per_bps` is about the ticks of a bps."""

    unit: int
    max_tick: int
    ratio_at: Callable[[int], int]
    tick_at: Callable[[int], int]
    ticks_per_bps: int


UNISWAP_TICKS = TickScale(
    tick_math.Q96, tick_math.MAX_TICK, tick_math.sqrt_ratio_at_tick, tick_math.tick_at_sqrt_ratio, 1
)
EKUBO_TICKS = TickScale(Q128, STARKNET_TICKS.max_tick, STARKNET_TICKS.ratio_at, STARKNET_TICKS.tick_at, 100)


@dataclass(frozen=True, slots=True)
class Widths:
    """Half-widths of positions in ticks: the narrowest, the widest ordinary one, the one wide position."""

    narrow: int
    broad: int
    wide: int

    def at_least(self, spacing: int, ticks_per_bps: int) -> Widths:
        """Wide enough that the positions of a pool end on many different ticks."""
        narrow, broad, wide = (width * ticks_per_bps for width in (self.narrow, self.broad, self.wide))
        return Widths(max(narrow, spacing), max(broad, 60 * spacing), max(wide, 120 * spacing))


_PEGGED = Widths(3, 260, 3_000)
_VOLATILE = {100: Widths(150, 6_000, 24_000), 3_000: Widths(400, 16_000, 46_000), 10_000: Widths(1_200, 40_000, 92_000)}


def concentrated_state(
    price: Decimal,
    unit_values: Sequence[Decimal],
    depth_usd: int,
    fee_ppm: int,
    spacing: int,
    pegged: bool,
    random: SeededRandom,
    scale: TickScale = UNISWAP_TICKS,
    ratio_name: str = "sqrt_price_x96",
) -> dict[str, object]:
    """`sqrt_price_x96`, `tick`, `liquidity`, `tick_spacing` and `ticks` of the market format."""
    sqrt_ratio = int(price.sqrt() * scale.unit)
    tick = scale.tick_at(sqrt_ratio)
    widths = _widths(fee_ppm, pegged).at_least(spacing, scale.ticks_per_bps)
    ranges = _draw_ranges(tick, spacing, widths, _tick_count(depth_usd), random, scale.max_tick)
    nets: dict[int, int] = {}
    for (lower, upper), value_usd in zip(ranges, _split_depth(depth_usd, len(ranges), random), strict=True):
        added = int(value_usd / _value_per_liquidity(scale, sqrt_ratio, lower, upper, unit_values))
        nets[lower] = nets.get(lower, 0) + added
        nets[upper] = nets.get(upper, 0) - added
    entries = sorted((at, net) for at, net in nets.items() if net)
    return {
        ratio_name: str(sqrt_ratio),
        "tick": tick,
        "liquidity": str(sum(net for at, net in entries if at <= tick)),
        "tick_spacing": spacing,
        "ticks": [[at, str(net)] for at, net in entries],
    }


def _tick_count(depth_usd: int) -> int:
    """Return the number of ticks: 20 for the smallest pools, 110 for the deepest."""
    return min(_MAX_TICKS, _MIN_TICKS + depth_usd // _DEPTH_PER_TICK_USD)


def _widths(fee_ppm: int, pegged: bool) -> Widths:
    """Pools with a low fee attract narrow positions."""
    if pegged:
        return _PEGGED
    return next((widths for fee, widths in _VOLATILE.items() if fee_ppm <= fee), _VOLATILE[10_000])


def _draw_ranges(
    tick: int, spacing: int, widths: Widths, tick_count: int, random: SeededRandom, max_tick: int
) -> list[tuple[int, int]]:
    """Return ranges with `tick_count` different bounds or just more, the wide one first."""
    ranges = [_usable_range(tick, widths.wide, spacing, max_tick)]
    bounds = set(ranges[0])
    while len(bounds) < tick_count:
        half = int(random.log_uniform(widths.narrow, widths.broad))
        centre = tick + int(half * _SPREAD * (random.symmetric_uniform() + random.symmetric_uniform()) / 2)
        ranges.append(_usable_range(centre, half, spacing, max_tick))
        bounds |= set(ranges[-1])
    return ranges


def _usable_range(centre: int, half: int, spacing: int, max_tick: int) -> tuple[int, int]:
    """Return the range from centre - half to centre + half, widened to usable ticks within a pool's limits."""
    max_index = max_tick // spacing
    lower = max(-max_index, (centre - half) // spacing)
    upper = min(max_index, max(lower + 1, -((-centre - half) // spacing)))
    return lower * spacing, upper * spacing


def _split_depth(depth_usd: int, count: int, random: SeededRandom) -> list[Decimal]:
    """Split the depth over the positions: a fixed part for the first, the rest at random."""
    weights = [random.exponential() for _ in range(count - 1)]
    rest = depth_usd * (1 - _WIDE_SHARE) / sum(weights, Decimal(0))
    return [depth_usd * _WIDE_SHARE, *(weight * rest for weight in weights)]


def _value_per_liquidity(
    scale: TickScale, sqrt_ratio: int, lower: int, upper: int, unit_values: Sequence[Decimal]
) -> Decimal:
    """Return the value in USD of one unit of liquidity: (1/s - 1/b) of token 0 and (s - a) of token 1, where s is
    the square root of the price, kept between those of the range's ends a and b."""
    low, high = (Decimal(scale.ratio_at(tick)) / scale.unit for tick in (lower, upper))
    root = min(max(Decimal(sqrt_ratio) / scale.unit, low), high)
    return (1 / root - 1 / high) * unit_values[0] + (root - low) * unit_values[1]
