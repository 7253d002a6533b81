"""Quote the same orders with several revisions in turn, each in a separate process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.plan import ROOT
from bench.running import BenchmarkFailed, run
from bench.worlds.world import World, WorldOrder

WEI_A_GWEI = 10**9
_IN_TURN = 5  # orders quoted by one revision before the next quotes the same
_WORKER = Path(__file__).with_name("worker.py")


class Revision(NamedTuple):
    """A tree with one revision of the program."""

    name: str
    tree: Path


class Row(NamedTuple):
    """One order in one revision: CPU milliseconds, amounts in base units, gas units, and the dollar values of a wei and
    of a base unit of the requested amount; all except the time are 0 without a route."""

    ms: float
    amount_in: int
    amount_out: int
    gas_units: int
    wei_usd: float
    unit_usd: float

    @property
    def is_routed(self) -> bool:
        """Whether there is a route."""
        return self.amount_out > 0


class Quotes(NamedTuple):
    """The orders of a world at a gas price, with the rows of each revision in the same order, ours first."""

    world: World
    gas_gwei: float
    orders: Sequence[WorldOrder]
    rows: Sequence[Sequence[Row]]

    @property
    def is_exact_output(self) -> bool:
        """Whether the orders request the smallest input."""
        return any(order.reverse for order in self.orders)


@contextmanager
def revisions(against: Sequence[str], folder: Path) -> Iterator[list[Revision]]:
    """Provide this revision and the others. Raises `BenchmarkFailed`."""
    yield [Revision("this", ROOT), *(Revision(name, checkout(name, folder)) for name in against)]


def checkout(revision: str, folder: Path) -> Path:
    """Return a tree of `revision` in `folder`, or the folder with that name if it exists. Raises `BenchmarkFailed`."""
    if Path(revision).is_dir():
        return Path(revision).resolve()
    tree = folder / f"tree_{revision.replace('/', '_')}"
    archive = folder / "tree.tar"
    run(["git", "-C", ROOT, "archive", "--output", archive, revision, "swapcli"])
    tree.mkdir(exist_ok=True)
    run(["tar", "-xf", archive, "-C", tree])
    return tree


def quote_world(
    world: World,
    compared: Sequence[Revision],
    gas_gwei: Sequence[float],
    rounds: int,
    folder: Path,
    exact_output: int = 0,
) -> list[Quotes]:
    """Return the quotes of a world at each gas price and, for the first few orders, exact-output quotes for the outputs
    of our routes.

    Each order counts with its shortest time over the rounds, each of which has new processes. Raises `BenchmarkFailed`.
    """
    market = world.write_market(folder)
    found = [list(_round(world, market, compared, gas_gwei, exact_output)) for _ in range(rounds)]
    return [_least(quotes) for quotes in zip(*found, strict=True)]


def _round(
    world: World, market: Path, compared: Sequence[Revision], gas_gwei: Sequence[float], exact_output: int
) -> Iterator[Quotes]:
    with ExitStack() as stack:
        workers = [stack.enter_context(_worker(revision, market)) for revision in compared]
        for gas in gas_gwei:
            rows = _in_turn(workers, world.orders, gas)
            yield Quotes(world, gas, world.orders, rows)
            if exact_output:
                reverse = exact_output_orders(world.orders[:exact_output], rows[0])
                yield Quotes(world, gas, reverse, _in_turn(workers, reverse, gas))


def exact_output_orders(orders: Sequence[WorldOrder], rows: Sequence[Row]) -> tuple[WorldOrder, ...]:
    """Return orders for exactly the outputs of the routes of `orders`."""
    routed = [(order, row) for order, row in zip(orders, rows, strict=False) if row.is_routed]
    return tuple(order._replace(amount=row.amount_out, reverse=True) for order, row in routed)


def _in_turn(
    workers: Sequence[subprocess.Popen[str]], orders: Sequence[WorldOrder], gas_gwei: float
) -> list[list[Row]]:
    """Return the rows of all orders by worker, quoted in turn; every second time the first worker comes last."""
    rows: list[list[Row]] = [[] for _ in workers]
    numbers = list(range(len(workers)))
    for turn, start in enumerate(range(0, len(orders), _IN_TURN)):
        for k in numbers[:: -1 if turn % 2 else 1]:
            rows[k] += _ask(workers[k], orders[start : start + _IN_TURN], gas_gwei)
    return rows


@contextmanager
def _worker(revision: Revision, market: Path) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(revision.tree), "PYTHONHASHSEED": "0"}
    command = [sys.executable, "-P", str(_WORKER), str(market)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as worker:
        try:
            assert worker.stdout
            if worker.stdout.readline() != "ready\n":
                raise BenchmarkFailed(f"revision {revision.name} did not start on {market.name}")
            yield worker
        finally:
            worker.kill()


def _ask(worker: subprocess.Popen[str], orders: Sequence[WorldOrder], gas_gwei: float) -> list[Row]:
    assert worker.stdin
    assert worker.stdout
    worker.stdin.write(json.dumps([round(gas_gwei * WEI_A_GWEI), orders]) + "\n")
    worker.stdin.flush()
    printed = worker.stdout.readline()
    if not printed:
        raise BenchmarkFailed(f"a revision failed at one of these orders: {orders}")
    return [Row(*row) for row in json.loads(printed)]


def _least(rounds: Sequence[Quotes]) -> Quotes:
    """Return the quotes with the shortest times. Raises `BenchmarkFailed` if a revision's amounts differ between
    rounds."""
    by_revision = zip(*(quotes.rows for quotes in rounds), strict=True)
    rows = [[_least_row(same) for same in zip(*repeated, strict=True)] for repeated in by_revision]
    return rounds[0]._replace(rows=rows)


def _least_row(rows: Sequence[Row]) -> Row:
    if len({row[1:] for row in rows}) > 1:
        raise BenchmarkFailed(f"an order has different amounts in different processes: {rows}")
    return min(rows)
