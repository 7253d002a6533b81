"""Compute a proof's bounds from its decimal texts alone, as fractions, and the least gain of constant-product pools."""

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
        is_net = bound["kind"] == "afterGas"
        for leaf in bound["leaves"]:
            price = Fraction(leaf["product"] if is_net else leaf["prices"][order["tokenIn"]] or 0)
            used = {tuple(each) for each in leaf["used"]}
            gains: dict[int, Fraction] = {}
            for term in leaf["terms"]:
                value, direction = Fraction(term[6]), tuple(term[:3])
                if is_net:
                    value -= unit * document["pools"][term[0]]["gas"]
                    value = value if direction in used else max(value, Fraction(0))
                gains[term[1]] = gains.get(term[1], Fraction(0)) + value
            total = amount * price - (unit * gas["base"] if is_net else 0)
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


def least_gain(
    pool: Document, direction: Direction, prices: list[Fraction] | dict[int, Fraction], limit: Fraction | None
) -> Fraction:
    """Return the profit of a near-optimal sale of at most `limit` to a constant-product pool at `prices`.

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


def hop_rates(document: Document, bound: Document, leaf: Document) -> dict[tuple[int, int], float]:
    """Return the rates of a leaf's hops: the listed ones, otherwise the best spot rate of its directions."""
    sold, bought = document["order"]["tokenIn"], document["order"]["tokenOut"]
    left_out = {tuple(each) for each in document["scope"]["dust"] + leaf["unused"]}
    before, rates = follows(leaf["before"]), dict[tuple[int, int], float]()
    for number, i, j, rate in bound["limits"]["spotRates"]:
        if (number, i, j) not in left_out and i != bought and j != sold and (j, i) not in before:
            rates[i, j] = max(rates.get((i, j), 0.0), float(rate))
    return rates | {(i, j): float(rate) for i, j, rate in leaf["rates"] if (i, j) in rates}


def follows(before: list[list[int]]) -> set[tuple[int, int]]:
    """Return ordered pairs of tokens, and all pairs that follow from them."""
    found = {(i, j) for i, j in before}
    while more := {(i, k) for i, j in found for m, k in found if j == m} - found:
        found |= more
    return found


def best_product(
    rates: dict[tuple[int, int], float], passed: list[int], target: int, hops: int, before: list[list[int]]
) -> float:
    """Return the largest product of rates on a path from the last token passed, by trying all that may be better."""
    most, order = [{target: 1.0}], follows(before)
    for _ in range(hops):
        longer = dict(most[-1])
        for (i, j), rate in rates.items():
            longer[i] = max(longer.get(i, 0.0), rate * most[-1].get(j, 0.0))
        most.append(longer)
    best = 0.0

    def extend(path: list[int], product: float, left: int) -> None:
        nonlocal best
        if path[-1] == target:
            best = max(best, product)
            return
        for (i, j), rate in rates.items():
            is_open = i == path[-1] and j not in path and not any((j, each) in order for each in path)
            if is_open and left and product * rate * most[left - 1].get(j, 0.0) > best:
                extend([*path, j], product * rate, left - 1)

    extend(list(passed), 1.0, hops)
    return best


def covers(document: Document, used: set[Direction], order: list[int]) -> bool:
    """Return whether the routes that use exactly these directions, with their tokens in an order, are within a leaf of
    the bound net of gas."""
    (bound,) = (each for each in document["bounds"] if each["kind"] == "afterGas")
    return any(
        used >= {tuple(each) for each in leaf["used"]}
        and not used & {tuple(each) for each in leaf["unused"]}
        and all(order.index(i) < order.index(j) for i, j in leaf["before"])
        for leaf in bound["leaves"]
    )
