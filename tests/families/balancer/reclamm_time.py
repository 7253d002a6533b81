"""How a ReClAMM's virtual balances move with the block time, as `computeCurrentVirtualBalances` computes it.

A node gives the result. Recorded swaps need the computation, since their pools are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any

from swapcli.core.model.units import WAD
from swapcli.families.balancer.log_exp import power
from swapcli.families.rounding import mul_div_up

_MAX_SECONDS = 30 * 86_400


def virtual_balances_at(now: Mapping[str, Any], live: Sequence[int]) -> list[int]:
    """Return both virtual balances at `now["timestamp"]`; `live` are the balances before the swap."""
    virtual = [int(balance) for balance in now["last_virtual_balances"]]
    seconds = now["timestamp"] - int(now["last_timestamp"])
    if not seconds:
        return virtual
    start, end, start_time, end_time = map(int, now["price_ratio_state"])
    if now["timestamp"] > start_time and int(now["last_timestamp"]) < end_time:
        part = (min(now["timestamp"], end_time) - start_time) * WAD // (end_time - start_time)
        root = end if part == WAD else max(min(start, end), start * _power_down(end * WAD // start, part) // WAD)
        virtual = _at_price_ratio(live, virtual, root)
    centeredness, above = _centeredness(live, virtual)
    if centeredness < int(now["centeredness_margin"]):
        factor = _power_down(int(now["daily_price_shift_base"]), min(seconds, _MAX_SECONDS) * WAD)
        virtual = _shifted(live, virtual, above, factor)
    return virtual


def _at_price_ratio(live: Sequence[int], virtual: Sequence[int], fourth_root: int) -> list[int]:
    """Return the virtual balances with the price ratio `fourth_root`^4 and the centeredness of before."""
    center, above = _centeredness(live, virtual)
    low, high = (0, 1) if above else (1, 0)
    root = fourth_root * fourth_root // WAD
    numerator = WAD + center + isqrt(center * (center + 4 * root - 2 * WAD) + WAD * WAD)
    undervalued = live[low] * numerator // (2 * (root - WAD))
    overvalued = undervalued * virtual[high] // virtual[low]
    return [undervalued, overvalued] if above else [overvalued, undervalued]


def _shifted(live: Sequence[int], virtual: Sequence[int], above: bool, factor: int) -> list[int]:
    """Return the virtual balances after that of the overvalued token has been multiplied by `factor`."""
    low, high = (0, 1) if above else (1, 0)
    product = (live[0] + virtual[0]) * (live[1] + virtual[1]) // WAD
    min_price = virtual[1] * virtual[1] // product
    max_price = product * WAD // (virtual[0] * virtual[0] // WAD)
    root = isqrt(mul_div_up(max_price, WAD, min_price) * WAD)
    overvalued = max(virtual[high] * factor // WAD, live[high] * WAD // (isqrt(root * WAD) - WAD))
    undervalued = live[low] * (overvalued + live[high]) // ((root - WAD) * overvalued // WAD - live[high])
    return [undervalued, overvalued] if above else [overvalued, undervalued]


def _centeredness(live: Sequence[int], virtual: Sequence[int]) -> tuple[int, bool]:
    """Return how close the price is to the center of the range, and whether it is above it."""
    if not (live[0] and live[1]):
        return 0, bool(live[0])
    first, second = live[0] * virtual[1], virtual[0] * live[1]
    return min(first, second) * WAD // max(first, second), first > second


def _power_down(base: int, exponent: int) -> int:
    """Return base ^ exponent less the library's margin."""
    if exponent == WAD:
        return base
    if exponent in (2 * WAD, 4 * WAD):
        square = base * base // WAD
        return square if exponent == 2 * WAD else square * square // WAD
    raw = power(base, exponent)
    return max(0, raw - mul_div_up(raw, 10_000, WAD) - 1)
