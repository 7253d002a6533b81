"""Measure how a comparison ranks aggregators' offers, and how much they delay it.

python -m bench.chain.aggregators [--orders 200] [--seed 1] [--timeout 1.5] [--late-every 4] [--json FILE]

compares random orders on a chain of real contracts with six aggregators on loopback: one is honest; one says more than
its payload pays, and one less; one has wrong decimals; one is slow; one is not there. A seventh, asked for some of the
orders, answers after the time-out. Each payload is mined as well, on a chain that is then reverted. An order is ranked
right if every payload pays in the simulation what it pays mined, and the own one what its quote says, if they come in
the order of these amounts, and no other comes before them. Gas costs nothing here, so that only outputs rank. By what
is said, an order would be ranked right if the amounts that are said had the same order. Orders count if the dishonest
payloads pay less than the best one. What is not ranked right goes to stderr.

The time of a comparison is measured against the slowest answer, or the time-out if one is late, and that of the own
split route with and without aggregators, in turn.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.report.figures import p95
from swapcli import Market
from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.order import Order
from swapcli.quoting.alternatives import AlternativeKind, Comparison, SimulationOutcome
from swapcli.state.store import create_store
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import USER, Trade, Trader, open_trader, random_amount
from tests.state.store.build import only
from tests.support.fake_aggregators import Character, FakeAggregators, fake_aggregators

DEAD, LATE, SLOW, SPLIT = "dead", "late", "slow", "split"
_SLOW_S = (0.1, 0.5)
"""Response time of the slow aggregator."""
_WARMING_UP = 2
"""Comparisons before those that count: they import the simulation, and let the node read its first blocks."""
_LEAST_OUTPUT = 1_000
"""Base units below which outputs are too coarse to tell offers apart."""


class Compared(NamedTuple):
    """A compared order: whether it is ranked correctly, whether the quoted amounts would rank it correctly, and times
    in seconds.

    `slowest_s` is the time of the slowest response, at most the time-out. `own_s` is the split route's time with
    aggregators and `alone_s` without.
    """

    is_right: bool
    is_right_as_said: bool
    has_late: bool
    total_s: float
    slowest_s: float
    own_s: float
    alone_s: float

    @property
    def after_slowest_s(self) -> float:
        """The time from the slowest response to the end of the comparison: simulation and ranking."""
        return self.total_s - self.slowest_s


def rank(found: Comparison, mined: dict[str, int]) -> tuple[bool, bool]:
    """Return whether a comparison is ranked correctly, and whether the aggregators' quoted amounts would rank it
    correctly.

    `mined` is the mined output of each aggregator's payload, by name.
    """
    due = mined | {SPLIT: found.split.amount_out or 0}
    names = {AlternativeKind.AGGREGATOR, AlternativeKind.SPLIT}
    rows = [(each.name.lower() or SPLIT, each) for each in found.alternatives if each.kind in names]
    shown = [name for name, _ in rows]
    are_exact = all(
        each.simulation is not None
        and each.simulation.outcome is SimulationOutcome.PAID
        and each.simulation.amount_out == due[name]
        for name, each in rows
        if name in due
    )
    paid = [due[name] for name in shown if name in due]
    is_right = are_exact and set(shown[: len(paid)]) == due.keys() and paid == sorted(paid, reverse=True)
    said = sorted((each.amount_out, due[name]) for name, each in rows if each.amount_out is not None)
    by_said = [amount for _, amount in reversed(said)]
    return is_right, by_said == sorted(by_said, reverse=True)


def compare_orders(
    trader: Trader, market: Market, fake: FakeAggregators, orders: int, seed: int, timeout_s: float, late_every: int
) -> Iterator[Compared]:
    """Yield the comparisons of random orders that have enough output in each of several ways."""
    rng, done = Random(f"aggregators {seed}"), -_WARMING_UP
    tokens = [trader.world.network.native, *trader.world.tokens.values()]
    while done < orders:
        token_in, token_out = rng.sample(tokens, 2)
        order = Order(token_in, token_out, random_amount(rng, token_in))
        try:
            best, single, one, other = (trader.quote_trade(each) for each in _ways(order))
        except (NoRoute, PoolError):
            continue
        if min(single.amount_due, one.amount_due, other.amount_due) < _LEAST_OUTPUT:
            continue
        if max(one.amount_due, other.amount_due) >= best.amount_due:
            continue
        delay_s, has_late = rng.uniform(*_SLOW_S), done % late_every == late_every - 1
        trades = {"honest": single, "liar": one, "modest": best, "decimals": other, SLOW: one}
        fake.characters |= {
            "honest": Character(str(single.amount_due), single.payload),
            "liar": Character(str(best.amount_due * rng.randint(101, 150) // 100), one.payload),
            "modest": Character(str(best.amount_due * 995 // 1_000), best.payload),
            "decimals": Character(str(other.amount_due * 10**12), other.payload),
            SLOW: Character(str(one.amount_due), one.payload, delay_s=delay_s),
            LATE: Character(str(best.amount_due * 2), best.payload, delay_s=2 * timeout_s),
        }
        mined = {name: _mine(trader, trade) for name, trade in trades.items()}
        names = [*trades, DEAD, *([LATE] if has_late else [])]
        runs = {asked: _compare(market, order, names if asked else ()) for asked in _in_turn(done)}
        found, total_s = runs[True]
        slowest_s = timeout_s if has_late else delay_s
        if done >= 0:
            ranked = rank(found, mined)
            if not ranked[0]:
                print(f"not ranked right: {order}, mined {mined}", *found.alternatives, sep="\n  ", file=sys.stderr)
            yield Compared(*ranked, has_late, total_s, slowest_s, _own_s(found), _own_s(runs[False][0]))
        done += 1


def _ways(order: Order) -> Iterator[Order]:
    """Yield several fills of the order: the best route, the single path and two routes without a protocol."""
    yield order
    yield order._replace(single_path=True)
    for protocol in ("uniswapV3", "uniswapV2"):
        yield order._replace(excluded_protocols=frozenset({protocol}))


def _in_turn(number: int) -> tuple[bool, bool]:
    return (True, False) if number % 2 else (False, True)


def _mine(trader: Trader, trade: Trade) -> int:
    with trader.chain.revert_after():
        return trader.copy().execute(trade).received


def _compare(market: Market, order: Order, names: Sequence[str]) -> tuple[Comparison, float]:
    """Return a comparison on newly read state, and its time in seconds."""
    market.refresh()
    started_s = time.perf_counter()
    sender = USER if names else None
    found = market.compare(order.token_in, order.token_out, order.amount, aggregators=names, sender=sender, gas_price=0)
    return found, time.perf_counter() - started_s


def _own_s(found: Comparison) -> float:
    assert found.split.time_s is not None
    return found.split.time_s


@contextmanager
def opened(trader: Trader, folder: Path, timeout_s: float) -> Iterator[tuple[Market, FakeAggregators]]:
    """Open a live market of the trader's chain, whose settings name the aggregators."""
    trader.world.network = network = trader.world.network._replace(multicall=deploy_multicall(trader.chain))
    trader.market = read_market(trader.world)
    (folder / "stores").mkdir()
    with create_store(str(folder / "stores" / f"{network.name}.sqlite"), network, only(network)) as store:
        store.write_market(trader.market)
    characters = {name: Character("1") for name in ("honest", "liar", "modest", "decimals", SLOW, LATE)}
    with fake_aggregators({**characters, DEAD: Character("1", is_dead=True)}) as fake:
        file = write_settings(
            folder, network, url_of(trader.chain), timeout_s=timeout_s, live="auto", aggregators=fake.settings()
        )
        before = dict(os.environ)
        os.environ |= {"SWAPCLI_CONFIG": str(file), "XDG_DATA_HOME": str(folder)}
        os.environ.pop("SWAPCLI_LIVE", None)
        try:
            with Market.open(network.name) as market:
                yield market, fake
        finally:
            os.environ.clear()
            os.environ |= before


def table(compared: Sequence[Compared]) -> list[str]:
    """Return the lines of a table of the figures."""
    count = len(compared)
    lines = [
        f"| ranked right by simulated output | {sum(each.is_right for each in compared)} of {count} |",
        f"| right by what the aggregators say | {sum(each.is_right_as_said for each in compared)} of {count} |",
    ]
    for has_late, label in ((False, "the slowest answer"), (True, "the time-out, where one is late")):
        chosen = [each for each in compared if each.has_late is has_late]
        if chosen:
            extra = sorted(1e3 * each.after_slowest_s for each in chosen)
            ratio = median(each.total_s / each.slowest_s for each in chosen)
            figures = f"{ratio:.2f} x; {median(extra):.0f} / {p95(extra):.0f} ms more"
            lines.append(f"| time to {label}: median; more than it, median / p95 | {figures} |")
    own, alone = ([getattr(each, name) * 1e3 for each in compared] for name in ("own_s", "alone_s"))
    ratios = sorted(each.own_s / each.alone_s for each in compared)
    lines.append(
        f"| own split route, without and with aggregators, median | {median(alone):.1f}, {median(own):.1f} ms |"
    )
    lines.append(
        f"| the latter to the former, order by order, median / p95 | {median(ratios):.2f} / {p95(ratios):.2f} |"
    )
    return lines


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.chain.aggregators", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--orders", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=1.5, help="seconds that each aggregator has")
    parser.add_argument("--late-every", type=int, default=4, help="ask the late one for one order of so many")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each comparison, one a line")
    options = parser.parse_args(arguments)
    with (
        TemporaryDirectory(prefix="bench-") as folder,
        open_trader() as trader,
        opened(trader, Path(folder), options.timeout) as (market, fake),
    ):
        found = list(
            compare_orders(trader, market, fake, options.orders, options.seed, options.timeout, options.late_every)
        )
    if options.json:
        options.json.write_text("".join(f"{json.dumps(each._asdict())}\n" for each in found))
    print("| figure | measured |\n| --- | ---: |")
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
