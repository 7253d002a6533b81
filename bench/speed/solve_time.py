"""Measure the loss of a time-limited search, alone and next to busy processes.

python -m bench.speed.solve_time [--orders 400] [--seed 1] [--limits 0.02,0.1,0.5] [--busy 0,3] [--json FILE]

quotes random pairs of real states, of $0.3 to $1 million, without a limit and with each `solve_time_s`, first alone and
then beside as many processes that do nothing but compute. The loss is in basis points of the unlimited output, and an
order without a route where the unlimited search has one loses all. The busy processes are started here and killed at
the end of their measurement; each ends by itself after ten minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.optimum.real_market import REAL_MARKET, market_name
from bench.running import BenchmarkFailed
from bench.worlds.random_pairs import PairOrder, random_pairs, read_market
from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK

MAX_USD = 1e6
P99_BARS_BPS = {0.1: 10.0, 0.5: 1.0}
"""By limit in seconds: the loss that one order in a hundred may exceed."""

_BUSY = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


class Answer(NamedTuple):
    """The exact output of a quote, 0 without a route, and its wall time."""

    amount_out: int
    seconds: float


class Limited(NamedTuple):
    """Quotes within one limit next to this many busy processes, and those without a limit."""

    limit_s: float
    busy: int
    orders: Sequence[PairOrder]
    answers: Sequence[Answer]
    unlimited: Sequence[Answer]

    def losses_bps(self) -> list[float]:
        """Return the loss for each order that the unlimited search routes; negative for a gain."""
        both = zip(self.answers, self.unlimited, strict=True)
        return [(1.0 - limited.amount_out / free.amount_out) * 1e4 for limited, free in both if free.amount_out]

    @property
    def no_routes(self) -> int:
        """Return the number of orders that only the unlimited search routes."""
        both = zip(self.answers, self.unlimited, strict=True)
        return sum(not limited.amount_out and free.amount_out > 0 for limited, free in both)

    @property
    def worst(self) -> tuple[float, PairOrder]:
        """Return the largest loss with its order."""
        routed = [order for order, free in zip(self.orders, self.unlimited, strict=True) if free.amount_out]
        return max(zip(self.losses_bps(), routed, strict=True))


def quote_all(market: MarketState, orders: Sequence[PairOrder], limit_s: float | None) -> list[Answer]:
    """Return the quotes for all orders from a source that starts without earlier searches; gas has no price."""
    source, tokens, answers = InMemorySource(market, SYSTEM_CLOCK), market.tokens, []
    source.searchable.router.index.warm()
    for each in orders:
        order = Order(tokens[each.token_in], tokens[each.token_out], each.amount)
        started_s = time.perf_counter()
        try:
            request = QuoteRequest(order, ApiVersion.V1, gas_price_wei=0, solve_time_s=limit_s)
            amount_out = source.quote(request).quote.amount_out
        except NoRoute:
            amount_out = 0
        answers.append(Answer(amount_out, time.perf_counter() - started_s))
    return answers


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep `count` processes busy computing; they are killed at the end."""
    started = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def measure(
    market: MarketState, orders: Sequence[PairOrder], limits_s: Sequence[float], busy: Sequence[int]
) -> Iterator[Limited]:
    """Yield the quotes for each number of busy processes and each limit."""
    unlimited = quote_all(market, orders, None)
    for count in busy:
        for limit_s in limits_s:
            with busy_processes(count):
                answers = quote_all(market, orders, limit_s)
            yield Limited(limit_s, count, orders, answers, unlimited)


def percentile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that is not exceeded by at least `part` of the values."""
    return sorted(values)[max(0, -int(-len(values) * part // 1) - 1)]


def line_of(measured: Limited) -> str:
    """Return the table's line, with the worst order in the form that `bench.optimum.simple_methods --pair` accepts."""
    losses, (loss, order) = measured.losses_bps(), measured.worst
    parts = " ".join(f"{percentile(losses, part):9.3f}" for part in (0.5, 0.95, 0.99))
    seconds = [answer.seconds for answer in measured.answers]
    differ = sum(abs(each) > 0.0 for each in losses)
    bar = f"{P99_BARS_BPS[measured.limit_s]:g}" if measured.limit_s in P99_BARS_BPS else "-"
    return (
        f"  {measured.limit_s:7g} {measured.busy:5} {measured.no_routes:9} {differ:7} {parts} {bar:>8} {loss:9.3f}  "
        f"{max(seconds):8.3f}  ${order.usd:.2f}: --pair {order.token_in},{order.token_out},{order.amount}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of each real state; 1 if one cannot be read."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.speed.solve_time", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--orders", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limits", type=_numbers, default=[0.02, 0.1, 0.5], metavar="SECONDS,..")
    parser.add_argument("--busy", type=_numbers, default=[0.0, 3.0], metavar="N,..", help="busy processes  [0,3]")
    parser.add_argument("--market", type=Path, action="append", help="a real state  [the committed one]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each answer, one a line")
    options = parser.parse_args(arguments)
    try:
        markets = {market_name(file): read_market(file) for file in options.market or [REAL_MARKET]}
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    rows = []
    for name, market in markets.items():
        orders = random_pairs(market, options.orders, options.seed, MAX_USD)
        print(f"{name}, {len(orders)} orders, seed {options.seed}; loss to the unlimited search in bps")
        print(
            "  limit s  busy  no route  differ    median       p95       p99  p99 bar     worst  longest s  worst order"
        )
        for measured in measure(market, orders, options.limits, [int(each) for each in options.busy]):
            print(line_of(measured), flush=True)
            for order, answer, free in zip(orders, measured.answers, measured.unlimited, strict=True):
                found = {"limit_s": measured.limit_s, "busy": measured.busy, "seconds": answer.seconds}
                amounts = {"amount_out": answer.amount_out, "unlimited": free.amount_out}
                rows.append({"market": name, **order._asdict(), **found, **amounts})
    if options.json:
        options.json.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return 0


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
