"""Build routes from paths with weights, and judge routes by their exact replay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from bench.optimum.simple_methods.exact_paths import Path, tokens_of
from swapcli.core.errors import InvalidRoute, PoolError
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import SHARES_PER_HOP, SHARES_PER_ROUTE, Route, Segment, Swap
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.replay import Replay, replay


class JudgedRoute(NamedTuple):
    """A route with its exact output, and the output net of gas in base units of the bought token."""

    net: float
    amount_out: int
    route: Route
    replay: Replay


class Judge:
    """Replays routes for one order, and counts each replay as an evaluation. `gas_value` is the value of a unit of
    gas."""

    def __init__(self, pools: Mapping[str, Pool], amount: int, gas_value: float, share_step: int) -> None:
        self.pools, self.amount, self.gas_value, self.share_step = pools, amount, gas_value, share_step
        self.evaluations = 0
        self._seen: dict[Route, JudgedRoute | None] = {}

    def judge(self, route: Route) -> JudgedRoute | None:
        """Return the route with its amounts; None if the router rejects it or a pool rejects its amount."""
        if route not in self._seen:
            self.evaluations += 1
            self._seen[route] = self._judge(route)
        return self._seen[route]

    def _judge(self, route: Route) -> JudgedRoute | None:
        try:
            done = replay(self.pools, route, self.amount)
        except (InvalidRoute, PoolError, ArithmeticError, ValueError):
            return None
        gas = route_gas(self.pools, done) * self.gas_value if self.gas_value else 0.0
        return JudgedRoute(done.amount_out - gas, done.amount_out, route, done)

    def best(self, routes: Iterable[Route | None]) -> JudgedRoute | None:
        """Return the best of `routes`; None if none can be executed."""
        judged = [found for route in routes if route and (found := self.judge(route))]
        return max(judged, key=lambda each: each.net, default=None)


def apportion(weights: Sequence[float], total: int, step: int = 1) -> list[int]:
    """Return multiples of `step` that sum to `total`, in proportion to `weights`, by the largest remainders.

    Example: `apportion([1, 2], 100)` is `[33, 67]`.
    """
    units, whole = total // step, sum(weights)
    exact = [weight * units / whole for weight in weights]
    parts = [int(each) for each in exact]
    by_remainder = sorted(range(len(weights)), key=lambda k: parts[k] - exact[k])
    for k in by_remainder[: units - sum(parts)]:
        parts[k] += 1
    return [part * step for part in parts]


def build_route(weights: Mapping[Path, float], share_step: int) -> Route | None:
    """Return the route that splits an order over paths by their weights; None if no share is left.

    Paths through the same tokens become one segment, whose share is a multiple of `share_step`.
    """
    by_tokens: dict[tuple[str, ...], dict[Path, float]] = {}
    for path, weight in weights.items():
        if weight > 0.0:
            by_tokens.setdefault(tokens_of(path), {})[path] = weight
    if not by_tokens:
        return None
    shares = apportion([sum(paths.values()) for paths in by_tokens.values()], SHARES_PER_ROUTE, share_step)
    segments = [_segment(share, paths) for share, paths in zip(shares, by_tokens.values(), strict=True) if share]
    return Route(tuple(segments))


def _segment(share: int, paths: Mapping[Path, float]) -> Segment:
    hops = []
    for position in range(len(next(iter(paths)))):
        weights: dict[tuple[str, str, str], float] = {}
        for path, weight in paths.items():
            weights[path[position]] = weights.get(path[position], 0.0) + weight
        shares = apportion(list(weights.values()), SHARES_PER_HOP)
        hops.append(tuple(Swap(*hop, part) for hop, part in zip(weights, shares, strict=True) if part))
    return Segment(share, tuple(hops))


def segment_tokens(segment: Segment) -> tuple[str, ...]:
    """Return the tokens through which a segment passes."""
    return (segment.hops[0][0].token_in, *(hop[0].token_out for hop in segment.hops))


def token_pairs(route: Route) -> set[tuple[str, str]]:
    """Return the ordered pairs of tokens between which the route swaps."""
    return {pair for segment in route.segments for pair in pairwise(segment_tokens(segment))}
