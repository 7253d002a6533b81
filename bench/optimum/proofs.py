"""Compare the routes of every competitor with the bounds of published proofs: none may pay more.

python -m bench.optimum.proofs [--markets 40] [--orders 20] [--seed 1] [--gas 0,0.01,1] [--market FILE] [--no-peer]

makes markets from seeds (with and without arbitrage, of the sizes of `--sizes`), or opens the named files; quotes
random orders at each gas price with a proof; and lets each simple method and Tines route the same order, at one of the
gas prices. What their routes pay, by exact replay, must not exceed the bounds in any of the order's proofs. The status
is 1 if one does.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench.optimum.draws import ARBITRAGE_FREE, RAW
from bench.optimum.gen_market import write_market
from bench.optimum.real_market import market_name, read_document, unpack
from bench.optimum.simple_methods.compare import METHODS
from bench.optimum.simple_methods.exact_paths import PathFinder
from bench.optimum.simple_methods.routes import Judge
from bench.running import BenchmarkFailed
from bench.worlds.random_pairs import PairOrder, random_pairs, read_market
from swapcli import Market as QuotedMarket
from swapcli.core.errors import NoRoute, SwapcliError
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, Route
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.router import Router

PEER = "tines"
MAX_USD = 1e6
_EVALUATIONS = 200
_PEER_NOISE = Fraction(1, 10**9)  # relative: the peer's amounts are real numbers
_NOISES = (ARBITRAGE_FREE, RAW)
_WEI_A_GWEI = 10**9
_GAS_GWEI = (0.0, 0.001, 0.01, 0.1, 1.0)

Direction = tuple[str, str, str]
"""A pool and the tokens sold and bought, by address."""


class Claim(NamedTuple):
    """A proof's bound: no route pays more that uses no direction in `excluded` and every other direction at most once.

    With `is_net`, no route pays more net of gas, if no path of it has more than `max_hops` hops, or passes through the
    tokens of the order in between.
    """

    kind: str
    bound: Fraction
    excluded: frozenset[Direction]
    max_hops: int
    is_net: bool


class Contender(NamedTuple):
    """A competitor's route: its output in base units, its gas, and its swaps as the router executes them."""

    method: str
    amount_out: Fraction
    gas_units: int
    swaps: tuple[Direction, ...]


class Verdict(NamedTuple):
    """How far a route is below a bound, as a share of the bound; negative if it refutes the proof.

    `slack` is None if the bound does not apply to the route. `gas_gwei` is the gas price of the proof.
    """

    market: str
    token_in: str
    token_out: str
    amount_in: int
    gas_gwei: float
    method: str
    kind: str
    slack: Fraction | None

    @property
    def is_above(self) -> bool:
        """Whether the route pays more than the bound allows."""
        return self.slack is not None and self.slack < 0


def claims_of(document: Mapping[str, Any]) -> Iterator[Claim]:
    """Yield the bounds in a proof's document."""
    pools = [pool["address"] for pool in document["pools"]]
    tokens = [token["address"] for token in document["tokens"]]

    def directions(triples: Iterable[Sequence[int]]) -> frozenset[Direction]:
        return frozenset((pools[pool], tokens[sold], tokens[bought]) for pool, sold, bought in triples)

    for each in document["bounds"]:
        is_net = each["kind"] == "afterGas"
        excluded = directions(document["scope"]["dust"] if is_net else each["excluded"])
        yield Claim(each["kind"], Fraction(each["bound"]), excluded, document["scope"]["maxHops"], is_net)


def slack(claim: Claim, route: Contender, unit_value: Fraction) -> Fraction | None:
    """Return how far a route is below a bound, as a share of it; None if the route is outside the bound's scope."""
    if len(set(route.swaps)) < len(route.swaps) or not claim.excluded.isdisjoint(route.swaps):
        return None
    paid = route.amount_out
    if claim.is_net:
        hops = longest_path(route.swaps)
        if hops is None or hops > claim.max_hops:
            return None
        paid -= unit_value * route.gas_units
    allowed = claim.bound * (1 + _PEER_NOISE) if route.method == PEER else claim.bound
    return (allowed - paid) / (abs(claim.bound) or 1)


def longest_path(swaps: Sequence[Direction]) -> int | None:
    """Return the hops of the longest path through the swaps of a route from its first token; None if there is a cycle.

    The router merges what comes into a token, so a path may follow one segment and then another.
    """
    following: dict[str, set[str]] = {}
    for _, sold, bought in swaps:
        following.setdefault(sold, set()).add(bought)
    lengths: dict[str, int | None] = {}

    def length(token: str) -> int | None:
        if token not in lengths:
            lengths[token] = None  # until it is known: if found again before, it is on a cycle
            found = [length(each) for each in following.get(token, ())]
            known = [each for each in found if each is not None]
            lengths[token] = 1 + max(known) if known and len(known) == len(found) else None if found else 0
        return lengths[token]

    return length(swaps[0][1]) if swaps else 0


class _Task(NamedTuple):
    """A market, to generate from a size, seed and noise or to read from a file, and how to measure it."""

    market: Path | tuple[int, int, str]
    orders: int
    seed: int
    gas_gwei: tuple[float, ...]
    methods: tuple[str, ...]
    evaluations: int


class Outcome(NamedTuple):
    """The results for a market: the number of proofs, the verdicts, and orders without a proof, by reason."""

    market: str
    proofs: int
    verdicts: list[Verdict]
    without: Counter[str]


class _Proven(NamedTuple):
    """The document of a proof, at a gas price."""

    gas_gwei: float
    document: Mapping[str, Any]

    @property
    def unit_value(self) -> Fraction:
        """The value of a unit of gas in base units of the bought token."""
        return Fraction(self.document["gas"]["unitValue"])


def measure_market(task: _Task) -> Outcome:
    """Return the verdicts on all routes of a market. Raises `BenchmarkFailed`."""
    with TemporaryDirectory(prefix="proofs-") as name:
        folder = Path(name)
        file = unpack_or_make(task.market, folder)
        state, quoted, without = read_market(file), QuotedMarket.from_file(file), Counter[str]()
        pairs = random_pairs(state, task.orders, task.seed, MAX_USD)
        peer = _peer_routes(file, pairs, folder) if PEER in task.methods else {}
        proofs, verdicts = 0, list[Verdict]()
        for number, pair in enumerate(pairs):
            proven = list(_proofs(quoted, pair, task.gas_gwei, without))
            if not proven:
                continue
            proofs += len(proven)
            routed_at = proven[number % len(proven)]
            routes = [*_simple_routes(state, pair, routed_at, task), *peer.get(number, ())]
            verdicts.extend(_verdicts(market_name(file), pair, proven, routes))
        return Outcome(market_name(file), proofs, verdicts, without)


def _proofs(
    market: QuotedMarket, pair: PairOrder, gas_gwei: Iterable[float], without: Counter[str]
) -> Iterator[_Proven]:
    """Yield the proofs for an order at each gas price, and count missing ones by reason."""
    for each in gas_gwei:
        price = round(each * _WEI_A_GWEI)
        try:
            quote = market.quote(pair.token_in, pair.token_out, amount=pair.amount, proof=True, gas_price=price)
            yield _Proven(each, quote.proof().document())
        except SwapcliError as error:
            without[type(error).__name__] += 1


def _verdicts(
    market: str, pair: PairOrder, proven: Iterable[_Proven], routes: Sequence[Contender]
) -> Iterator[Verdict]:
    order = pair.token_in, pair.token_out, pair.amount
    for proof in proven:
        for claim in claims_of(proof.document):
            for route in routes:
                if claim.is_net and route.method == PEER:
                    continue  # the gas of its routes on our routers is unknown
                found = slack(claim, route, proof.unit_value)
                yield Verdict(market, *order, proof.gas_gwei, route.method, claim.kind, found)


def unpack_or_make(market: Path | tuple[int, int, str], folder: Path) -> Path:
    """Return a plain market file in `folder`: unpacked, or made from a size, a seed and noise."""
    if isinstance(market, Path):
        return unpack(market, folder)
    pools, seed, noise = market
    return write_market(pools, seed, folder, noise)


def _simple_routes(state: MarketState, pair: PairOrder, proven: _Proven, task: _Task) -> Iterator[Contender]:
    """Yield the routes of the simple methods at the gas price of a proof; climbs start from our route."""
    finder = PathFinder(state.pools, pair.token_in, pair.token_out)
    ours = _our_route(state, pair, proven.gas_gwei)
    for method in task.methods:
        if method == PEER:
            continue
        judge = Judge(state.pools, pair.amount, float(proven.unit_value), HUNDREDTHS)
        found = METHODS[method](judge, finder, ours, task.evaluations)
        if found:
            swaps = tuple(
                (state.pools[step.pool].address, step.token_in, step.token_out) for step in found.replay.steps
            )
            yield Contender(method, Fraction(found.amount_out), route_gas(state.pools, found.replay), swaps)


def _our_route(state: MarketState, pair: PairOrder, gas_gwei: float) -> Route | None:
    tokens = state.tokens
    order = Order(tokens[pair.token_in], tokens[pair.token_out], pair.amount)
    try:
        found = Router(state).search(order, gas_price_wei=round(gas_gwei * _WEI_A_GWEI), share_step=HUNDREDTHS)
    except NoRoute:
        return None
    return found.best.route


def _peer_routes(file: Path, pairs: Sequence[PairOrder], folder: Path) -> dict[int, list[Contender]]:
    """Return the peer's route of each order by its number, if it routes the whole order."""
    from bench.optimum.bound import Market
    from bench.optimum.peer import evaluate, install, run_peer

    install()
    orders = [
        {"id": number, "token_in": pair.token_in, "token_out": pair.token_out, "amount_in": str(pair.amount)}
        for number, pair in enumerate(pairs)
    ]
    drawn = folder / "drawn.ndjson"
    drawn.write_text("".join(json.dumps(order) + "\n" for order in orders))
    routes = run_peer(file, folder / "tines.json", orders=drawn)
    found = {}
    for route, paid in evaluate(Market(read_document(file)), orders, routes):
        swaps = tuple((pool, sold, bought) for pool, sold, bought, _ in route.legs)
        if paid and len({pool for pool, _, _ in swaps}) == len(swaps):
            found[route.id] = [Contender(PEER, Fraction(paid), 0, swaps)]
    return found


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the figures of all markets: routes by bound and method, how close they came, and those above their
    bound."""
    slacks: dict[tuple[str, str], list[Fraction]] = {}
    outside = 0
    for verdict in (verdict for outcome in outcomes for verdict in outcome.verdicts):
        if verdict.slack is None:
            outside += 1
        else:
            slacks.setdefault((verdict.kind, verdict.method), []).append(verdict.slack)
    by_bound: dict[str, dict[str, Any]] = {}
    for (kind, method), found in sorted(slacks.items()):
        above, nearest = sum(each < 0 for each in found), float(min(found)) * 1e4
        by_bound.setdefault(kind, {})[method] = {"routes": len(found), "above": above, "nearest_bps": nearest}
    return {
        "markets": len(outcomes),
        "proofs": sum(outcome.proofs for outcome in outcomes),
        "routes_compared": sum(len(found) for found in slacks.values()),
        "outside_of_the_scope": outside,
        "above": sum(each < 0 for found in slacks.values() for each in found),
        "orders_without_proof": dict(sum((outcome.without for outcome in outcomes), Counter())),
        "by_bound": by_bound,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures as JSON, and each route above its bound."""
    options = _parse(arguments)
    places: Sequence[Path | tuple[int, int, str]] = options.market or [
        (options.sizes[k % len(options.sizes)], options.seed + k, _NOISES[k // len(options.sizes) % len(_NOISES)])
        for k in range(options.markets)
    ]
    methods = tuple(name for name in (*options.methods, PEER) if name != PEER or options.peer)
    tasks = [
        _Task(place, options.orders, options.seed + k, options.gas, methods, options.evaluations)
        for k, place in enumerate(places)
    ]
    outcomes = []
    try:
        with get_context("spawn").Pool(options.processes) as pool:
            for outcome in pool.imap_unordered(measure_market, tasks):
                outcomes.append(outcome)
                _report(outcome, len(outcomes), len(tasks))
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    found = summary(outcomes)
    print(json.dumps(found, indent=1))
    return 1 if found["above"] else 0


def _report(outcome: Outcome, done: int, of: int) -> None:
    for verdict in outcome.verdicts:
        if verdict.is_above:
            print(f"above: {json.dumps(verdict._asdict(), default=float)}", file=sys.stderr)
    print(f"{outcome.market}: {outcome.proofs} proofs, {done} of {of} markets", file=sys.stderr, flush=True)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.optimum.proofs", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--markets", type=int, default=40, help="how many to make  [40]")
    parser.add_argument("--sizes", type=_numbers, default=(12, 20, 40, 60), metavar="N,..", help="pools  [12,20,40,60]")
    parser.add_argument("--market", type=Path, nargs="+", metavar="FILE", help="market files instead of made-up ones")
    parser.add_argument("--orders", type=int, default=20, help="of each market  [20]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gas", type=_prices, default=_GAS_GWEI, metavar="GWEI,..", help="  [0,0.001,0.01,0.1,1]")
    parser.add_argument("--methods", type=_methods, default=tuple(METHODS), metavar="NAME,..", help="  [all]")
    parser.add_argument("--peer", action=argparse.BooleanOptionalAction, default=True, help="with Tines")
    parser.add_argument("--evaluations", type=int, default=_EVALUATIONS, help="replays of a climb  [200]")
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args(arguments)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(each) for each in text.split(","))


def _prices(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def _methods(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= set(METHODS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(METHODS)}, not {text!r}")
    return names


if __name__ == "__main__":
    sys.exit(main())
