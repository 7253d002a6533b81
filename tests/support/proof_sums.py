"""Bounds of a proof from its decimal texts alone, in fractions, and what constant-product pools could gain at most."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt
from typing import Any

Document = dict[str, Any]
Direction = tuple[int, int, int]

_SCALE = 10**60


def sums(document: Document) -> Iterator[tuple[str, Fraction, Fraction]]:
    """Yield the kind of each leaf's bound, that bound, and what its prices and terms sum to."""
    gas, route, order = document["gas"], document["route"], document["order"]
    unit, amount = Fraction(gas["unitValue"]), int(route["amountIn"])
    for bound in document["bounds"]:
        is_net = bound["kind"] == "netOfGas"
        for leaf in bound["leaves"]:
            prices = [Fraction(price or 0) for price in leaf["prices"]]
            used = {tuple(each) for each in leaf["used"]}
            gains: dict[int, Fraction] = {}
            for term in leaf["terms"]:
                value, direction = Fraction(term[6]), tuple(term[:3])
                if is_net:
                    value -= unit * document["pools"][term[0]]["gas"]
                    value = value if direction in used else max(value, Fraction(0))
                gains[term[1]] = gains.get(term[1], Fraction(0)) + value
            total = amount * prices[order["tokenIn"]] - (unit * gas["base"] if is_net else 0)
            for token, gain in gains.items():
                net = gain - (unit * gas["tokenBetween"] if is_net and token != order["tokenIn"] else 0)
                if net > 0 or any(direction[1] == token for direction in used):
                    total += net
            yield bound["kind"], Fraction(leaf["bound"]), total


def directions(document: Document) -> Iterator[Direction]:
    """Yield all directions of all pools."""
    for number, pool in enumerate(document["pools"]):
        for i in pool["tokens"]:
            for j in pool["tokens"]:
                if i != j:
                    yield number, i, j


def least_gain(pool: Document, direction: Direction, prices: list[Fraction], limit: Fraction | None) -> Fraction:
    """Return the profit of a sale to a constant-product pool at `prices` that is about the best one up to `limit`.

    y g x / (X + g x) gains most where X + g x = sqrt(g X y v_out / v_in). Any sale is a lower bound.
    """
    i, j = (pool["tokens"].index(token) for token in direction[1:])
    held, paid = (Fraction(int(pool["reserves"][k])) for k in (i, j))
    gamma = Fraction(10**6 - pool["fee_ppm"], 10**6)
    v_in, v_out = prices[direction[1]], prices[direction[2]]
    if v_out * gamma * paid <= v_in * held:
        return Fraction(0)
    if v_in == 0:
        best = limit if limit is not None else held * _SCALE
    else:
        square = gamma * held * paid * v_out / v_in * _SCALE**2
        best = max(Fraction(0), (Fraction(isqrt(square.numerator // square.denominator), _SCALE) - held) / gamma)
    sold = best if limit is None else min(best, limit)
    return v_out * paid * gamma * sold / (held + gamma * sold) - v_in * sold


def covers(document: Document, used: set[Direction]) -> bool:
    """Return whether the routes that use just these directions are within a leaf of the bound net of gas."""
    (bound,) = (each for each in document["bounds"] if each["kind"] == "netOfGas")
    return any(
        used >= {tuple(each) for each in leaf["used"]} and not used & {tuple(each) for each in leaf["unused"]}
        for leaf in bound["leaves"]
    )
