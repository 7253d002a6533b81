"""Quote orders with this revision and others in turn, and print the differences.

    python -m bench.orders [--against REVISION] [--worlds real,random,pushed,drained,hundredfold] [--gas 0,0.01,1]
                           [--orders 100] [--seed 1] [--rounds 2] [--exact-output N] [--market FILE]

makes each world of each real state, and quotes its orders in this revision and in a checkout of each other one, some
orders at a time in turn. `--worlds 10000` is a generated market of so many pools. `--json FILE` writes all quotes.
Gains are net of gas, at the mid prices of this revision's quotes, in basis points of the larger amount and in dollars.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.optimum.real_market import REAL_MARKET
from bench.orders.figures import Comparison, Times, compare, input_leads
from bench.orders.in_turn import Quotes, quote_world, revisions
from bench.running import BenchmarkFailed
from bench.worlds.world import KINDS, make_worlds

_SHOWN = 4
"""Number of orders furthest behind to print."""


def lines(found: Sequence[Quotes], names: Sequence[str]) -> Iterator[str]:
    """Yield the lines about one world's quotes."""
    for quotes in found:
        kind = "exact output" if quotes.is_exact_output else "orders"
        times = Times.of(quotes.rows[0])
        lost = sum(not row.is_routed for row in quotes.rows[0])
        yield (
            f"{quotes.world.name}, gas {quotes.gas_gwei:g} gwei, {len(quotes.orders)} {kind}, {lost} without a route; "
            f"CPU ms mean {times.mean:.2f}, p50 {times.p50:.2f}, p95 {times.p95:.2f}, max {times.maximum:.1f}"
        )
        for other, name in enumerate(names[1:], 1):
            yield from _comparison_lines(compare(quotes, other), name)
    for forward, exact in pairwise(found):
        if exact.is_exact_output:
            leads = sorted(input_leads(forward, exact), key=lambda lead: lead.bps)
            above = [lead for lead in leads if lead.is_behind]
            shown = ", ".join(f"order {lead.number} {-lead.bps:.3f} bps ${-lead.usd:.2f}" for lead in above[:_SHOWN])
            yield f"  gas {forward.gas_gwei:g}: input above the forward search's: {len(above)} of {len(leads)} {shown}"


def _comparison_lines(found: Comparison, name: str) -> Iterator[str]:
    mean, p50, p95, maximum = found.ratios
    yield f"  CPU to {name}: mean {mean:.2f}, p50 {p50:.2f}, p95 {p95:.2f}, max {maximum:.2f}"
    ahead = sum(lead.is_ahead for lead in found.leads)
    yield (
        f"  net ahead: mean {found.mean_bps:+.4f} bps, ${found.usd:+,.2f} in all; worst {found.worst_bps:+.3f} bps; "
        f"by > 0.05 bps and a cent: behind {len(found.behind)}, ahead {ahead}; lost {found.lost}, found {found.found}"
    )
    for lead in found.behind[:_SHOWN]:
        order = found.quotes.orders[lead.number]
        yield f"    {lead.bps:+.3f} bps ${lead.usd:+.2f}: {order.amount} {order.token_in} -> {order.token_out}"


def as_json(quotes: Quotes, names: Sequence[str]) -> str:
    """Return the quotes as one line of JSON."""
    rows = {name: [row._asdict() for row in rows] for name, rows in zip(names, quotes.rows, strict=True)}
    orders = [order._asdict() for order in quotes.orders]
    return json.dumps({"world": quotes.world.name, "gas_gwei": quotes.gas_gwei, "orders": orders, "rows": rows})


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; return 1 if something needed is missing."""
    options = _parse(arguments)
    try:
        with ExitStack() as stack:
            folder = options.work or Path(stack.enter_context(TemporaryDirectory(prefix="bench-")))
            folder.mkdir(parents=True, exist_ok=True)
            out = stack.enter_context(options.json.open("w")) if options.json else None
            compared = stack.enter_context(revisions(options.against or [], folder))
            names = [revision.name for revision in compared]
            worlds = (
                world
                for file in options.market or [REAL_MARKET]
                for world in make_worlds(options.worlds, file, options.orders, options.seed, folder)
            )
            for world in worlds:
                found = quote_world(world, compared, options.gas, options.rounds, folder, options.exact_output)
                print("\n".join(lines(found, names)), flush=True)
                for quotes in found if out else ():
                    print(as_json(quotes, names), file=out, flush=True)
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.orders", description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--against", action="append", metavar="REVISION", help="a revision, or a folder with a checkout"
    )
    parser.add_argument(
        "--worlds",
        type=_kinds,
        default=list(KINDS),
        metavar="KIND,..",
        help=f"{', '.join(KINDS)}, or a number of pools",
    )
    parser.add_argument(
        "--gas", type=_numbers, default=[0.0, 0.01, 1.0], metavar="GWEI,..", help="gas prices  [0,0.01,1]"
    )
    parser.add_argument("--orders", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--exact-output", type=int, default=0, metavar="N", help="of so many orders, also exact output  [0]"
    )
    parser.add_argument(
        "--market",
        type=Path,
        action="append",
        metavar="FILE",
        help="a real state with its orders beside it  [the committed one]",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all quotes, a world and gas price a line")
    parser.add_argument("--work", type=Path, help="folder of markets and checkouts  [temporary]")
    return parser.parse_args(arguments)


def _kinds(text: str) -> list[str]:
    names = text.split(",")
    if wrong := [name for name in names if name not in KINDS and not name.isdecimal()]:
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(KINDS)}, or numbers of pools, not {wrong[0]!r}")
    return names


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
