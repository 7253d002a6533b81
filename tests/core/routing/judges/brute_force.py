"""The best route on a market of a few pools: every order of its tokens, and shares moved in ever finer steps.

A route without cycles spends each token after all its inflows. For one order of the tokens, it is decided by the parts
of each token's balance that the pools to later tokens get. Exact swaps of the pools judge every change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from bench.optimum.simple_methods.exact_paths import Hop, Path, PathFinder, paid
from bench.optimum.simple_methods.hill_climb import hill_climb
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, build_route
from bench.optimum.simple_methods.water_fill import candidate_paths, fill
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.pool import Pool
from swapcli.core.model.quote import HUNDREDTHS, Step
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.replay import Replay

_COARSE_STEPS = (0.5, 0.2, 0.08, 0.03)  # of a token's balance, moved at once from one pool to another
_FINE_STEPS = (0.01, 3e-3, 1e-3, 3e-4, 1e-4, 2e-5, 4e-6)
_CHUNKS = (20, 150)  # of the order, with which paths are filled for a start
_SINGLE_PATHS = 4  # the best ones, each a start
_POLISHED = 2  # starts that finer moves follow: the best ones after coarse moves
_EVALUATIONS = 1_500  # replays of the search for the best shares near the best parts
_LEAST_GAIN = 1e-10  # relative: smaller gains are noise of the last units

Parts = Mapping[str, Mapping[Hop, float]]
"""For each token that is spent, the parts of its balance that pools get; tokens come after those that pay them."""

_Evaluation = Callable[[Parts], float | None]
"""Returns the output net of gas; None if a pool rejects its amount."""


class BruteForce(NamedTuple):
    """The best output net of gas with parts of any precision, and the best route in shares, where that was wanted."""

    net: float
    route: JudgedRoute | None


def brute_force(
    market: MarketState,
    order: Order,
    gas_value: float = 0.0,
    share_step: int = HUNDREDTHS,
    sufficient: float = float("-inf"),
) -> BruteForce | None:
    """Return the best that was found; None if no start carries the order.

    `gas_value` is that of a unit of gas in base units of the bought token. A route in shares, multiples of
    `share_step`, is looked for only if parts of any precision bring more than `sufficient`.
    """
    endpoints = order.token_in.address, order.token_out.address
    finder = PathFinder(market.pools, *endpoints, order.max_hops)
    evaluate = _evaluation(market.pools, endpoints, order.amount, gas_value)
    paths = candidate_paths(finder, order.amount, market.pools)
    found: list[tuple[float, Parts]] = []
    for hops in _acyclic_sets(finder):
        allowed = {hop for parallel in hops.values() for hop in parallel}
        some = [path for path in paths if allowed.issuperset(path)]
        starts = [(net, parts) for parts in _starts(some, hops, order.amount, market.pools) if (net := evaluate(parts))]
        coarse = sorted((_climb(evaluate, *start, _COARSE_STEPS) for start in starts), key=lambda each: -each[0])
        found += [_climb(evaluate, *start, _FINE_STEPS) for start in coarse[:_POLISHED]]
    if not found:
        return None
    net, parts = max(found, key=lambda each: each[0])
    if net <= sufficient:
        return BruteForce(net, None)
    judge = Judge(market.pools, order.amount, gas_value, share_step)
    route = build_route(_path_weights(parts, *endpoints), share_step)
    return BruteForce(net, hill_climb(judge, finder, route, _EVALUATIONS) if route else None)


def _acyclic_sets(finder: PathFinder) -> Iterator[dict[str, list[Hop]]]:
    """Yield the hops on paths by token, for each order of the tokens that allows other hops than the others."""
    source, target = finder.source, finder.target
    between = sorted({token for pair in finder.hops_by_pair for token in pair} - {source, target})
    seen = set[frozenset[tuple[str, str]]]()
    for order in permutations(between):
        ranked = (source, *order, target)
        rank = {token: number for number, token in enumerate(ranked)}
        pairs = _on_paths({pair for pair in finder.hops_by_pair if rank[pair[0]] < rank[pair[1]]}, source, target)
        if pairs and pairs not in seen:
            seen.add(pairs)
            yield {i: [hop for j in ranked if (i, j) in pairs for hop in finder.hops_by_pair[i, j]] for i in ranked}


def _on_paths(pairs: set[tuple[str, str]], source: str, target: str) -> frozenset[tuple[str, str]]:
    """Return those of acyclic pairs that are on a path from the source to the target."""
    after = _reached(source, pairs)
    before = _reached(target, [(j, i) for i, j in pairs])
    return frozenset((i, j) for i, j in pairs if i in after and j in before)


def _reached(start: str, pairs: Iterable[tuple[str, str]]) -> set[str]:
    reached, frontier = {start}, [start]
    while frontier:
        token = frontier.pop()
        following = {j for i, j in pairs if i == token} - reached
        reached |= following
        frontier += following
    return reached


def _starts(
    paths: Sequence[Path], hops: Mapping[str, Sequence[Hop]], amount: int, pools: Mapping[str, Pool]
) -> Iterator[Parts]:
    """Yield parts to begin with: single paths, and paths filled with chunks of the order.

    A token that a start does not reach passes all on along the first path through it, for moves that reach it.
    """
    defaults: dict[str, Hop] = {}
    for hop in (hop for path in paths for hop in path):
        defaults.setdefault(hop.token_in, hop)
    weights: list[dict[Path, int]] = [{path: 1} for path in paths[:_SINGLE_PATHS]]
    for chunks in _CHUNKS:
        filled = fill(paths, amount, pools, chunks)
        if sum(filled.values()) == chunks:
            weights.append(filled)
    for weighted in weights:
        flows = _flows(weighted, amount, pools)
        parts: dict[str, dict[Hop, float]] = {}
        for token, parallel in hops.items():
            total = sum(flows.get(hop, 0) for hop in parallel)
            if total:
                parts[token] = {hop: flows.get(hop, 0) / total for hop in parallel}
            elif token in defaults:
                parts[token] = {hop: float(hop == defaults[token]) for hop in parallel}
        yield parts


def _flows(weights: Mapping[Path, int], amount: int, pools: Mapping[str, Pool]) -> Mapping[Hop, int]:
    """Return about the amounts that reach each hop: paths are executed one after the other."""
    flows: dict[Hop, int] = {}
    now, total = dict(pools), sum(weights.values())
    for path, weight in weights.items():
        carried = amount * weight // total
        for hop in path:
            flows[hop] = flows.get(hop, 0) + carried
            carried, now[hop.pool] = paid(now[hop.pool], hop.token_in, hop.token_out, carried) or (0, now[hop.pool])
    return flows


def _evaluation(pools: Mapping[str, Pool], endpoints: tuple[str, str], amount: int, gas_value: float) -> _Evaluation:
    source, target = endpoints

    def evaluate(parts: Parts) -> float | None:
        balances, touched, steps = {source: amount}, dict[str, Pool](), list[Step]()
        for token, by_hop in parts.items():
            balance = left = balances.get(token, 0)
            used = [(hop, part) for hop, part in by_hop.items() if part > 0.0] if balance else []
            for number, (hop, part) in enumerate(used, 1):
                spent = left if number == len(used) else min(left, int(balance * part))
                result = paid(touched.get(hop.pool) or pools[hop.pool], hop.token_in, hop.token_out, spent)
                if result is None:
                    return None
                left -= spent
                balances[hop.token_out] = balances.get(hop.token_out, 0) + result[0]
                touched[hop.pool] = result[1]
                steps.append(Step(*hop, 0, spent, result[0]))
        out = balances.get(target, 0)
        return out - route_gas(pools, Replay(tuple(steps), out, touched)) * gas_value if gas_value else float(out)

    return evaluate


def _climb(evaluate: _Evaluation, net: float, parts: Parts, steps: Sequence[float]) -> tuple[float, Parts]:
    """Return the best that moves of parts from one pool to another of the same token reach."""
    for step in steps:
        is_better = True
        while is_better:
            is_better = False
            for changed in _moves(parts, step):
                found = evaluate(changed)
                if found is not None and found > net + _LEAST_GAIN * abs(net):
                    net, parts, is_better = found, changed, True
                    break
    return net, parts


def _moves(parts: Parts, step: float) -> Iterator[Parts]:
    for token, by_hop in parts.items():
        for giver, part in by_hop.items():
            moved = min(step, part)
            if moved > 0.0:
                for taker in by_hop:
                    if taker != giver:
                        changed = {**by_hop, giver: part - moved, taker: by_hop[taker] + moved}
                        yield {**parts, token: changed}


def _path_weights(parts: Parts, source: str, target: str) -> dict[Path, float]:
    """Return the part of the order that each path carries."""
    weights: dict[Path, float] = {}

    def extend(path: Path, token: str, weight: float) -> None:
        if token == target:
            weights[path] = weight
            return
        for hop, part in parts[token].items():
            if part > 0.0:
                extend((*path, hop), hop.token_out, weight * part)

    extend((), source, 1.0)
    return weights
