"""Whether a proof holds by the curves of this program in floats: the argument about a proof that is independent of the
checker, which shares no maths with them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf
from typing import Any

from swapcli.core.model.pool import Pool, RateCurve
from swapcli.quoting import proof_checker
from tests.support.proof_sums import Direction, best_product, directions, hop_rates

Record = dict[str, Any]
_RELATIVE = 1e-9  # what floats may miss; chosen
_GAP_ERROR_BPS = 1e-9


class LibraryArgument:
    """A document, and its pools as the library has them."""

    def __init__(self, document: Record) -> None:
        self.document = document
        order = document["order"]
        self.sold, self.bought = order["tokenIn"], order["tokenOut"]
        self.amount, self.pays = int(document["route"]["amountIn"]), int(document["route"]["amountOut"])
        self.unit = float(document["gas"]["unitValue"])

    @cached_property
    def curves(self) -> dict[Direction, RateCurve]:
        tokens = [each["address"] for each in self.document["tokens"]]
        pools = [proof_checker._read_pool(self.document, n) for n in range(len(self.document["pools"]))]
        return {(n, i, j): pools[n].curve(tokens[i], tokens[j]) for n, i, j in directions(self.document)}

    def holds(self) -> bool:
        """Whether the route pays what the document says, and every bound is one."""
        return self.replays() and all(self.bounds(bound) for bound in self.document["bounds"])

    def replays(self) -> bool:
        held, states = {self.sold: self.amount}, dict[int, Pool]()
        for step in self.document["route"]["steps"]:
            n, i, j, amount = step["pool"], step["tokenIn"], step["tokenOut"], int(step["amountIn"])
            paid, states[n] = proof_checker.swap(self.document, n, i, j, amount, states.get(n))
            if paid != int(step["amountOut"]) or held.get(i, 0) < amount:
                return False
            held[i], held[j] = held[i] - amount, held.get(j, 0) + paid
        return held[self.bought] == self.pays

    def bounds(self, bound: Record) -> bool:
        is_net = bound["kind"] == "afterGas"
        left_out = _set(self.document["scope"]["dust"]) if is_net else frozenset()
        usable = [each for each in self.curves if each not in left_out]
        if bound["kind"] != "output":
            usable = [each for each in usable if each[2] != self.sold and each[1] != self.bought]
        limits: dict[int, float] | None = None
        if is_net:
            limits = self.limits(bound["limits"], usable)
            if limits is None:
                return False
        leaves, pays = (
            bound["leaves"],
            self.pays - (self.unit * int(self.document["route"]["gasUnits"]) if is_net else 0),
        )
        gap = (float(bound["bound"]) / pays - 1) * 1e4 if pays > 0 else inf
        largest = max(float(leaf["bound"]) for leaf in leaves)
        return (
            gap <= float(bound["gapBps"]) + _GAP_ERROR_BPS
            and _covers([_case(leaf) for leaf in leaves])
            and float(bound["bound"]) * (1 + _RELATIVE) >= largest
            and all(self.leaf(bound, leaf, usable, limits) for leaf in leaves)
        )

    def leaf(self, bound: Record, leaf: Record, usable: list[Direction], limits: dict[int, float] | None) -> bool:
        """By the gains of all directions at the leaf's prices or rates, not by its terms."""
        prices, used, unused = [float(price or 0) for price in leaf["prices"]], _set(leaf["used"]), _set(leaf["unused"])
        rates = hop_rates(self.document, bound, leaf) if limits is not None else {}
        gas, by_token, forced = self.document["gas"], dict[int, float](), set[int]()
        unit = self.unit if limits is not None else 0.0
        for direction in usable:
            n, i, _ = direction
            if direction in unused or (limits is not None and i not in limits):
                continue
            if limits is None:
                gain = self.gain(direction, prices, inf)
            elif direction[1:] in rates:
                gain = self._value(direction, rates, leaf) * self._beyond(direction, rates[direction[1:]], limits[i])
            else:
                continue
            gain -= unit * int(self.document["pools"][n]["gas"])
            if direction in used:
                forced.add(i)
            by_token[i] = by_token.get(i, 0.0) + (gain if direction in used else max(0.0, gain))
        price = prices[self.sold] if limits is None else float(leaf["product"])
        if limits is not None and self._best(rates, [self.sold], leaf) > price * (1 + _RELATIVE):
            return False
        total = self.amount * price - unit * int(gas["base"])
        for token, value in by_token.items():
            net = value - (unit * int(gas["tokenBetween"]) if token != self.sold else 0.0)
            total += net if token in forced else max(0.0, net)
        stated = float(leaf["bound"])
        return bool(total <= stated + abs(stated) * _RELATIVE)

    def _beyond(self, direction: Direction, rate: float, limit: float) -> float:
        """What a direction gains above the rate of its hop."""
        return proof_checker.gain(self.document, direction, rate, 1.0, limit)

    def _value(self, direction: Direction, rates: dict[tuple[int, int], float], leaf: Record) -> float:
        return self._best(rates, [*dict.fromkeys((self.sold, *direction[1:]))], leaf)

    def _best(self, rates: dict[tuple[int, int], float], passed: list[int], leaf: Record) -> float:
        hops = min(int(self.document["scope"]["maxHops"]), len(self.document["tokens"])) - len(passed) + 1
        return best_product(rates, passed, self.bought, hops, leaf["before"])

    def gain(self, direction: Direction, prices: list[float], limit: float) -> float:
        """The gain of the best trade, by the curve."""
        n, i, j = direction
        return proof_checker.gain(self.document, (n, i, j), prices[i], prices[j], limit)

    def limits(self, rows: Record, usable: list[Direction]) -> dict[int, float] | None:
        """The limits as they are written; None if one of them is not shown by its reason."""
        prices = [float(price or 0) for price in rows["prices"]]
        worth = self.amount * prices[self.sold] if prices else 0.0
        worth += sum(self.gain(each, prices, inf) for each in usable) if prices else 0.0
        products = self._products(usable)
        limits = {self.sold: float(self.amount)}
        for token, text, reason in rows["tokens"]:
            need = products.get(token, 0.0)
            if reason == "value":
                need = worth / prices[token]
            elif reason == "pools":
                sellers = [each for each in usable if each[2] == token and each[1] in products]
                if any(each[1] not in limits for each in sellers):
                    return None
                need = sum(self._paid(each, limits[each[1]]) for each in sellers)
            if need > float(text) * (1 + _RELATIVE):
                return None
            limits[token] = min(limits.get(token, inf), float(text))
        return None if products.keys() - limits.keys() else limits

    def _paid(self, direction: Direction, amount: float) -> float:
        curve = self.curves[direction]
        return curve.amount_out(min(amount, curve.capacity))

    def _products(self, usable: list[Direction]) -> dict[int, float]:
        best, front = {self.sold: float(self.amount)}, {self.sold: float(self.amount)}
        for _ in range(min(int(self.document["scope"]["maxHops"]), len(self.document["tokens"])) - 1):
            better = dict[int, float]()
            for direction in usable:
                _, i, j = direction
                amount = front.get(i, 0.0) * self.curves[direction].start_rate
                if j != self.bought and amount > max(best.get(j, 0.0), better.get(j, 0.0)):
                    better[j] = amount
            best, front = best | better, better
        return best


def _set(rows: list[list[int]]) -> frozenset[Direction]:
    return frozenset((n, i, j) for n, i, j in rows)


def _case(leaf: Record) -> tuple[frozenset[Direction], frozenset[Direction]]:
    """The conditions of a leaf. The order of two tokens is one, too: as if they were a direction of a pool of none."""
    forward = frozenset((-1, i, j) for i, j in leaf["before"] if i < j)
    backward = frozenset((-1, j, i) for i, j in leaf["before"] if i >= j)
    return _set(leaf["used"]) | forward, _set(leaf["unused"]) | backward


def _covers(cases: list[tuple[frozenset[Direction], frozenset[Direction]]]) -> bool:
    """Whether each choice of used directions fits one of the cases: by trying a direction of the first case."""
    if any(not used and not unused for used, unused in cases):
        return True
    every = list(_mentioned(cases))
    if not every:
        return False
    first = max(sorted(set(every)), key=every.count)
    return _covers([(used - {first}, unused) for used, unused in cases if first not in unused]) and _covers(
        [(used, unused - {first}) for used, unused in cases if first not in used]
    )


def _mentioned(cases: list[tuple[frozenset[Direction], frozenset[Direction]]]) -> Iterator[Direction]:
    for used, unused in cases:
        yield from used
        yield from unused
