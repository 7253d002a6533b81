"""Estimate the liquidity of a pool in USD, to compare pools."""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

from swapcli.core.model.pool import Pool
from swapcli.core.records import NamedTuple
from swapcli.core.selection.depth_ranking import pool_legs

UnitPrices = Mapping[str, float]
"""USD per base unit, by token address."""


class PairFigures(NamedTuple):
    """The mid price of a pair, in base units of the second token per unit of the first, and its depth in USD."""

    pair: tuple[str, str]
    rate: float
    depth_usd: float | None


def liquidity_usd(pool: Pool, prices: UnitPrices) -> float | None:
    """Return the approximate value that orders could trade in a pool, summed over all pairs of its tokens; None if
    unknown."""
    depths = [figures.depth_usd for figures in without_own_token(pool, pair_figures(pool, prices))]
    known = [depth for depth in depths if depth is not None]
    return sum(known) if known else None


def pair_figures(pool: Pool, prices: UnitPrices) -> list[PairFigures]:
    """Return the price and depth of each pair that the pool trades in both directions. The depth is the value of the
    smaller of the pair's two sides."""
    figures = []
    for leg in pool_legs(0, pool, range(len(pool.tokens))):
        if leg.up is None or leg.down is None:
            continue
        low, high = pool.tokens[leg.low], pool.tokens[leg.high]
        sides = [
            amount * prices[token] for token, amount in ((low, leg.in_low), (high, leg.in_high)) if token in prices
        ]
        figures.append(PairFigures((low, high), exp((leg.up - leg.down) / 2), min(sides) if sides else None))
    return figures


def without_own_token(pool: Pool, pairs: list[PairFigures]) -> list[PairFigures]:
    """Return the pairs that do not contain the pool's own token, which represents the other tokens. If all contain it,
    return all pairs."""
    return [figures for figures in pairs if pool.address not in figures.pair] or pairs
