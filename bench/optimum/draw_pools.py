"""Draw the pools of a generated market, by family."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from typing import Any

from bench.optimum.draws import Draws, MadeUpToken, Pair
from bench.optimum.tick_math import MAX_TICK, MIN_TICK, Q96, sqrt_price_at

PoolDocument = dict[str, Any]

_CONSTANT_PRODUCT_PART, _CONCENTRATED_PART, _STABLE_PART = 0.60, 0.90, 0.95  # cumulative; the rest is weighted
_COVERING_PART = 0.5  # the first pools: each tail token gets at least one
_TICK_SPACINGS = {100: 1, 500: 10, 3_000: 60, 10_000: 200}
_WIDTHS = {100: (2, 200), 500: (40, 6_000), 3_000: (600, 30_000), 10_000: (2_000, 60_000)}
"""Minimum and maximum width of a position in ticks, by fee."""
_MIN_TICKS, _MAX_TICKS = 10, 200
_WIDE_PART = 0.1  # share of a pool's value in its widest position
_BISECTIONS = 100
_DIGITS = 80


def draw_pools(draws: Draws) -> list[PoolDocument]:
    """Return the pools of the market: families in fixed proportions, shuffled at the end."""
    pools = [_pool(draws, number) for number in range(draws.pools)]
    draws.rng.shuffle(pools)
    return pools


def _pool(draws: Draws, number: int) -> PoolDocument:
    place, tail = number / draws.pools, len(draws.tokens) - draws.hubs
    if _CONCENTRATED_PART <= place < _STABLE_PART:
        return _stable(draws, draws.stable_pair())
    is_constant_product = place < _CONSTANT_PRODUCT_PART
    is_covering = is_constant_product and number < tail and number < int(_COVERING_PART * draws.pools)
    pair = draws.pair(draws.hubs + number if is_covering else None)
    value_usd = draws.value_usd(pair)
    if is_constant_product:
        return _constant_product(draws, pair, value_usd)
    return (_concentrated if place < _CONCENTRATED_PART else _weighted)(draws, pair, value_usd)


def _start(draws: Draws, family: str, tokens: tuple[MadeUpToken, MadeUpToken], fee_ppm: int) -> PoolDocument:
    addresses = [token.address for token in tokens]
    return {"address": draws.address(), "family": family, "tokens": addresses, "fee_ppm": fee_ppm}


def _constant_product(draws: Draws, pair: Pair, value_usd: float) -> PoolDocument:
    first, second = tokens = draws.sorted_tokens(pair)
    fee_ppm = 3_000
    pool = _start(draws, "constant_product", tokens, fee_ppm)
    push = math.sqrt(1 + draws.price_error(fee_ppm))
    reserves = first.units(value_usd / 2 / push), second.units(value_usd / 2 * push)
    return {**pool, "reserves": [str(each) for each in reserves]}


def _weighted(draws: Draws, pair: Pair, value_usd: float) -> PoolDocument:
    first, second = tokens = draws.sorted_tokens(pair)
    fee_ppm = draws.rng.choice((1_000, 2_500, 3_000, 10_000))
    percent = draws.rng.choice((20, 30, 40, 50, 60, 70, 80))
    pool = _start(draws, "weighted", tokens, fee_ppm)
    push = math.sqrt(1 + draws.price_error(fee_ppm))
    reserves = (
        first.units(value_usd * percent / 100 / push),
        second.units(value_usd * (100 - percent) / 100 * push),
    )
    weights = percent * 10**16, (100 - percent) * 10**16
    return {**pool, "reserves": [str(each) for each in reserves], "weights": [str(each) for each in weights]}


def _stable(draws: Draws, pair: Pair) -> PoolDocument:
    tokens = draws.sorted_tokens(pair)
    value_usd = draws.value_usd(pair)
    are_dollars = all(token.group == "usd" for token in tokens)
    if are_dollars and draws.rng.random() < 0.4:
        return _solidly_stable(draws, tokens, value_usd)
    return _stableswap(draws, tokens, value_usd, are_dollars)


def _solidly_stable(draws: Draws, tokens: tuple[MadeUpToken, MadeUpToken], value_usd: float) -> PoolDocument:
    fee_ppm = draws.rng.choice((100, 500))
    pool = _start(draws, "solidly_stable", tokens, fee_ppm)
    price = tokens[0].price_usd / tokens[1].price_usd * (1 + draws.price_error(fee_ppm))
    parts = _balances(lambda x, y: (3 * x * x * y + y**3) / (x**3 + 3 * x * y * y), price)
    reserves = [int(part * value_usd * 10**token.decimals) for part, token in zip(parts, tokens, strict=True)]
    return {**pool, "reserves": [str(each) for each in reserves]}


def _stableswap(
    draws: Draws, tokens: tuple[MadeUpToken, MadeUpToken], value_usd: float, are_dollars: bool
) -> PoolDocument:
    fee_ppm = draws.rng.choice((100, 400))
    pool = _start(draws, "stableswap", tokens, fee_ppm)
    amplification = draws.rng.choice((100, 200, 500, 1_000, 2_000))
    unit_usd = 1.0 if are_dollars else 3_000.0
    rates = [10**18 if are_dollars else int(round(token.price_usd / unit_usd, 4) * 10**4) * 10**14 for token in tokens]
    first, second = (
        token.price_usd / unit_usd / (rate / 1e18) for token, rate in zip(tokens, rates, strict=True)
    )  # of a unit of each balance
    price = first / second * (1 + draws.price_error(fee_ppm))
    parts = _balances(lambda x, y: _stableswap_price(x, y, 2 * amplification), price)
    reserves = [
        int(part * value_usd / unit_usd / (rate / 1e18) * 10**token.decimals)
        for part, rate, token in zip(parts, rates, tokens, strict=True)
    ]
    return {
        **pool,
        "amp": amplification,
        "rates": [str(rate) for rate in rates],
        "reserves": [str(each) for each in reserves],
    }


def _stableswap_price(x: float, y: float, ann: int) -> float:
    """Return the first balance's price in the second on Curve's curve with A * n = `ann`."""
    d = x + y
    for _ in range(_BISECTIONS):
        product = d**3 / (4 * x * y)
        better = (ann * (x + y) + 2 * product) * d / ((ann - 1) * d + 3 * product)
        if abs(better - d) < 1e-15 * d:
            break
        d = better
    k = d**3 / 4
    return (ann + k / (x * x * y)) / (ann + k / (x * y * y))


def _balances(price_at: Callable[[float, float], float], price: float) -> tuple[float, float]:
    """Return balances that sum to 1 at which the first has this price in the second; by bisection."""
    low, high = 1e-4, 1 - 1e-4
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if price_at(middle, 1 - middle) > price:
            low = middle
        else:
            high = middle
    return low, 1 - low


def _concentrated(draws: Draws, pair: Pair, value_usd: float) -> PoolDocument:
    tokens = draws.sorted_tokens(pair)
    fee_ppm = _concentrated_fee(draws, tokens, pair.kind)
    pool = _start(draws, "concentrated", tokens, fee_ppm)
    price = tokens[0].unit_usd / tokens[1].unit_usd * (1 + draws.price_error(fee_ppm))
    with localcontext(prec=_DIGITS):
        sqrt_price = int(Decimal(price).sqrt() * Q96)
    positions = _Positions(draws, tokens, fee_ppm, sqrt_price, _tick_of(price, sqrt_price))
    positions.draw(value_usd)
    return {**pool, **positions.state()}


def _concentrated_fee(draws: Draws, tokens: tuple[MadeUpToken, MadeUpToken], kind: str) -> int:
    if all(token.group == "usd" for token in tokens):
        return draws.rng.choice((100, 100, 500))
    if kind == "hub":
        return draws.rng.choices((100, 500, 3_000, 10_000), (1, 5, 4, 1))[0]
    return draws.rng.choices((500, 3_000, 10_000), (1, 5, 5))[0]


def _tick_of(price: float, sqrt_price: int) -> int:
    """Return the tick of a price: the logarithm is a guess, integers decide."""
    tick = math.floor(math.log(price) / math.log(1.0001))
    while sqrt_price_at(tick) > sqrt_price:
        tick -= 1
    while sqrt_price_at(tick + 1) <= sqrt_price:
        tick += 1
    return tick


class _Positions:
    """The positions of a concentrated pool: one wide, the others of random widths around the price."""

    def __init__(
        self, draws: Draws, tokens: tuple[MadeUpToken, MadeUpToken], fee_ppm: int, sqrt_price: int, tick: int
    ) -> None:
        self._rng, self._tokens = draws.rng, tokens
        self._spacing, self._width = _TICK_SPACINGS[fee_ppm], _WIDTHS[fee_ppm]
        self._sqrt_price, self._tick = sqrt_price, tick
        self._net: dict[int, int] = {}
        self._liquidity = 0
        self._balances = [0.0, 0.0]

    def draw(self, value_usd: float) -> None:
        """Draw the positions; their number depends on the pool's value."""
        ticks = 10 * (value_usd / 2e3) ** 0.35 * self._rng.uniform(0.6, 1.6)
        count = int(min(_MAX_TICKS, max(_MIN_TICKS, ticks))) // 2
        shares = [self._rng.expovariate(1) + 1e-3 for _ in range(count)]
        total = math.fsum(shares)
        least, most = self._width
        self._add(most, self._tick, value_usd * _WIDE_PART)
        for share in shares[1:]:
            half = math.exp(self._rng.uniform(math.log(least), math.log(most))) / 2
            self._add(half, self._tick + self._rng.gauss(0, half * 0.8), value_usd * 0.9 * share / total)

    def _add(self, half: float, center: float, value_usd: float) -> None:
        spacing = self._spacing
        lower = max(MIN_TICK // spacing * spacing + spacing, int((center - half) // spacing) * spacing)
        upper = min(
            MAX_TICK // spacing * spacing, max(lower + spacing, int((center + half) // spacing) * spacing + spacing)
        )
        low, high = 1.0001 ** (lower / 2), 1.0001 ** (upper / 2)
        now = min(max(self._sqrt_price / Q96, low), high)
        first, second = 1 / now - 1 / high, now - low  # balances for each unit of liquidity
        liquidity = int(value_usd / (first * self._tokens[0].unit_usd + second * self._tokens[1].unit_usd))
        if liquidity <= 0:
            return
        self._net[lower] = self._net.get(lower, 0) + liquidity
        self._net[upper] = self._net.get(upper, 0) - liquidity
        self._balances[0] += first * liquidity
        self._balances[1] += second * liquidity
        if lower <= self._tick < upper:
            self._liquidity += liquidity

    def state(self) -> PoolDocument:
        """Return the state of the pool with these positions."""
        return {
            "tick_spacing": self._spacing,
            "tick": self._tick,
            "sqrt_price_x96": str(self._sqrt_price),
            "liquidity": str(self._liquidity),
            "ticks": [[tick, str(self._net[tick])] for tick in sorted(self._net) if self._net[tick]],
            "reserves": [str(int(balance) + 1) for balance in self._balances],
        }
