"""Prove an upper bound on every route, and find a route close to it.

python -m bench.optimum.bound MARKET [--families all] [--json]

For any prices v of the tokens, with 1 for the token bought, every routing of at most A of the token sold (any pools,
splits, hops and cycles, each direction of a pool once) pays at most

v_sold * A + the sum over all directions of max over x of v_out * f(x) - v_in * x,

because what moves between pools is paid for at the same price on both sides (weak duality). The prices that make this
sum least are found by `newton`; whatever it finds, the sum is a bound. Amounts are real numbers, with a relative error
of about 1e-11. Rounding and gas only make real routes worse, except in stable pools of Solidly: they round their fee
down, and so may pay for up to a base unit of the sold token more.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from bench.optimum.curves import (
    Curves,
    Floats,
    Integers,
    SegmentCurve,
    SegmentCurves,
    StableCurve,
    StableCurves,
    WeightedCurve,
    WeightedCurves,
)
from bench.optimum.newton import Trades, minimize
from bench.optimum.pool_curves import Curve, TokenUnits, curves_of
from bench.report.figures import gap_bps

EXACT_FAMILIES = ("constant_product", "concentrated")
ALL_FAMILIES = (*EXACT_FAMILIES, "weighted", "stableswap", "solidly_stable")

_KINDS: Sequence[tuple[type[Curve], Callable[[Any], Curves]]] = (
    (SegmentCurve, SegmentCurves),
    (WeightedCurve, WeightedCurves),
    (StableCurve, StableCurves),
)
_MAX_DISTANCE = 60.0  # the logarithm of the lowest initial price of a token
_LEAST_LENGTH = 1e-12  # the shortest-path search needs non-negative lengths
_LEAST_PART = 1e-9  # share of the order: smaller trades are noise, not part of a route

Leg = tuple[str, str, str, float]
"""A pool, the tokens sold and bought, and the share of the remaining balance of the token sold."""


class Bound(NamedTuple):
    """The bound for an order in base units, and the output of a route close to it; None if the trades form a cycle.

    `residual` is the largest unbalanced amount at the prices found, as a share of the order: small if the prices are
    optimal.
    """

    bound: float
    route_out: float | None
    legs: int
    residual: float
    iterations: int
    seconds: float


class _Kind(NamedTuple):
    """The curves of one kind, with the numbers of their directions."""

    curves: Curves
    directions: Integers


class Market:
    """The curves of all two-token pools of some families.

    Example: `Market(document).bound(weth, usdc, 10**18).bound`.
    """

    def __init__(self, document: Mapping[str, Any], families: Sequence[str] = EXACT_FAMILIES) -> None:
        self._tokens = {
            token["address"]: TokenUnits(number, token["decimals"], token["price_usd"])
            for number, token in enumerate(document["tokens"])
        }
        self.token_count = len(self._tokens)
        self._number: dict[tuple[str, int], int] = {}  # of a direction, by pool and sold token
        curves: list[Curve] = []
        ends: list[tuple[int, int]] = []
        for pool in document["pools"]:
            if pool["family"] in families:
                first, second = (self._tokens[address] for address in pool["tokens"])
                for (sold, bought), curve in zip(
                    ((first, second), (second, first)), curves_of(pool, first, second), strict=True
                ):
                    self._number[pool["address"], sold.number] = len(curves)
                    curves.append(curve)
                    ends.append((sold.number, bought.number))
        self.token_in, self.token_out = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        kinds = (_kind(curves, record, build) for record, build in _KINDS)
        self._kinds = [kind for kind in kinds if len(kind.directions)]
        self._place = self._places()
        self.log_thresholds = self._log_thresholds()
        self._graph = self._cheapest_graph()

    def _places(self) -> list[tuple[Curves, int]]:
        """Return where each direction's curve is."""
        places: dict[int, tuple[Curves, int]] = {}
        for curves, directions in self._kinds:
            places.update((direction, (curves, row)) for row, direction in enumerate(directions.tolist()))
        return [places[number] for number in range(len(places))]

    def _log_thresholds(self) -> Floats:
        """Return the logarithm of the price of each direction's output token, in its input token, above which it
        trades."""
        found = np.zeros(len(self.token_in))
        for curves, directions in self._kinds:
            found[directions] = -np.log(curves.start_rates)
        return found

    def _cheapest_graph(self) -> csr_matrix:
        """Return the graph from each token back to those that buy it, with the best initial rate of each pair."""
        pairs = self.token_out * self.token_count + self.token_in
        order = np.lexsort((self.log_thresholds, pairs))
        best = order[np.concatenate([[True], np.diff(pairs[order]) != 0])] if len(order) else order
        lengths = np.maximum(self.log_thresholds[best], _LEAST_LENGTH)
        shape = (self.token_count, self.token_count)
        return csr_matrix((lengths, (self.token_out[best], self.token_in[best])), shape=shape)

    def start_prices(self, bought: int) -> Floats:
        """Return prices at which few pools gain from a trade: each token's best spot value."""
        distances = dijkstra(self._graph, indices=bought)
        prices: Floats = np.exp(-np.minimum(distances, _MAX_DISTANCE))
        return prices

    def best_trades(self, prices: Floats) -> Trades:
        """Return the best trade of every direction that gains at these prices."""
        columns: list[tuple[Any, ...]] = []
        for curves, directions in self._kinds:
            sold, bought = self.token_in[directions], self.token_out[directions]
            found = curves.best_trades(prices[sold] / prices[bought])
            columns.append((directions[found.rows], sold[found.rows], bought[found.rows], *found[1:]))
        return Trades(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def bound(self, token_in: str, token_out: str, amount_in: int) -> Bound:
        """Return the bound for an order, given by addresses and base units."""
        began_s = time.perf_counter()
        sold, bought = self._tokens[token_in], self._tokens[token_out]
        amount = amount_in * sold.unit_usd
        least = minimize(self, self.start_prices(bought.number), sold.number, bought.number, amount)
        taken_s = time.perf_counter() - began_s
        out, legs = self._route(least.trades, sold.number, bought.number, amount)
        unit = bought.unit_usd
        return Bound(
            least.value / unit, None if out is None else out / unit, legs, least.residual, least.iterations, taken_s
        )

    def pay(self, direction: int, amount_in: float) -> float:
        """Return the output of a direction, in dollars at the market's prices."""
        curves, row = self._place[direction]
        return curves.pay(row, amount_in)

    def evaluate(self, token_in: str, token_out: str, amount_in: int, legs: Sequence[Leg]) -> float:
        """Return the output of a route's legs along the curves, in base units. Raises `ValueError` if it repeats a
        pool.

        A pool used twice would have to be evaluated on its changed state.
        """
        if len({leg[0] for leg in legs}) < len(legs):
            raise ValueError("the route uses a pool twice")
        held = {token_in: amount_in * self._tokens[token_in].unit_usd}
        for pool, sold, bought, part in legs:
            amount = held.get(sold, 0.0) * part
            held[sold] = held.get(sold, 0.0) - amount
            paid = self.pay(self._number[pool, self._tokens[sold].number], amount)
            held[bought] = held.get(bought, 0.0) + paid
        return held.get(token_out, 0.0) / self._tokens[token_out].unit_usd

    def _route(self, trades: Trades, sold: int, bought: int, amount: float) -> tuple[float | None, int]:
        """Return the order's output if each token is split as in the trades, and the number of swaps."""
        kept = np.nonzero((trades.amount_in > _LEAST_PART * amount) & (trades.token_in != bought))[0]
        by_token: dict[int, list[int]] = {}
        for trade in kept.tolist():
            by_token.setdefault(int(trades.token_in[trade]), []).append(trade)
        order = _execution_order(by_token, trades.token_out, sold)
        if order is None:
            return None, 0
        held, legs = {sold: amount}, 0
        for token in order:
            if token not in held:
                continue
            swaps = by_token.get(token, [])
            total = sum(float(trades.amount_in[trade]) for trade in swaps)
            for trade in swaps:
                paid = self.pay(int(trades.direction[trade]), held[token] * float(trades.amount_in[trade]) / total)
                following = int(trades.token_out[trade])
                held[following] = held.get(following, 0.0) + paid
                legs += 1
        return held.get(bought, 0.0), legs


def _kind(curves: Sequence[Curve], record: type[Curve], build: Callable[[Any], Curves]) -> _Kind:
    numbers = [number for number, curve in enumerate(curves) if isinstance(curve, record)]
    return _Kind(build([curves[number] for number in numbers]), np.array(numbers, dtype=np.int64))


def _execution_order(by_token: Mapping[int, Sequence[int]], token_out: Integers, start: int) -> list[int] | None:
    """Return the tokens reachable from `start`, each before the tokens it buys; None if that is impossible."""

    def bought_for(token: int) -> Iterator[int]:
        return (int(token_out[trade]) for trade in by_token.get(token, ()))

    is_finished, order = {start: False}, list[int]()
    stack = [(start, bought_for(start))]
    while stack:
        token, following = stack[-1]
        found = next(following, None)
        if found is None:
            stack.pop()
            is_finished[token] = True
            order.append(token)
        elif found not in is_finished:
            is_finished[found] = False
            stack.append((found, bought_for(found)))
        elif not is_finished[found]:
            return None
    return order[::-1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the bounds for a market's orders, and how close a route comes."""
    from bench.optimum.real_market import read_document, read_orders

    parser = argparse.ArgumentParser(prog="python -m bench.optimum.bound", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("market", type=Path)
    parser.add_argument("--families", default=",".join(EXACT_FAMILIES), help="families, or all")
    parser.add_argument("--json", action="store_true", help="one order a line")
    options = parser.parse_args(arguments)
    families = ALL_FAMILIES if options.families == "all" else options.families.split(",")
    market, gaps, times = Market(read_document(options.market), families), [], []
    for order in read_orders(options.market):
        found = market.bound(order["token_in"], order["token_out"], int(order["amount_in"]))
        times.append(found.seconds)
        if found.route_out is not None:
            gaps.append(gap_bps(found.route_out, found.bound))
        if options.json:
            print(json.dumps({"id": order["id"], **found._asdict()}))
    if not options.json:
        print(
            f"{len(times)} orders, {median(times) * 1e3:.1f} ms each (median), {len(gaps)} with a route without cycles"
        )
        print(f"gap of these routes, bps: median {median(gaps or [0.0]):.2g}, worst {max(gaps, default=0.0):.2g}")


if __name__ == "__main__":
    main()
