"""The market as a graph: tokens are nodes, each direction of each pool is an arc.

Built once per state and kept between orders. It answers what a solver asks before it solves: the arcs between two
tokens, the best first-unit rate of each pair, and which tokens can be intermediates at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from itertools import permutations
from typing import TypeVar

from swapcli.model.pool import Pool, RateCurve

_JUST_BELOW = 1 - 1e-9
_DEPTH_ARCS = 5

_V = TypeVar("_V")


class Arc:
    """One direction of one pool. `rate` is the marginal rate of the first unit, fee included."""

    __slots__ = ("curve", "pool", "rate", "token_in", "token_out", "trade_to_marginal_rate")

    def __init__(self, token_in: int, token_out: int, pool: Pool, curve: RateCurve) -> None:
        self.token_in, self.token_out, self.pool, self.curve = token_in, token_out, pool, curve
        self.rate = curve.start_rate
        self.trade_to_marginal_rate = curve.trade_to_marginal_rate

    @property
    def depth(self) -> float:
        """Input units that move the logarithm of the rate by one, measured at the first unit."""
        return self.trade_to_marginal_rate(self.rate * _JUST_BELOW)[2]


class MarketGraph:
    """Arcs of the given pools. Tokens are numbered; `token_index` maps addresses to numbers.

    `pairs[i][j]` are the arcs that sell i for j, best first-unit rate first; `best[i][j]` is that rate, and
    `best_into[j][i]` the same looked up from the other end. `mids` keeps what was found out
    of mid rates.
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
        self.best_rate_out: list[dict[int, float]] = [{} for _ in range(size)]
        self.best_rate_in: list[dict[int, float]] = [{} for _ in range(size)]
        for i, targets in enumerate(self.arcs_by_pair):
            for j in targets:
                self._sort_arcs(i, j)

    def with_changes(self, before: Iterable[Pool], after: Iterable[Pool], addresses: Iterable[str]) -> MarketGraph:
        """The graph once its pools `before` have become `after`; `addresses` begin with its own.

        Takes as long as there are changes, not pools: what stays is shared by both graphs, and neither changes again.
        """
        changed, removed, added = MarketGraph((), addresses), tuple(before), tuple(after)
        changed_pairs = {pair for pool in removed + added for pair in changed._token_pairs(pool)}
        rows = {i for i, _ in changed_pairs}
        changed._copy_except(self, changed_pairs, rows)
        keys = {pool.key for pool in removed}
        for i, j in changed_pairs:
            changed.arcs_by_pair[i][j] = [arc for arc in changed.arcs_by_pair[i].get(j, ()) if arc.pool.key not in keys]
        for pool in added:
            changed._add_pool(pool)
        for i, j in changed_pairs:
            changed._sort_arcs(i, j)
        if len(self.best_rate_out) == len(changed.best_rate_out) and all(
            (j in self.best_rate_out[i]) == (j in changed.best_rate_out[i]) for i, j in changed_pairs
        ):
            changed._copy_core(self, rows)
        return changed

    def with_arcs(self, replacements: Mapping[tuple[int, int], tuple[list[Arc], float]]) -> MarketGraph:
        """Return the graph with other arcs, and another best rate, between some pairs of tokens (in, out).

        The arcs are some of those that the pair has, in the same order; a pair without any is left out. What stays is
        shared by both graphs.
        """
        graph = MarketGraph((), self.addresses)
        graph._copy_except(self, replacements, {i for i, _ in replacements})
        tokens_out = {j for _, j in replacements}
        graph.best_rate_in = _copy_rows(self.best_rate_in, tokens_out, len(self.addresses))
        for (i, j), (arcs, best_rate) in replacements.items():
            graph.arcs_by_pair[i][j] = arcs
            if arcs:
                graph.best_rate_out[i][j] = graph.best_rate_in[j][i] = best_rate
            else:
                graph._remove_pair(i, j)
        return graph

    def _token_pairs(self, pool: Pool) -> Iterable[tuple[int, int]]:
        return permutations([self.token_index[token] for token in pool.tokens], 2)

    def _copy_except(
        self, other: MarketGraph, changed_pairs: Iterable[tuple[int, int]], changed_rows: Set[int]
    ) -> None:
        """Take what `other` knows, but for pairs that are `touched`: their rows are copied, and found out anew."""
        size = len(self.addresses)
        self.arcs_by_pair = _copy_rows(other.arcs_by_pair, changed_rows, size)
        self.best_rate_out, self.best_rate_in = (
            _copy_rows(other.best_rate_out, changed_rows, size),
            _copy_rows(other.best_rate_in, changed_rows, size),
        )
        # Copied in one go, since orders on `other` may be adding to them.
        self._pair_depths, self.mid_price_cache = dict(other._pair_depths), dict(other.mid_price_cache)
        for pair in changed_pairs:
            self._pair_depths.pop(pair, None)
            self.mid_price_cache.pop(pair, None)

    def _copy_core(self, other: MarketGraph, changed_rows: Iterable[int]) -> None:
        """Where the same pairs of tokens have pools, the same tokens lie in the core."""
        vars(self)["_core_and_parents"] = other._core_and_parents
        core = self.two_core
        for name, own in (("core_rate_out", self.best_rate_out), ("core_rate_in", self.best_rate_in)):
            shared = list(getattr(other, name))
            for i in changed_rows:
                shared[i] = {j: rate for j, rate in own[i].items() if j in core}
            vars(self)[name] = shared

    def _sort_arcs(self, token_in: int, token_out: int) -> None:
        """Bring the arcs of a pair into order, and note the best; without any, forget the pair."""
        arcs = self.arcs_by_pair[token_in][token_out]
        if arcs:
            arcs.sort(key=lambda arc: -arc.rate)
            self.best_rate_out[token_in][token_out] = self.best_rate_in[token_out][token_in] = arcs[0].rate
        else:
            self._remove_pair(token_in, token_out)

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
                if curve.start_rate > 0.0:
                    arc = Arc(index[token_in], index[token_out], pool, curve)
                    self.arcs_by_pair[arc.token_in].setdefault(arc.token_out, []).append(arc)

    def pair_depth(self, token_in: int, token_out: int) -> float:
        """Depth of the pair's best few arcs together, in input units; see `Arc.depth`."""
        depth = self._pair_depths.get((token_in, token_out))
        if depth is None:
            arcs = self.arcs_by_pair[token_in][token_out]
            depth = self._pair_depths[token_in, token_out] = sum(arc.depth for arc in arcs[:_DEPTH_ARCS])
        return depth

    def arcs(self) -> Iterable[Arc]:
        """Every arc."""
        return (arc for targets in self.arcs_by_pair for arcs in targets.values() for arc in arcs)

    def neighbours(self, token: int) -> set[int]:
        """Tokens that share a pool with `token`, in either direction."""
        return self.best_rate_out[token].keys() | self.best_rate_in[token].keys()

    @cached_property
    def _core_and_parents(self) -> tuple[set[int], dict[int, int]]:
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
        """Tokens that lie on some cycle of pairs: only they can be intermediates for orders between other tokens.

        A token that one other token touches, or a tree of such tokens, is a dead end for everybody else.
        """
        return self._core_and_parents[0]

    @cached_property
    def core_rate_out(self) -> list[dict[int, float]]:
        """`best` towards core tokens only."""
        core = self.two_core
        return [{j: rate for j, rate in row.items() if j in core} for row in self.best_rate_out]

    @cached_property
    def core_rate_in(self) -> list[dict[int, float]]:
        """`best_rate_in` from core tokens only."""
        core = self.two_core
        return [{i: rate for i, rate in row.items() if i in core} for row in self.best_rate_in]

    def path_to_core(self, token: int) -> list[int]:
        """`token` and the tokens between it and the core; ends in the core, or at the root of its tree."""
        core, parent = self._core_and_parents
        path = [token]
        while path[-1] not in core and path[-1] in parent:
            path.append(parent[path[-1]])
        return path


def _copy_rows(rows: list[dict[int, _V]], changed: Set[int], size: int) -> list[dict[int, _V]]:
    """The same rows, but copies of those that will change, and empty ones behind them up to `size`."""
    same = [dict(row) if i in changed else row for i, row in enumerate(rows)]
    return same + [{} for _ in range(size - len(rows))]
