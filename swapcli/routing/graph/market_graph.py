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
_BEST_FEW = 5

_V = TypeVar("_V")


class Arc:
    """One direction of one pool. `rate` is the marginal rate of the first unit, fee included."""

    __slots__ = ("curve", "pool", "rate", "token_in", "token_out", "trade_to")

    def __init__(self, token_in: int, token_out: int, pool: Pool, curve: RateCurve) -> None:
        self.token_in, self.token_out, self.pool, self.curve = token_in, token_out, pool, curve
        self.rate = curve.start_rate
        self.trade_to = curve.trade_to

    @property
    def depth(self) -> float:
        """Input units that move the logarithm of the rate by one, measured at the first unit."""
        return self.trade_to(self.rate * _JUST_BELOW)[2]


class Graph:
    """Arcs of the given pools. Tokens are numbered; `token_index` maps addresses to numbers.

    `pairs[i][j]` are the arcs that sell i for j, best first-unit rate first; `best[i][j]` is that rate, and
    `best_into[j][i]` the same looked up from the other end. `mids` keeps what was found out
    of mid rates.
    """

    def __init__(self, pools: Iterable[Pool], addresses: Iterable[str]) -> None:
        self.addresses = tuple(addresses)
        self.token_index: Mapping[str, int] = {address: k for k, address in enumerate(self.addresses)}
        self._depths: dict[tuple[int, int], float] = {}
        self.mids: dict[tuple[int, int], tuple[float, float]] = {}
        size = len(self.addresses)
        self.pairs: list[dict[int, list[Arc]]] = [{} for _ in range(size)]
        for pool in pools:
            self._add(pool)
        self.best: list[dict[int, float]] = [{} for _ in range(size)]
        self.best_into: list[dict[int, float]] = [{} for _ in range(size)]
        for i, targets in enumerate(self.pairs):
            for j in targets:
                self._rank(i, j)

    def moved(self, before: Iterable[Pool], after: Iterable[Pool], addresses: Iterable[str]) -> Graph:
        """The graph once its pools `before` have become `after`; `addresses` begin with its own.

        Takes as long as there are changes, not pools: what stays is shared by both graphs, and neither changes again.
        """
        moved, gone, come = Graph((), addresses), tuple(before), tuple(after)
        touched = {pair for pool in gone + come for pair in moved._pairs_of(pool)}
        rows = {i for i, _ in touched}
        moved._share(self, touched, rows)
        keys = {pool.key for pool in gone}
        for i, j in touched:
            moved.pairs[i][j] = [arc for arc in moved.pairs[i].get(j, ()) if arc.pool.key not in keys]
        for pool in come:
            moved._add(pool)
        for i, j in touched:
            moved._rank(i, j)
        if len(self.best) == len(moved.best) and all((j in self.best[i]) == (j in moved.best[i]) for i, j in touched):
            moved._share_pruning(self, rows)
        return moved

    def narrowed(self, pairs: Mapping[tuple[int, int], tuple[list[Arc], float]]) -> Graph:
        """Return the graph with other arcs, and another best rate, between some pairs of tokens (in, out).

        The arcs are some of those that the pair has, in the same order; a pair without any is left out. What stays is
        shared by both graphs.
        """
        narrowed = Graph((), self.addresses)
        narrowed._share(self, pairs, {i for i, _ in pairs})
        into = {j for _, j in pairs}
        narrowed.best_into = _copied(self.best_into, into, len(self.addresses))
        for (i, j), (arcs, best) in pairs.items():
            narrowed.pairs[i][j] = arcs
            if arcs:
                narrowed.best[i][j] = narrowed.best_into[j][i] = best
            else:
                narrowed._forget(i, j)
        return narrowed

    def _pairs_of(self, pool: Pool) -> Iterable[tuple[int, int]]:
        return permutations([self.token_index[token] for token in pool.tokens], 2)

    def _share(self, other: Graph, touched: Iterable[tuple[int, int]], rows: Set[int]) -> None:
        """Take what `other` knows, but for pairs that are `touched`: their rows are copied, and found out anew."""
        size = len(self.addresses)
        self.pairs = _copied(other.pairs, rows, size)
        self.best, self.best_into = _copied(other.best, rows, size), _copied(other.best_into, rows, size)
        # Copied in one go, since orders on `other` may be adding to them.
        self._depths, self.mids = dict(other._depths), dict(other.mids)
        for pair in touched:
            self._depths.pop(pair, None)
            self.mids.pop(pair, None)

    def _share_pruning(self, other: Graph, rows: Iterable[int]) -> None:
        """Where the same pairs of tokens have pools, the same tokens lie in the core."""
        vars(self)["_pruning"] = other._pruning
        core = self.core
        for name, own in (("core_best", self.best), ("core_best_into", self.best_into)):
            shared = list(getattr(other, name))
            for i in rows:
                shared[i] = {j: rate for j, rate in own[i].items() if j in core}
            vars(self)[name] = shared

    def _rank(self, token_in: int, token_out: int) -> None:
        """Bring the arcs of a pair into order, and note the best; without any, forget the pair."""
        arcs = self.pairs[token_in][token_out]
        if arcs:
            arcs.sort(key=lambda arc: -arc.rate)
            self.best[token_in][token_out] = self.best_into[token_out][token_in] = arcs[0].rate
        else:
            self._forget(token_in, token_out)

    def _forget(self, token_in: int, token_out: int) -> None:
        del self.pairs[token_in][token_out]
        self.best[token_in].pop(token_out, None)
        self.best_into[token_out].pop(token_in, None)

    def _add(self, pool: Pool) -> None:
        index = self.token_index
        for token_in in pool.tokens:
            for token_out in pool.tokens:
                if token_in == token_out:
                    continue
                curve = pool.curve(token_in, token_out)
                if curve.start_rate > 0.0:
                    arc = Arc(index[token_in], index[token_out], pool, curve)
                    self.pairs[arc.token_in].setdefault(arc.token_out, []).append(arc)

    def pair_depth(self, token_in: int, token_out: int) -> float:
        """Depth of the pair's best few arcs together, in input units; see `Arc.depth`."""
        depth = self._depths.get((token_in, token_out))
        if depth is None:
            arcs = self.pairs[token_in][token_out]
            depth = self._depths[token_in, token_out] = sum(arc.depth for arc in arcs[:_BEST_FEW])
        return depth

    def arcs(self) -> Iterable[Arc]:
        """Every arc."""
        return (arc for targets in self.pairs for arcs in targets.values() for arc in arcs)

    def neighbours(self, token: int) -> set[int]:
        """Tokens that share a pool with `token`, in either direction."""
        return self.best[token].keys() | self.best_into[token].keys()

    @cached_property
    def _pruning(self) -> tuple[set[int], dict[int, int]]:
        around = {t: self.neighbours(t) for t in range(len(self.addresses))}
        core, towards = set(around), {}
        leaves = [t for t in core if len(around[t]) <= 1]
        while leaves:
            leaf = leaves.pop()
            core.discard(leaf)
            for t in around.pop(leaf, ()):
                towards[leaf] = t
                around[t].discard(leaf)
                if len(around[t]) == 1:
                    leaves.append(t)
        return core, towards

    @property
    def core(self) -> set[int]:
        """Tokens that lie on some cycle of pairs: only they can be intermediates for orders between other tokens.

        A token that one other token touches, or a tree of such tokens, is a dead end for everybody else.
        """
        return self._pruning[0]

    @cached_property
    def core_best(self) -> list[dict[int, float]]:
        """`best` towards core tokens only."""
        core = self.core
        return [{j: rate for j, rate in row.items() if j in core} for row in self.best]

    @cached_property
    def core_best_into(self) -> list[dict[int, float]]:
        """`best_into` from core tokens only."""
        core = self.core
        return [{i: rate for i, rate in row.items() if i in core} for row in self.best_into]

    def way_to_core(self, token: int) -> list[int]:
        """`token` and the tokens between it and the core; ends in the core, or at the root of its tree."""
        core, towards = self._pruning
        way = [token]
        while way[-1] not in core and way[-1] in towards:
            way.append(towards[way[-1]])
        return way


def _copied(rows: list[dict[int, _V]], changing: Set[int], size: int) -> list[dict[int, _V]]:
    """The same rows, but copies of those that will change, and empty ones behind them up to `size`."""
    same = [dict(row) if i in changing else row for i, row in enumerate(rows)]
    return same + [{} for _ in range(size - len(rows))]
