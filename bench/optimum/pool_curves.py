"""Make the curves of a pool's two directions from its entry in a market file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from bench.optimum.curves import SegmentCurve, StableCurve, WeightedCurve, stable_balance
from bench.optimum.tick_math import Q96

Curve = SegmentCurve | WeightedCurve | StableCurve

_HALF_TICK = math.log(1.0001) / 2
_ROUNDS = 255


class TokenUnits(NamedTuple):
    """The number of a token in the market, its decimals, and its price in dollars."""

    number: int
    decimals: int
    price_usd: float

    @property
    def unit_usd(self) -> float:
        """The dollar value of a base unit."""
        base_units: int = 10**self.decimals
        return self.price_usd / base_units


def curves_of(pool: Mapping[str, Any], first: TokenUnits, second: TokenUnits) -> tuple[Curve, Curve]:
    """Return the curves that sell the first and the second token of a two-token pool."""
    kept = 1 - pool["fee_ppm"] / 1e6
    x, y = (int(each) for each in pool["reserves"])
    family = pool["family"]
    if family == "constant_product":
        x_usd, y_usd = x * first.unit_usd, y * second.unit_usd
        liquidity, root = math.sqrt(x_usd * y_usd), math.sqrt(y_usd / x_usd)
        return SegmentCurve([root], [liquidity], kept), SegmentCurve([1 / root], [liquidity], kept)
    if family == "concentrated":
        return _concentrated(pool, first, second, kept)
    if family == "weighted":
        weight_in, weight_out = (int(each) for each in pool["weights"])
        x_usd, y_usd = x * first.unit_usd, y * second.unit_usd
        return (
            WeightedCurve(x_usd, y_usd, weight_in / weight_out, kept),
            WeightedCurve(y_usd, x_usd, weight_out / weight_in, kept),
        )
    return _stable(pool, first, second, kept)


def _concentrated(
    pool: Mapping[str, Any], first: TokenUnits, second: TokenUnits, kept: float
) -> tuple[SegmentCurve, SegmentCurve]:
    """Return a piece for each range between two initialized ticks, from the price in both directions."""
    scale, depth = math.sqrt(second.unit_usd / first.unit_usd), math.sqrt(first.unit_usd * second.unit_usd)
    start, tick = int(pool["sqrt_price_x96"]) / Q96 * scale, pool["tick"]
    ticks = [(number, int(net)) for number, net in pool["ticks"]]
    below = [(number, -net) for number, net in reversed(ticks) if number <= tick]
    above = [(number, net) for number, net in ticks if number > tick]
    liquidity = int(pool["liquidity"])
    down = [math.exp(number * _HALF_TICK) * scale for number, _ in below]
    up = [1 / (math.exp(number * _HALF_TICK) * scale) for number, _ in above]
    return (
        _pieces(start, down, _running(liquidity, below), depth, kept),
        _pieces(1 / start, up, _running(liquidity, above), depth, kept),
    )


def _running(liquidity: int, changes: Sequence[tuple[int, int]]) -> list[int]:
    values = [liquidity]
    for _, change in changes:
        values.append(values[-1] + change)
    return values


def _pieces(start: float, roots: list[float], liquidities: Sequence[int], depth: float, kept: float) -> SegmentCurve:
    # The price may be at a tick, where real numbers put it slightly beyond.
    roots = [start, *(min(root, start) for root in roots)]
    return SegmentCurve(roots, [each * depth for each in liquidities], kept)


def _stable(
    pool: Mapping[str, Any], first: TokenUnits, second: TokenUnits, kept: float
) -> tuple[StableCurve, StableCurve]:
    is_solidly = pool["family"] == "solidly_stable"
    rates = [1.0, 1.0] if is_solidly else [int(rate) / 1e18 for rate in pool["rates"]]
    tokens = first, second
    x, y = (
        int(reserve) / 10**token.decimals * rate
        for reserve, token, rate in zip(pool["reserves"], tokens, rates, strict=True)
    )
    units = [token.price_usd / rate for token, rate in zip(tokens, rates, strict=True)]
    ann = 0.0 if is_solidly else 2.0 * pool["amp"]
    invariant = x**3 * y + x * y**3 if is_solidly else _stableswap_invariant(x, y, ann)
    # The other balance comes from the curve, so that a zero input gives exactly zero output.
    return (
        StableCurve(x, stable_balance(x, invariant, ann), invariant, ann, kept, units[0], units[1]),
        StableCurve(y, stable_balance(y, invariant, ann), invariant, ann, kept, units[1], units[0]),
    )


def _stableswap_invariant(x: float, y: float, ann: float) -> float:
    """Return D of two balances, by Newton's method."""
    d = x + y
    for _ in range(_ROUNDS):
        product = d**3 / (4 * x * y)
        before, d = d, (ann * (x + y) + 2 * product) * d / ((ann - 1) * d + 3 * product)
        if abs(d - before) <= 1e-15 * before:
            break
    return d
