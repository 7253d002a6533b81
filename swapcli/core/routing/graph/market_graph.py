"""The market as a graph: tokens are nodes, each direction of each pool is an arc.

The graph is built once per state and shared by all orders. It has the arcs between two tokens, the best spot rate of
each pair, and the tokens that can be intermediates at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Set
from functools import cached_property
from itertools import permutations
from math import inf

from swapcli.core.annotations import TYPE_CHECKING, TypeVar
from swapcli.core.model.pool import Pool, RateCurve, RoundingGain
from swapcli.core.routing.graph.digraph import TokenPair, unreachable_within

if TYPE_CHECKING:
    from swapcli.core.model.proof import ProofParts

Prices = dict[int, float]
"""The value of one base unit by token number, in base units of the order's output token."""

MIN_PRICE, MAX_PRICE = 1e-120, 1e120
"""The bounds of all prices: the ratio of any two, at most 1e240, fits a float (1.8e308)."""
MIN_RATE, MAX_RATE = MIN_PRICE, MAX_PRICE
"""The bounds of spot rates: a pool beyond them is omitted, since it has nothing worth trading.

Products of such rates overflow.
"""

MIN_PRICE_RATIO = 1e-250  # lower marginal rates overflow floats in the curves, which square or divide by them
_JUST_BELOW = 1 - 1e-9  # a relative step that floats resolve and that no pool's rate is constant over
_DEPTH_ARCS = 5  # empirical: beyond the best five, pools add little to the depth of a pair

_V = TypeVar("_V")


class Arc:
    """One direction of one pool. `rate` is its spot rate: the marginal rate of the first unit, fee included.

    `rounding` is how much the contract may pay beyond the curve, None if it pays no more; `unit_rate` is the most that
    each whole unit may pay, including rounding.
    """

    __slots__ = (
        "_depth",
        "curve",
        "pool",
        "rate",
        "rounding",
        "token_in",
        "token_out",
        "trade_to_marginal_rate",
        "unit_rate",
    )

    def __init__(
        self, token_in: int, token_out: int, pool: Pool, curve: RateCurve, rounding: RoundingGain | None = None
    ) -> None:
        self.token_in, self.token_out, self.pool, self.curve = token_in, token_out, pool, curve
        self.rate = self.unit_rate = curve.start_rate
        self.rounding = rounding
        if rounding is not None:
            units_in, units_out, part = rounding
            self.unit_rate = self.rate * (1.0 + part) * max(1.0, units_in) + units_out
        self.trade_to_marginal_rate = curve.trade_to_marginal_rate
        self._depth: float | None = None

    def best_trade(self, price_in: float, price_out: float) -> tuple[float, float]:
        """Return (amount_in, amount_out) of the best trade at the prices of its tokens, in any common unit; `price_out`
        is > 0."""
        amount_in, amount_out, _ = self.trade_to_marginal_rate(max(price_in / price_out, MIN_PRICE_RATIO))
        return amount_in, amount_out

    def surplus(self, prices: Prices) -> float:
        """Return the profit of the best trade at `prices`, in the unit of the prices; a token without a price is worth
        nothing."""
        price_in, price_out = prices.get(self.token_in, 0.0), prices.get(self.token_out, 0.0)
        if price_out * self.rate <= price_in:
            return 0.0
        amount_in, amount_out = self.best_trade(price_in, price_out)
        return price_out * amount_out - price_in * amount_in

    @property
    def depth(self) -> float:
        """The input units per unit of change in the logarithm of the rate, at the first unit."""
        depth = self._depth
        if depth is None:
            depth = self._depth = self.trade_to_marginal_rate(self.rate * _JUST_BELOW)[2]
        return depth


class MarketGraph:
    """The arcs of some pools. Tokens are numbered; `token_index` maps addresses to numbers.

    `arcs_by_pair[i][j]` are the arcs that sell token i for token j, best spot rate first. `best_rate_out[i][j]` and
    `best_rate_in[j][i]` both hold that best rate. `mid_price_cache` holds computed mid rates and depths by pair. Rows
    are sorted by token, so that a changed graph has the same order as a new one, and thus the same float sums.
    """

    def __init__(self, pools: Iterable[Pool], addresses: Iterable[str]) -> None:
        self.addresses = tuple(addresses)
        self.token_index: Mapping[str, int] = {address: k for k, address in enumerate(self.addresses)}
        self._pair_depths: dict[tuple[int, int], float] = {}
        self.mid_price_cache: dict[tuple[int, int], tuple[float, float]] = {}
        size = len(self.addresses)
        self.arcs_by_pair: list[dict[int, list[Arc]]] = [{} for _ in range(size)]
        for pool in pools:
            self._add_pool(pool)
        self.arcs_by_pair = [dict(sorted(row.items())) for row in self.arcs_by_pair]
        self.best_rate_out: list[dict[int, float]] = [{} for _ in range(size)]
        self.best_rate_in: list[dict[int, float]] = [{} for _ in range(size)]
        for i, targets in enumerate(self.arcs_by_pair):
            for j in targets:
                self._sort_arcs(i, j)

    def with_changes(self, before: Iterable[Pool], after: Iterable[Pool], addresses: Iterable[str]) -> MarketGraph:
        """Return the graph with the pools in `before` replaced by the pools in `after`; `addresses` starts with the
        graph's own tokens.

        The time grows with the number of changes, not of pools: both graphs share unchanged rows, and never modify
        them.
        """
        changed, removed, added = self._without_rows(tuple(addresses)), tuple(before), tuple(after)
        changed_pairs = changed.pairs_of(removed + added)
        rows = {i for i, _ in changed_pairs}
        changed._copy_except(self, changed_pairs, rows, rows)
        keys = {pool.key for pool in removed}
        for i, j in changed_pairs:
            changed.arcs_by_pair[i][j] = [arc for arc in changed.arcs_by_pair[i].get(j, ()) if arc.pool.key not in keys]
        for pool in added:
            changed._add_pool(pool)
        for i, j in changed_pairs:
            changed._sort_arcs(i, j)
        changed._sort_rows(rows, rows)
        if len(self.best_rate_out) == len(changed.best_rate_out) and all(
            (j in self.best_rate_out[i]) == (j in changed.best_rate_out[i]) for i, j in changed_pairs
        ):
            changed._copy_core(self, rows, rows)
        known_gas, gas_removed, gas_added = vars(self).get("min_swap_gas"), *map(_min_swap_gas, (removed, added))
        if known_gas is not None and (gas_removed > known_gas or gas_added <= known_gas):
            vars(changed)["min_swap_gas"] = min(known_gas, gas_added)
        return changed

    def with_pairs_of(
        self,
        other: MarketGraph,
        pairs: Iterable[TokenPair],
        select: Callable[[TokenPair, list[Arc]], tuple[list[Arc], float]],
    ) -> MarketGraph:
        """Return the graph with some pairs' arcs taken from `other`, a graph with the same tokens.

        `select` returns the arcs of a pair to take, in their order, and the pair's best rate.
        """
        replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
        for i, j in pairs:
            arcs, best_rate = select((i, j), other.arcs_by_pair[i].get(j, []))
            if arcs or j in self.arcs_by_pair[i]:
                replacements[i, j] = (arcs, best_rate)
        graph, is_part = self._with_rows(replacements), self.has_core_of(other)
        graph._sort_rows({i for i, _ in replacements}, {j for _, j in replacements})
        if is_part or all((j in self.arcs_by_pair[i]) == bool(arcs) for (i, j), (arcs, _) in replacements.items()):
            graph._copy_core(self, {i for i, _ in replacements}, {j for _, j in replacements})
        if is_part:
            vars(graph)["min_swap_gas"] = other.min_swap_gas
        return graph

    def pairs_of(self, pools: Iterable[Pool]) -> frozenset[TokenPair]:
        """Return the pairs of tokens, in both directions, that `pools` trade."""
        return frozenset(pair for pool in pools for pair in self._token_pairs(pool))

    def has_core_of(self, other: MarketGraph) -> bool:
        """Return whether one graph took its 2-core from the other, or both took it from the same graph."""
        return self._core_and_parents is other._core_and_parents

    def with_arcs(self, replacements: Mapping[TokenPair, tuple[list[Arc], float]]) -> MarketGraph:
        """Return the graph with different arcs and a different best rate for some pairs of tokens (in, out).

        The new arcs are a subset of the pair's old arcs, in the same order; a pair without arcs is removed. Both graphs
        share unchanged rows.
        """
        graph = self._with_rows(replacements)
        # Without the removed pairs, the core may be smaller. Tokens that are now dead ends only cost time.
        graph._copy_core(self, {i for i, _ in replacements}, {j for _, j in replacements})
        vars(graph)["min_swap_gas"] = self.min_swap_gas
        return graph

    def with_pools(self, is_included: Callable[[Pool], bool]) -> MarketGraph:
        """Return the graph of the pools for which `is_included` is true, with the same arcs."""
        replacements: dict[TokenPair, tuple[list[Arc], float]] = {}
        for i, row in enumerate(self.arcs_by_pair):
            for j, arcs in row.items():
                included = [arc for arc in arcs if is_included(arc.pool)]
                if len(included) < len(arcs):
                    replacements[i, j] = (included, included[0].rate if included else 0.0)
        return self._with_rows(replacements)

    def _with_rows(self, replacements: Mapping[TokenPair, tuple[list[Arc], float]]) -> MarketGraph:
        """Return the graph with different arcs and best rates for some pairs, like `with_arcs`, but without a core."""
        graph = self._without_rows(self.addresses)
        tokens_in, tokens_out = ({pair[k] for pair in replacements} for k in (0, 1))
        pairs = [(i, j) for (i, j), (arcs, _) in replacements.items() if self.arcs_by_pair[i].get(j) is not arcs]
        graph._copy_except(self, pairs, tokens_in, tokens_out)
        for i, j in pairs:
            graph.arcs_by_pair[i][j] = replacements[i, j][0]
        for (i, j), (arcs, best_rate) in replacements.items():
            if arcs:
                graph.best_rate_out[i][j] = graph.best_rate_in[j][i] = best_rate
            else:
                graph._remove_pair(i, j)
        return graph

    def _without_rows(self, addresses: tuple[str, ...]) -> MarketGraph:
        """Return a graph with these tokens, whose rows are set later."""
        graph = object.__new__(MarketGraph)
        graph.addresses = addresses
        graph.token_index = self.token_index
        if addresses != self.addresses:
            graph.token_index = {address: k for k, address in enumerate(addresses)}
        return graph

    def _token_pairs(self, pool: Pool) -> Iterable[tuple[int, int]]:
        return permutations([self.token_index[token] for token in pool.tokens], 2)

    def _copy_except(
        self, other: MarketGraph, changed_pairs: Collection[TokenPair], tokens_in: Set[int], tokens_out: Set[int]
    ) -> None:
        """Share the rows of `other`, copy those that will change, and drop cached values of the pairs whose arcs
        change.

        Best rates will change for pairs of `tokens_in` with `tokens_out`.
        """
        size = len(self.addresses)
        self.arcs_by_pair = _copy_rows(other.arcs_by_pair, {i for i, _ in changed_pairs}, size)
        self.best_rate_out = _copy_rows(other.best_rate_out, tokens_in, size)
        self.best_rate_in = _copy_rows(other.best_rate_in, tokens_out, size)
        # `dict()` copies atomically: other threads may be adding to these caches.
        self._pair_depths, self.mid_price_cache = dict(other._pair_depths), dict(other.mid_price_cache)
        for pair in changed_pairs:
            self._pair_depths.pop(pair, None)
            self.mid_price_cache.pop(pair, None)

    def _copy_core(self, other: MarketGraph, changed_out: Iterable[int], changed_in: Iterable[int]) -> None:
        """Copy the core of `other`, which has arcs between the same pairs of tokens, and update its rates.

        `changed_out` and `changed_in` are the changed rows of rates, by token sold and by token bought.
        """
        vars(self)["_core_and_parents"] = other._core_and_parents
        core = self.two_core
        for name, own, changed in (
            ("core_rate_out", self.best_rate_out, changed_out),
            ("core_rate_in", self.best_rate_in, changed_in),
        ):
            shared = list(getattr(other, name))
            for i in changed:
                shared[i] = {j: rate for j, rate in own[i].items() if j in core}
            vars(self)[name] = shared

    def _sort_arcs(self, token_in: int, token_out: int) -> None:
        """Sort the arcs of a pair and record the best rate; remove a pair without arcs."""
        arcs = self.arcs_by_pair[token_in][token_out]
        if arcs:
            arcs.sort(key=lambda arc: (-arc.rate, arc.pool.key))
            self.best_rate_out[token_in][token_out] = self.best_rate_in[token_out][token_in] = arcs[0].rate
        else:
            self._remove_pair(token_in, token_out)

    def _sort_rows(self, tokens_in: Iterable[int], tokens_out: Iterable[int]) -> None:
        """Sort rows to which pairs may have been added."""
        for i in tokens_in:
            self.arcs_by_pair[i] = dict(sorted(self.arcs_by_pair[i].items()))
            self.best_rate_out[i] = dict(sorted(self.best_rate_out[i].items()))
        for j in tokens_out:
            self.best_rate_in[j] = dict(sorted(self.best_rate_in[j].items()))

    def _remove_pair(self, token_in: int, token_out: int) -> None:
        del self.arcs_by_pair[token_in][token_out]
        self.best_rate_out[token_in].pop(token_out, None)
        self.best_rate_in[token_out].pop(token_in, None)

    def _add_pool(self, pool: Pool) -> None:
        index = self.token_index
        for token_in in pool.tokens:
            for token_out in pool.tokens:
                if token_in == token_out:
                    continue
                curve = pool.curve(token_in, token_out)
                if MIN_RATE < curve.start_rate < MAX_RATE:
                    rounding = pool.rounding_gain(token_in, token_out)
                    arc = Arc(index[token_in], index[token_out], pool, curve, rounding)
                    self.arcs_by_pair[arc.token_in].setdefault(arc.token_out, []).append(arc)

    def pair_depth(self, token_in: int, token_out: int) -> float:
        """Return the total depth of a pair's best few arcs, in input units; see `Arc.depth`."""
        depth = self._pair_depths.get((token_in, token_out))
        if depth is None:
            arcs = self.arcs_by_pair[token_in][token_out]
            depth = self._pair_depths[token_in, token_out] = sum(arc.depth for arc in arcs[:_DEPTH_ARCS])
        return depth

    def arcs(self) -> Iterable[Arc]:
        """Return all arcs."""
        return (arc for targets in self.arcs_by_pair for arcs in targets.values() for arc in arcs)

    def arcs_between(self, tokens: Collection[int], endpoints: TokenPair, max_hops: int) -> list[Arc]:
        """Return the arcs between `tokens` on a path of at most `max_hops` hops between `endpoints` (source, target).

        No arc leads into the source or out of the target.
        """
        source, target = endpoints
        pairs = self.arcs_by_pair
        edges = [(i, j) for i in tokens if i != target for j in tokens if j != source and j in pairs[i]]
        unreachable = unreachable_within(edges, endpoints, max_hops)
        return [arc for i, j in edges if (i, j) not in unreachable for arc in pairs[i][j]]

    def neighbours(self, token: int) -> set[int]:
        """Return the tokens that share a pool with `token`, in either direction."""
        return self.best_rate_out[token].keys() | self.best_rate_in[token].keys()

    @cached_property
    def _core_and_parents(self) -> tuple[set[int], dict[int, int]]:
        """The 2-core, and for each token outside it the next token on the way to the core.

        Leaves, which have a single neighbour, are removed until none is left; that neighbour is their parent.
        """
        neighbours = {t: self.neighbours(t) for t in range(len(self.addresses))}
        core, parent = set(neighbours), {}
        leaves = [t for t in core if len(neighbours[t]) <= 1]
        while leaves:
            leaf = leaves.pop()
            core.discard(leaf)
            for t in neighbours.pop(leaf, ()):
                parent[leaf] = t
                neighbours[t].discard(leaf)
                if len(neighbours[t]) == 1:
                    leaves.append(t)
        return core, parent

    @property
    def two_core(self) -> set[int]:
        """The 2-core of the token graph: only tokens in it can be intermediates for orders between other tokens.

        A token with a single neighbour, or a tree of such tokens, is a dead end.
        """
        return self._core_and_parents[0]

    @cached_property
    def core_rate_out(self) -> list[dict[int, float]]:
        """`best_rate_out` restricted to outputs in the 2-core."""
        core = self.two_core
        return [{j: rate for j, rate in row.items() if j in core} for row in self.best_rate_out]

    @cached_property
    def core_rate_in(self) -> list[dict[int, float]]:
        """`best_rate_in` restricted to inputs in the 2-core."""
        core = self.two_core
        return [{i: rate for i, rate in row.items() if i in core} for row in self.best_rate_in]

    @cached_property
    def proof_parts(self) -> list[tuple[object, ProofParts]]:
        """Data shared by all proofs over these arcs, with the router gas that it belongs to. None of it depends on the
        order."""
        return []

    @cached_property
    def rounding_arcs(self) -> tuple[Arc, ...]:
        """The arcs whose contracts' rounding may favour the trader."""
        return tuple(arc for arc in self.arcs() if arc.rounding is not None)

    @cached_property
    def pool_count(self) -> int:
        """The number of pools that can sell anything."""
        return len({id(arc.pool) for arc in self.arcs()})

    @cached_property
    def min_swap_gas(self) -> int:
        """A lower bound on the gas of the cheapest swap in any pool."""
        return min((arc.pool.swap_gas for arc in self.arcs()), default=0)

    def tokens_between(self, endpoints: TokenPair) -> set[int]:
        """Return a set of tokens that contains every token on any simple path between `endpoints`."""
        return self.two_core.union(*map(self.path_to_core, endpoints))

    def path_to_core(self, token: int) -> list[int]:
        """Return `token` and the tokens between it and the 2-core; the path ends in the core, or at the root of its
        tree."""
        core, parent = self._core_and_parents
        path = [token]
        while path[-1] not in core and path[-1] in parent:
            path.append(parent[path[-1]])
        return path


def _min_swap_gas(pools: Iterable[Pool]) -> float:
    """Return the gas of the cheapest swap in any of `pools`; infinite without pools."""
    return min((pool.swap_gas for pool in pools), default=inf)


def _copy_rows(rows: list[dict[int, _V]], changed: Set[int], size: int) -> list[dict[int, _V]]:
    """Return the rows, with copies of those that will change, extended by empty ones to `size`."""
    same = [dict(row) if i in changed else row for i, row in enumerate(rows)]
    return same + [{} for _ in range(size - len(rows))]
