"""Paths of prices with a known refill and volatility, made by a simple market of their own."""

from __future__ import annotations

from math import copysign, exp, log, sqrt
from random import Random
from typing import NamedTuple

from swapcli.quoting.planning.price_path import PricePath


class Market(NamedTuple):
    """A pool beside a price elsewhere, which is a Brownian motion: `volatility` per square root of a second.

    Every `swap_every_s` seconds, on average, a swap moves the pool's price by about `swap_size`. Arbitrageurs come at
    random, so that half of all displacements are met within `half_life_s`, and bring the price back to the fee.
    """

    half_life_s: float | None
    volatility: float = 1e-4
    fee: float = 0.0005
    swap_size: float = 0.003
    swap_every_s: float = 60.0
    hours: float = 4.0
    buys: float = 0.5
    block_s: int = 2

    def path(self, seed: int) -> PricePath:
        """Return a random path of the pool's price."""
        rng = Random(seed)
        elsewhere = price = 0.0
        times_s, log_prices = [0.0], [0.0]
        met = 0.0 if self.half_life_s is None else 1 - exp(-log(2) / self.half_life_s * self.block_s)
        for block in range(int(self.hours * 3600 / self.block_s)):
            elsewhere += rng.gauss(0.0, self.volatility * sqrt(self.block_s))
            moved = price
            if rng.random() < self.block_s / self.swap_every_s:
                moved += (1 if rng.random() < self.buys else -1) * self.swap_size * exp(rng.gauss(0.0, 0.8))
            if abs(price - elsewhere) > self.fee and rng.random() < met:
                moved = elsewhere + copysign(self.fee, price - elsewhere)
            if moved != price:
                price = moved
                times_s.append(float(block * self.block_s))
                log_prices.append(price)
        return PricePath(times_s, log_prices, self.hours * 3600)


def recovering_path(half_life_s: float, residual: float, swaps: int = 30) -> PricePath:
    """Return a path without noise: swaps in both directions, each of which decays exactly, to a residual."""
    times_s, log_prices, base, rng = [0.0], [0.0], 0.0, Random(swaps)
    for k in range(swaps):
        size = rng.choice((-0.01, 0.01))
        for second in range(0, 200, 2):
            left = residual + (1 - residual) * 2 ** (-second / half_life_s)
            times_s.append(300.0 * (k + 1) + second)
            log_prices.append(base + size * left)
        # Somebody takes what is left.
        times_s.append(300.0 * (k + 1) + 290)
        log_prices.append(base)
    return PricePath(times_s, log_prices, 300.0 * (swaps + 2))
