"""The prices and the liquidity of Maverick V2's ticks, which equal its libraries' results to the unit.

The libraries `TickMath` and `Math` are published (github maverickprotocol/v2-common, commit d91e871); amounts and
square-root prices have 18 decimals. A price is token A per token B; it rises with the ticks.
"""

from __future__ import annotations

from functools import lru_cache
from math import isqrt

from swapcli.core.annotations import Final
from swapcli.core.model.units import WAD
from swapcli.core.records import NamedTuple
from swapcli.families.rounding import div_up, mul_div_up

MAX_SUB_TICK: Final = 322_378
"""The greatest product of a tick and the tick spacing. Each sub-tick multiplies the price by 1.0001."""

_ONE_SQUARED: Final = WAD * WAD
# 2^128 * 1.0001^(-2^k / 2), as Uniswap V3 has them, for k = 0 ... 18.
_FACTORS: Final = (
    0xFFFCB933BD6FAD9D3AF5F0B9F25DB4D6,
    0xFFF97272373D41FD789C8CB37FFCAA1C,
    0xFFF2E50F5F656AC9229C67059486F389,
    0xFFE5CACA7E10E81259B3CDDC7A064941,
    0xFFCB9843D60F67B19E8887E0BD251EB7,
    0xFF973B41FA98CD2E57B660BE99EB2C4A,
    0xFF2EA16466C9838804E327CB417CAFCB,
    0xFE5DEE046A99D51E2CC356C2F617DBE0,
    0xFCBE86C7900AECF64236AB31F1F9DCB5,
    0xF987A7253AC4D9194200696907CF2E37,
    0xF3392B0822B88206F8ABE8A3B44DD9BE,
    0xE7159475A2C578EF4F1D17B2B235D480,
    0xD097F3BDFD254EE83BDD3F248E7E785E,
    0xA9F746462D8F7DD10E744D913D033333,
    0x70D869A156DDD32A39E257BC3F50AA9B,
    0x31BE135F97DA6E09A19DC367E3B6DA40,
    0x9AA508B5B7E5A9780B0CC4E25D61A56,
    0x5D6AF8DEDBCB3A6CCB7CE618D14225,
    0x2216E584F630389B2052B8DB590E,
)
_SMALL_BITS: Final = 78
_SMALL_SHIFT: Final = 57
"""The limit below which both reserves (2^78) are shifted up by 57 bits, and the computed liquidity is shifted back
down."""


class TickPrices(NamedTuple):
    """The square-root prices of a tick's edges and the current price between them, with 18 decimals, and the
    liquidity."""

    low: int
    high: int
    price: int
    liquidity: int


@lru_cache(maxsize=1 << 14)
def sqrt_price_of_tick(sub_tick: int) -> int:
    """Return the square-root price at `sub_tick`, a tick times the spacing, with 18 decimals."""
    ratio = 1 << 128
    for k, factor in enumerate(_FACTORS):
        if abs(sub_tick) >> k & 1:
            ratio = ratio * factor >> 128
    if sub_tick > 0:
        ratio = ((1 << 256) - 1) // ratio
    return ratio * WAD >> 128


def prices_in_tick(tick: int, tick_spacing: int, reserve_a: int, reserve_b: int) -> TickPrices:
    """Return the prices and the liquidity of a tick with the given reserves, of which at least one is above 0. All
    numbers have 18 decimals."""
    low, high = sqrt_price_of_tick(tick * tick_spacing), sqrt_price_of_tick((tick + 1) * tick_spacing)
    liquidity = _liquidity(reserve_a, reserve_b, low, high)
    if not reserve_a:
        return TickPrices(low, high, low, liquidity)
    if not reserve_b:
        return TickPrices(low, high, high, liquidity)
    above = (reserve_a + liquidity * low // WAD) * WAD
    below = reserve_b + liquidity * WAD // high
    price = isqrt(WAD * (above // below))
    return TickPrices(low, high, min(max(price, low), high), liquidity)


def _liquidity(reserve_a: int, reserve_b: int, low: int, high: int) -> int:
    """Return the liquidity of a tick, a lower bound on the solution of its quadratic equation."""
    difference, shift = high - low, 0
    if not (reserve_a | reserve_b) >> _SMALL_BITS:
        shift = _SMALL_SHIFT
        reserve_a, reserve_b = reserve_a << shift, reserve_b << shift
    if not reserve_b:
        return reserve_a * WAD // difference >> shift
    if not reserve_a:
        return (reserve_b * low // WAD) * high // difference >> shift
    half = reserve_a * WAD // high + reserve_b * low // WAD >> 1
    product = (reserve_b * reserve_a // WAD) * difference // high
    root = isqrt(half * half // WAD + product)
    return (half + root * 10**9) * high // difference >> shift


def input_for_output(prices: TickPrices, amount_out: int, sells_a: bool) -> int:
    """Return the input, without the fee and rounded up, that buys `amount_out` from a tick; both have 18 decimals."""
    price, liquidity = prices.price, prices.liquidity
    per_liquidity = mul_div_up(amount_out, WAD, liquidity) if liquidity else 0
    if sells_a:
        return mul_div_up(amount_out, price, max(_ONE_SQUARED // price - per_liquidity, 1))
    return mul_div_up(amount_out, WAD, max(price * (price - per_liquidity) // WAD, 1))


def output_for_input(prices: TickPrices, amount_in: int, sells_a: bool) -> int:
    """Return the output of a tick for an input without the fee, rounded down; both have 18 decimals."""
    price = prices.price
    per_liquidity = mul_div_up(amount_in, WAD, prices.liquidity + 1)
    if sells_a:
        return amount_in * (_ONE_SQUARED // price) // (per_liquidity + price)
    return amount_in * price // (per_liquidity + div_up(_ONE_SQUARED, price))
