"""Compare our route for an order with the routes found by each simple method."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from bench.optimum.simple_methods.exact_paths import PathFinder
from bench.optimum.simple_methods.hill_climb import hill_climb
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, build_route
from bench.optimum.simple_methods.water_fill import candidate_paths, fill, water_fill
from bench.worlds.random_pairs import PairOrder
from swapcli.core.errors import NoRoute
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, Route
from swapcli.core.routing.router import Router

_RESTARTS, _CLIMBED_RESTARTS = 10, 6
_RESTART_PARTS = (0.4, 0.7)  # candidate paths, in turn
_SINGLE_PATHS = 40  # the best by the sum of swaps; each one's replay decides

Method = Callable[[Judge, PathFinder, Route | None, int], JudgedRoute | None]
"""Takes the judge of the order, the paths, our route, and the number of evaluations; returns the best route found."""


def _path(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    del ours, evaluations
    found = finder.best_paths(judge.amount, judge.pools, _SINGLE_PATHS, labels=12)
    return judge.best(build_route({each.path: 1.0}, judge.share_step) for each in found)


def _fill_256(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    del ours, evaluations
    return water_fill(judge, finder, 256)


def _fill_1024(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    del ours, evaluations
    return water_fill(judge, finder, 1_024)


def _climb(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    return hill_climb(judge, finder, ours, evaluations) if ours else None


def _fill_climb(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    starts = _path(judge, finder, ours, evaluations), _fill_256(judge, finder, ours, evaluations)
    return climb_from_all(judge, finder, starts, evaluations)


def _restarts(judge: Judge, finder: PathFinder, ours: Route | None, evaluations: int) -> JudgedRoute | None:
    """Climb from fills over random subsets of the paths: the first path determines the order of tokens."""
    del ours
    rng = random.Random(judge.amount)
    paths = candidate_paths(finder, judge.amount, judge.pools)
    starts = []
    for number in range(_RESTARTS):
        some = [path for path in paths if rng.random() < _RESTART_PARTS[number % len(_RESTART_PARTS)]]
        starts.append(judge.best([build_route(fill(some, judge.amount, judge.pools, 100), judge.share_step)]))
    found = [start for start in starts if start]
    found.sort(key=lambda each: -each.net)
    first = climb_from_all(judge, finder, found[:_CLIMBED_RESTARTS], evaluations // _CLIMBED_RESTARTS)
    return hill_climb(judge, finder, first.route, evaluations) if first else None


def climb_from_all(
    judge: Judge, finder: PathFinder, starts: Sequence[JudgedRoute | None], evaluations: int
) -> JudgedRoute | None:
    """Return the best route reached from all `starts`, each within `evaluations`; None without a start."""
    climbed = [hill_climb(judge, finder, start.route, evaluations) for start in starts if start]
    return max((each for each in climbed if each), key=lambda each: each.net, default=None)


METHODS: Mapping[str, Method] = {
    "path": _path, "fill256": _fill_256, "fill1024": _fill_1024, "climb": _climb, "fill_climb": _fill_climb,
    "restarts": _restarts,
}  # fmt: skip
DEFAULT_METHODS = ("path", "fill256", "fill1024", "climb", "fill_climb")
"""Restarts take as long as all of these, and find little more: use them for a closer look."""

PEER = "tines"


class Found(NamedTuple):
    """A method's result: the exact output, the output net of gas, and its gain over ours in basis points of our
    output."""

    method: str
    amount_out: int
    net: float
    gain_bps: float
    gain_usd: float
    evaluations: int
    route: Route


class Compared(NamedTuple):
    """Our route for an order next to those of the methods; `amount_out` is 0 and `route` None if we found none."""

    order: PairOrder
    gas_gwei: float
    amount_out: int
    net: float
    route: Route | None
    found: Sequence[Found]


def compare(
    router: Router,
    order: PairOrder,
    gas_gwei: float,
    methods: Sequence[str],
    evaluations: int,
    share_step: int = HUNDREDTHS,
    peer: Route | None = None,
) -> Compared:
    """Quote an order, and let the methods try to find a better route; the peer's route is one of the candidates.

    A climb has `evaluations` replays. Shares of segments are multiples of `share_step`, in hundredths of a percent.
    """
    tokens = router.market.tokens
    bought = tokens[order.token_out]
    route, net, out, gas_value = None, 0.0, 0, 0.0
    try:
        result = router.search(
            Order(tokens[order.token_in], bought, order.amount),
            gas_price_wei=round(gas_gwei * 1e9),
            share_step=share_step,
        )
    except NoRoute:
        pass
    else:
        best, gas_value = result.best, result.problem.spec.gas_value
        route, net, out = best.route, best.net, best.replay.amount_out
    finder = PathFinder(router.market.pools, order.token_in, order.token_out)
    found = []
    for name in (*methods, PEER):
        judge = Judge(router.market.pools, order.amount, gas_value, share_step)
        judged = METHODS[name](judge, finder, route, evaluations) if name != PEER else judge.best([peer])
        if judged:
            gain = judged.net - net
            gain_usd = gain / 10**bought.decimals * (bought.price_usd or 0.0)
            bps = gain / out * 1e4 if out else 1e4
            found.append(Found(name, judged.amount_out, judged.net, bps, gain_usd, judge.evaluations, judged.route))
    return Compared(order, gas_gwei, out, net, route, found)
