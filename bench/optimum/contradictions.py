"""Look for quotes that contradict each other, in random cases on random markets and on real states.

python -m bench.optimum.contradictions [--cases 600] [--seed 1] [--processes 1] [--json FILE]

Each case is a market and an order from dust to draining. Its answer is compared with those to orders that can pay no
more: with at most 3 hops, without a protocol of the route, a smaller one, and with the best single path by exact swaps.
A contradiction is one of them that pays more (net of gas, where it has a price), or has a route where ours has none.
Orders whose output is worth a cent or less, or less than twice its gas, do not count. `--case NUMBER` looks at one
case, and prints it.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import REAL_MARKET, market_name
from bench.optimum.simple_methods.exact_paths import PathFinder
from bench.optimum.simple_methods.routes import Judge, JudgedRoute, build_route
from bench.optimum.simple_section import ContradictionFigures
from bench.worlds.changed_pools import push_pool, pushed_market
from bench.worlds.random_pairs import dollar_units, read_market
from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote import HUNDREDTHS, WHOLE_PERCENTS
from swapcli.core.routing.gas import route_gas
from swapcli.core.routing.router import Router
from swapcli.core.routing.search.scored_route import ScoredRoute
from tests.support.pools import build_random_market

Markets = tuple[Path, ...]
"""Files of real states; without any, all markets are random."""

BARS_BPS = {
    "hops": 0.05,
    "exclusion": 0.05,
    "exact path": 0.05,
    "larger, fine": 0.01,
    "larger, whole": 1.0,
    "no route": 0.0,
}
"""The loss allowed by kind of contradiction, in basis points of our output."""

MIN_USD = 0.01
_FEW_HOPS, _MANY_HOPS = 3, 8
_LARGER = (1.01, 1.1, 1.5, 2.0, 10.0)
_NO_ROUTE_BPS = 1e4
_REAL_PART, _GAS_PART = 0.25, 0.3  # share of the cases
_CASES_OF_A_MARKET = 6
_NOISES = (0.8, 3.0, 30.0)  # of prices, in fees: without arbitrage, with some, with much
_USD_POWERS = {"random": (-3.0, 7.5), "real": (-2.0, 6.0)}  # of ten: from dust to more than most pools hold
_DUMPED = (0.2, 0.95)  # price drop of a dumped pool
_PATHS = 20
_SEED = 1


class Case(NamedTuple):
    """An order on a market, with a description to reproduce it; `usd` is the value of the input, `bought_usd` of a base
    unit of the output."""

    number: int
    market: str
    router: Router
    order: Order
    gas_price_wei: int
    usd: float
    bought_usd: float


class Comparison(NamedTuple):
    """How much more a quote pays that should pay no more than ours, in basis points of our output and in base units."""

    kind: str
    case: int
    loss_bps: float
    loss_units: float
    usd: float
    description: str

    @property
    def is_contradiction(self) -> bool:
        """Return whether the loss exceeds the threshold of its kind."""
        return self.loss_bps > BARS_BPS[self.kind]


def draw_case(seed: int, number: int, markets: Markets) -> Case | None:
    """Return the case with a number; None if its order is worth too little."""
    rng = random.Random(f"case {seed} {number}")
    real = _real_files(markets)
    is_real = bool(real) and rng.random() < _REAL_PART
    if is_real:
        name = f"{rng.choice(sorted(real))} {rng.choice(['plain', 'pushed', 'dumped'])} {seed}"
    else:
        name = f"random {seed} {number // _CASES_OF_A_MARKET}"
    router, units = _open(name, markets)
    tokens = sorted(units)
    if len(tokens) < 2:
        return None
    token_in, token_out = rng.sample(tokens, 2)
    low, high = _USD_POWERS["real" if is_real else "random"]
    usd = 10 ** rng.uniform(low, high)
    amount = int(usd * units[token_in])
    if not amount:
        return None
    gas_price_wei = int(10 ** rng.uniform(6.0, 9.5)) if rng.random() < _GAS_PART else 0
    known = router.market.tokens
    order = Order(known[token_in], known[token_out], amount, max_hops=_MANY_HOPS)
    return Case(number, name, router, order, gas_price_wei, usd, 1.0 / units[token_out])


@cache
def _real_files(markets: Markets) -> Mapping[str, Path]:
    """Return the real states by name."""
    return {f"market_{market_name(file)}": file for file in markets}


@lru_cache(maxsize=8)
def _open(name: str, markets: Markets) -> tuple[Router, dict[str, float]]:
    """Return a market, and how many base units of each priced token a dollar buys."""
    source, state, part = name.rsplit(" ", 2)
    if source != "random":
        market = read_market(_real_files(markets)[source])
        if state == "pushed":
            market = pushed_market(market, int(part))
        elif state == "dumped":
            market = _with_dumped_pool(market, name)
        return Router(market), dict(dollar_units(market))
    rng = random.Random(name)
    market = build_random_market(
        rng.randrange(1 << 32), pools=rng.randint(6, 24), noise=rng.choice(_NOISES), every_family=rng.random() < 0.7
    )
    if rng.random() < 0.3:
        market = _with_dumped_pool(market, name)
    router = Router(market)
    tokens = list(market.tokens.values())
    prices = zip(tokens, router.index.usd_prices(*tokens), strict=True)
    return router, {token.address: 10**token.decimals / price for token, price in prices if price}


def _with_dumped_pool(market: MarketState, name: str) -> MarketState:
    """Return the market after a swap in one pool that takes most of its price, before any arbitrage."""
    rng = random.Random(f"dumped {name}")
    pool = market.pools[rng.choice(sorted(market.pools))]
    token_in, token_out = rng.sample(pool.tokens, 2)
    dumped = push_pool(pool, token_in, token_out, rng.uniform(*_DUMPED))
    return market._replace(pools={**market.pools, pool.key: dumped})


def compare_answers(case: Case) -> list[Comparison]:
    """Return the comparisons of a case; none if its order does not count."""
    rng, router, order = random.Random(case.number), case.router, case.order
    gas = case.gas_price_wei

    def answer(changed: Order, share_step: int = HUNDREDTHS) -> ScoredRoute | None:
        try:
            return router.search(changed, gas_price_wei=gas, share_step=share_step).best
        except NoRoute:
            return None

    ours = answer(order)
    others: dict[str, ScoredRoute | JudgedRoute | None] = {"hops": answer(order._replace(max_hops=_FEW_HOPS))}
    if ours:
        keys = sorted({step.pool for step in ours.replay.steps})
        excluded = router.market.pools[rng.choice(keys)].protocol
        others["exclusion"] = answer(order._replace(excluded_protocols=frozenset({excluded})))
    gas_value = _gas_value(ours) if ours else 0.0
    others["exact path"] = _exact_path(case, gas_value)
    known = [each for each in (ours, *others.values()) if each]
    if not known or not _counts(case, max(known, key=lambda each: each.replay.amount_out), gas_value):
        return []
    factor = rng.choice(_LARGER)
    larger = order._replace(amount=int(order.amount * factor))
    pairs: dict[str, tuple[ScoredRoute | None, ScoredRoute | JudgedRoute | None]]
    pairs = {kind: (ours, other) for kind, other in others.items()}
    pairs["larger, fine"] = answer(larger), ours
    pairs["larger, whole"] = answer(larger, WHOLE_PERCENTS), answer(order, WHOLE_PERCENTS)
    return list(_losses(case, pairs, gas_value, describe(case, factor)))


def _counts(case: Case, scored: ScoredRoute | JudgedRoute, gas_value: float) -> bool:
    """Return whether an order is worth more than a cent, and more than twice its gas."""
    amount_out = scored.replay.amount_out
    return amount_out * case.bought_usd > MIN_USD and _net(case, scored, gas_value) > amount_out / 2


def _losses(
    case: Case,
    pairs: Mapping[str, tuple[ScoredRoute | None, ScoredRoute | JudgedRoute | None]],
    gas_value: float,
    shown: str,
) -> Iterator[Comparison]:
    """Yield comparisons of pairs of quotes; the first of each pair should pay at least as much as the second."""
    for kind, (better, worse) in pairs.items():
        if worse is None or (better is None and kind.startswith("larger")):
            continue  # a larger order may exceed the pools' balances
        net = _net(case, worse, gas_value)
        if better is None:
            yield Comparison("no route", case.number, _NO_ROUTE_BPS, net, case.usd, f"{kind}: {shown}")
            continue
        loss = net - _net(case, better, gas_value)
        bps = loss / worse.replay.amount_out * 1e4
        yield Comparison(kind, case.number, bps, loss, case.usd, shown)


def _net(case: Case, scored: ScoredRoute | JudgedRoute, gas_value: float) -> float:
    """Return the output less gas. Searches with other limits may value gas a little differently."""
    gas = route_gas(case.router.market.pools, scored.replay) * gas_value if gas_value else 0.0
    return scored.replay.amount_out - gas


def _gas_value(scored: ScoredRoute) -> float:
    """Return the value of a unit of gas, in base units of the output."""
    return (scored.replay.amount_out - scored.net) / scored.gas_units if scored.gas_units else 0.0


def _exact_path(case: Case, gas_value: float) -> JudgedRoute | None:
    """Return the best single path by exact swaps, net of gas; None if there is none."""
    order, pools = case.order, case.router.market.pools
    finder = PathFinder(pools, order.token_in.address, order.token_out.address, max_hops=4)
    judge = Judge(pools, order.amount, gas_value, WHOLE_PERCENTS)
    paths = finder.best_paths(order.amount, pools, _PATHS)
    return judge.best(build_route({each.path: 1.0}, WHOLE_PERCENTS) for each in paths)


def describe(case: Case, factor: float) -> str:
    """Return a description that reproduces a case."""
    order = case.order
    return (
        f"${case.usd:.2f}, {order.amount} of {order.token_in.address} for {order.token_out.address}, "
        f"gas {case.gas_price_wei} wei, larger {factor:g} times, market {case.market}"
    )


def _compare_number(number: int, seed: int, markets: Markets) -> list[Comparison]:
    case = draw_case(seed, number, markets)
    return compare_answers(case) if case else []


def run(cases: Sequence[int], seed: int, markets: Markets, processes: int) -> Iterator[Comparison]:
    """Yield the comparisons of all cases, in their order."""
    compare = partial(_compare_number, seed=seed, markets=markets)
    if processes == 1:
        for number in cases:
            yield from compare(number)
        return
    with get_context("fork").Pool(processes) as pool:
        for found in pool.imap(compare, cases, chunksize=_CASES_OF_A_MARKET):
            yield from found


def measure_contradictions(cases: int, markets: Markets, seed: int) -> list[ContradictionFigures]:
    """Return the figures of each kind, for random markets and for these real states. Raises `BenchmarkFailed`."""
    return kind_figures(list(run(range(cases), seed, markets, 1)))


def kind_figures(found: Sequence[Comparison]) -> list[ContradictionFigures]:
    """Return how many comparisons of each kind are contradictions, and the worst contradiction of more than one
    unit."""
    figures = []
    for kind, bar in BARS_BPS.items():
        rows = [each for each in found if each.kind == kind]
        above = [each for each in rows if each.is_contradiction]
        more = [each for each in above if each.loss_units > 1.0]
        worst = max(more, key=lambda each: each.loss_bps, default=None)
        shown = f"--case {worst.case}: {worst.description}" if worst else ""
        large = sum(each.loss_bps > 1.0 for each in above)
        bps = worst.loss_bps if worst else 0.0
        figures.append(ContradictionFigures(kind, bar, len(rows), len(above), len(more), large, bps, shown))
    return figures


def table(found: Sequence[Comparison]) -> list[str]:
    """Return the lines of a table: by kind, the number of contradictions and the worst one."""
    lines = [f"  {'kind':14}{'compared':>9}{'bar, bps':>10}{'above it':>10}{'> 1 unit':>10}{'> 1 bps':>9}   worst"]
    for each in kind_figures(found):
        shown = f"{each.worst_bps:.3f} bps, {each.worst}" if each.worst else "none"
        lines.append(
            f"  {each.kind:14}{each.compared:9}{each.bar_bps:10g}{each.above:10}{each.above_by_units:10}"
            f"{each.above_1_bps:9}   {shown}"
        )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.optimum.contradictions", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--cases", type=int, default=600, help="number of cases  [600]")
    parser.add_argument("--seed", type=int, default=_SEED)
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--market", type=Path, action="append", metavar="FILE", help="real states  [the committed one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each contradiction, one a line")
    parser.add_argument("--case", type=int, metavar="NUMBER", help="look at this case only")
    options = parser.parse_args(arguments)
    markets = tuple(options.market or [REAL_MARKET])
    if options.case is not None:
        for each in _compare_number(options.case, options.seed, markets):
            print(f"{each.kind}: {each.loss_bps:.4f} bps, {each.loss_units:.0f} units; {each.description}")
        return
    found = list(run(range(options.cases), options.seed, markets, options.processes))
    if options.json:
        rows = [each._asdict() for each in found if each.is_contradiction]
        options.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    counted = len({each.case for each in found})
    print(f"{counted} of {options.cases} cases above a cent, seed {options.seed}; contradictions")
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
