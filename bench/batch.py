"""Measure `swapcli route --batch` with one and with several workers against a loop of the library.

    python -m bench.batch [--orders 2000] [--rounds 5] [--workers 2]

Each of the three is a process that quotes the same random orders on the embedded market of Base and writes the results
to a file, in turn. CPU times are those of the process and of all its workers, less those of a run with one order.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.running import BenchmarkFailed, clean_environment
from swapcli import Market

_NETWORK = "base"
_SEED = 1
_USD = (1.0, 5.0)
"""The size of orders in USD, as powers of ten."""
_LOOP = """
import json, sys
from swapcli import Market
orders, results = sys.argv[1:]
with Market.embedded("base") as market, open(orders) as lines, open(results, "w") as file:
    for line in lines:
        order = json.loads(line)
        quote = market.quote(order["token_in"], order["token_out"], int(order["amount_in"]))
        file.write(json.dumps({"id": order["id"], "result": quote.to_dict()}) + "\\n")
"""


class Times(NamedTuple):
    """Seconds of a process and its workers."""

    wall_s: float
    cpu_s: float


def main() -> int:
    """Print the medians of the rounds. Return 1 if a process fails."""
    parser = argparse.ArgumentParser(prog="python -m bench.batch", description=__doc__)
    for name, default in (("orders", 2_000), ("rounds", 5), ("workers", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        lines = [f"{json.dumps(order)}\n" for order in random_orders(arguments.orders)]
        (folder / "all").write_text("".join(lines))
        (folder / "one").write_text(lines[0])
        try:
            rounds = [_measure(folder, arguments.workers) for _ in range(arguments.rounds)]
        except BenchmarkFailed as failure:
            print(f"bench: {failure}", file=sys.stderr)
            return 1
    _print(rounds, arguments.orders, arguments.workers)
    return 0


def random_orders(count: int) -> Iterator[Mapping[str, object]]:
    """Yield orders of the embedded market between tokens with a price in USD."""
    rng = Random(_SEED)
    with Market.embedded(_NETWORK) as market:
        priced = [(each.token, each.price_usd) for each in market.prices(*market.tokens.values()).prices]
        for number in range(count):
            (sold, price), (bought, _) = rng.sample([each for each in priced if each[1]], 2)
            assert price
            amount = int(10 ** (rng.uniform(*_USD) + sold.decimals) / price)
            yield {"id": number, "token_in": sold.address, "token_out": bought.address, "amount_in": str(amount)}


def _measure(folder: Path, workers: int) -> Sequence[Times]:
    batch = [sys.executable, "-m", "swapcli", "route", _NETWORK, "--batch"]
    loop = [sys.executable, "-c", _LOOP]

    def run(orders: str) -> list[Times]:
        file, results = str(folder / orders), folder / "results"
        commands = (
            [*loop, file, str(results)],
            [*batch, file, "--results", str(results)],
            [*batch, file, "--results", str(results), "--workers", str(workers)],
        )
        return [_run(command, folder, results) for command in commands]

    return [
        Times(whole.wall_s - one.wall_s, whole.cpu_s - one.cpu_s)
        for whole, one in zip(run("all"), run("one"), strict=True)
    ]


def _run(command: list[str], folder: Path, results: Path) -> Times:
    results.unlink(missing_ok=True)
    started_s = time.perf_counter()
    child = os.posix_spawn(command[0], command, clean_environment(folder))
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        raise BenchmarkFailed(f"{' '.join(command[:6])} ended with status {code}")
    return Times(time.perf_counter() - started_s, usage.ru_utime + usage.ru_stime)


def _print(rounds: Sequence[Sequence[Times]], orders: int, workers: int) -> None:
    names = ("loop", "workers_1", f"workers_{workers}")
    columns = dict(zip(names, zip(*rounds, strict=True), strict=True))
    one, several = columns["workers_1"], columns[names[2]]
    figures = {
        "orders": orders,
        "rounds": len(rounds),
        **{
            name: {
                "orders_per_s": round(median(orders / each.wall_s for each in column), 1),
                "cpu_ms": round(median(each.cpu_s / orders * 1e3 for each in column), 3),
            }
            for name, column in columns.items()
        },
        "cpu_of_workers_1_to_loop": _ratio([each.cpu_s for each in one], [each.cpu_s for each in columns["loop"]]),
        f"cpu_of_{names[2]}_to_workers_1": _ratio([each.cpu_s for each in several], [each.cpu_s for each in one]),
        f"speed_of_{names[2]}_to_workers_1": _ratio([each.wall_s for each in one], [each.wall_s for each in several]),
    }
    print(json.dumps(figures, indent=2))


def _ratio(these: Sequence[float], those: Sequence[float]) -> float:
    return round(median(a / b for a, b in zip(these, those, strict=True)), 3)


if __name__ == "__main__":
    sys.exit(main())
