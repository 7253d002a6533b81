"""Show how often a simple method finds a better route than the search, for random pairs on real states.

python -m bench.optimum.simple_methods [--orders 120] [--seed 1] [--gas 0,0.01,1] [--pushed] [--methods path,climb]

draws orders of $0.3 to $3,000 between any two tokens, quotes them, and lets each method try to beat the route; with
`--pushed` after a fifth of the pools were pushed out of line by 0.1 to 5%. `--json FILE` writes each order with its
routes. `--pair TOKEN_IN,TOKEN_OUT,AMOUNT` (addresses and base units, as printed) looks at one order and prints its
routes. Gains are net of gas, in basis points of our output, by the exact replay of routes of our own format; below a
cent they do not count in the table.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from bench.optimum.real_market import REAL_MARKET, market_name
from bench.optimum.simple_methods.compare import DEFAULT_METHODS, METHODS, Compared
from bench.optimum.simple_methods.figures import MIN_GAINS_BPS
from bench.optimum.simple_methods.measure import EVALUATIONS, Settings, compare_all, gain_figures
from bench.running import BenchmarkFailed
from bench.worlds.changed_pools import pushed_market
from bench.worlds.random_pairs import PairOrder, random_pairs, read_market
from swapcli.core.model.market import MarketState
from swapcli.core.model.quote import HUNDREDTHS, WHOLE_PERCENTS, Route

SHARE_STEPS = {"fine": HUNDREDTHS, "whole": WHOLE_PERCENTS}


def table(rows: Sequence[Compared], methods: Sequence[str]) -> list[str]:
    """Return the lines of a table: for each method, and for all together, the orders with a gain above each
    threshold."""
    header = "".join(f"{f'> {bps:g} bps':>12}" for bps in MIN_GAINS_BPS)
    lines = [f"  {'method':10}{header}   worst"]
    for name, group in [*((each, [each]) for each in methods), ("any", list(methods))]:
        figures = gain_figures(rows, group, name, name)
        shown = "".join(f"{count:5} {count / figures.orders:6.1%}" for count in figures.above)
        lines.append(f"  {name:10}{shown}   {figures.worst_bps:.3f} bps, {figures.worst}")
    return lines


def as_json(row: Compared, market: str) -> dict[str, object]:
    """Return an order with all figures and routes as JSON values."""
    return {
        "market": market, "gas_gwei": row.gas_gwei, **row.order._asdict(),
        "amount_out": row.amount_out, "net": row.net, "route": _route_json(row.route),
        "found": [{**each._asdict(), "route": _route_json(each.route)} for each in row.found],
    }  # fmt: skip


def _route_json(route: Route | None) -> list[object] | None:
    if route is None:
        return None
    return [[segment.share, [[list(swap) for swap in hop] for hop in segment.hops]] for segment in route.segments]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; 1 if a real state cannot be read."""
    options = _parse(arguments)
    try:
        files = options.market or [REAL_MARKET]
        with ExitStack() as stack:
            out = stack.enter_context(options.json.open("w")) if options.json else None
            for file in files:
                market, name = read_market(file), market_name(file)
                if options.pushed:
                    market, name = pushed_market(market, options.seed), f"{name}, pushed with seed {options.seed}"
                orders = [options.pair] if options.pair else random_pairs(market, options.orders, options.seed)
                for gas_gwei in options.gas:
                    rows = []
                    for row in compare_all(market, orders, gas_gwei, options.settings):
                        rows.append(row)
                        if out:
                            print(json.dumps(as_json(row, name)), file=out, flush=True)
                    print(f"{name}, {len(rows)} orders, gas {gas_gwei:g} gwei; orders with a gain")
                    print("\n".join(table(rows, options.methods)), flush=True)
                    if options.pair:
                        _print_routes(rows[0], market)
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _print_routes(row: Compared, market: MarketState) -> None:
    """Print our route and those of the methods."""
    print(f"ours: {row.amount_out}, net of gas {row.net:.0f}")
    _print_route(row.route, market)
    for found in row.found:
        print(f"{found.method}: {found.amount_out}, net of gas {found.net:.0f}, {found.gain_bps:+.4f} bps")
        _print_route(found.route, market)


def _print_route(route: Route | None, market: MarketState) -> None:
    for segment in route.segments if route else ():
        print(f"  {segment.share / 100:g}%")
        for hop in segment.hops:
            sold, bought = (market.tokens[token].symbol for token in hop[0][1:3])
            print(f"    {sold} -> {bought}: " + ", ".join(f"{swap.share / 100:g}% {swap.pool}" for swap in hop))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.optimum.simple_methods", description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gas", type=_numbers, default=[0.0], metavar="GWEI,..", help="gas prices  [0]")
    parser.add_argument(
        "--pushed", action=argparse.BooleanOptionalAction, default=False, help="push a fifth of the pools out of line"
    )
    parser.add_argument(
        "--methods",
        type=_methods,
        default=list(DEFAULT_METHODS),
        metavar="NAME,..",
        help=f"some of {', '.join(METHODS)}  [all but restarts]",
    )
    parser.add_argument("--evaluations", type=int, default=EVALUATIONS, help="replays of a climb  [3000]")
    parser.add_argument("--shares", choices=SHARE_STEPS, default="fine", help="shares of all routes  [fine]")
    parser.add_argument("--processes", type=int, choices=(1, 2), default=1)
    parser.add_argument("--market", type=Path, action="append", metavar="FILE", help="real states  [a committed one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each order with its routes, one a line")
    parser.add_argument(
        "--pair", type=_pair, metavar="IN,OUT,AMOUNT", help="look at this order only, and print its routes"
    )
    options = parser.parse_args(arguments)
    step = SHARE_STEPS[options.shares]
    options.settings = Settings(options.methods, options.evaluations, step, options.processes)
    return options


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split(",")]


def _methods(text: str) -> list[str]:
    names = text.split(",")
    if not set(names) <= set(METHODS):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(METHODS)}, not {text!r}")
    return names


def _pair(text: str) -> PairOrder:
    token_in, token_out, amount = text.split(",")
    return PairOrder(token_in, token_out, int(amount), 0.0)


if __name__ == "__main__":
    sys.exit(main())
