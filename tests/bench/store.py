"""One-shot quotes from a store, whatever its size: `python -m tests.bench.store` prints the section.

Markets of 1,000, 10,000 and 100,000 pools are made up and imported. Time and memory are those of fresh processes that
load what the command loads, open the store, read the neighbourhood and quote, small and large stores in turn. The gap
is that of the neighbourhood's quote to the quote over the whole market, for every token sold of the market's orders
against every one bought, in the four sizes.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

from swapcli.engine.opening import open_market
from swapcli.errors import NoRoute
from swapcli.model.market import Market
from swapcli.model.order import Order
from swapcli.networks.catalogue import network
from swapcli.routing import Router
from swapcli.store import Store, create_store, open_store
from tests.bench.bars import Check
from tests.bench.cases import SIZES, Case, made_up
from tests.bench.figures import Spread, gap_bps
from tests.bench.report.tables import Section, at_most, bps, ms, number
from tests.bench.running import clean_environment, run
from tests.bench.whole_process import Runs
from tests.bench.yardsticks import find_folder

POOLS = (1_000, 10_000, 100_000)
MAX_RATIO, MAX_BYTES = 2.0, 120e6
MAX_GAP_BPS = {"small": 0.1, "medium": 0.1}

_STOPWATCH = Path(__file__).with_name("stopwatch.py")
_ONCE = """
import sys
import swapcli.cli.app, swapcli.cli.route, swapcli.cli.render.json
from swapcli.engine.answer import Ask
from swapcli.engine.clock import SYSTEM_CLOCK
from swapcli.engine.market_source import MarketSource
from swapcli.model.order import Order
from swapcli.networks.catalogue import network
from swapcli.store import open_store
from swapcli.wire.terms import Generation
path, name, sold, bought, amount = sys.argv[1:]
with open_store(path, network, name) as store:
    order = Order(store.tokens_called(sold)[sold], store.tokens_called(bought)[bought], int(amount))
    market = store.neighbourhood(order)
print(MarketSource(market, SYSTEM_CLOCK).quote(Ask(order, Generation.V1)).quote.amount_out)
"""


class Part(NamedTuple):
    """One order over the part of a market that its store thinks it needs; no gap where the whole has no route."""

    size: str
    gap_bps: float | None
    pools: int
    read_ms: float


@dataclass(frozen=True, slots=True)
class Held:
    """A store of that many pools: what importing takes, and, order by order, one-shot quotes and their gaps."""

    pools: int
    file_bytes: int
    import_s: float
    runs: tuple[tuple[str, Runs], ...]
    parts: tuple[Part, ...]

    def time_s(self, size: str | None = None) -> float:
        """The median over the orders (of a size) of their median times."""
        return median(median(runs.times_s) for each, runs in self.runs if size in (None, each))

    @property
    def peak_bytes(self) -> int:
        """The highest peak memory of any quote."""
        return max(runs.peak_bytes for _, runs in self.runs)


StoreFigures = tuple[Held, ...]
"""By number of pools, the smallest first."""


def measure_store(folder: Path, yardsticks: Path, runs: int, pools: Sequence[int] = POOLS) -> StoreFigures:
    """Makes the markets in `folder`, imports and measures them. Raises `Failed`."""
    cases = [made_up(count, 1, folder) for count in pools]
    imports = [_import(case, yardsticks) for case in cases]
    timed = _time(cases, runs)
    return tuple(
        Held(count, _file(case).stat().st_size, import_s, tuple(of_case), tuple(_parts(case)))
        for count, case, import_s, of_case in zip(pools, cases, imports, timed, strict=True)
    )


def _file(case: Case) -> Path:
    return case.folder / f"store_{case.name}.sqlite"


def _import(case: Case, yardsticks: Path) -> float:
    """Seconds to write the store of a case, which is made up first."""
    maker: list[str | Path] = [sys.executable, "-B", yardsticks / "gen_market.py", "--sizes", str(case.pools)]
    run([*maker, "--seed", str(case.seed), "--out", case.folder])
    market, file = _market(case), _file(case)
    file.unlink(missing_ok=True)
    started = perf_counter()
    with create_store(str(file), market.network, network) as store:
        store.write_market(market)
    return perf_counter() - started


def _market(case: Case) -> Market:
    return open_market(case.network, network, document=case.market.read_bytes()).market


def _time(cases: Sequence[Case], runs: int) -> list[list[tuple[str, Runs]]]:
    """One-shot quotes of all orders on all stores, in turn, so that all see the same machine."""
    orders = [(case, order) for case in cases for order in case.read_orders()]
    words: list[str] = []
    for case, order in orders:
        command = [sys.executable, "-c", _ONCE, str(_file(case)), case.network, order.token_in, order.token_out]
        words += ["--", *command, str(order.amount_in)]
    home = cases[0].folder
    printed = json.loads(run([sys.executable, "-I", "-S", _STOPWATCH, str(runs), *words], env=clean_environment(home)))
    timed: dict[str, list[tuple[str, Runs]]] = {case.name: [] for case in cases}
    for (case, order), rows in zip(orders, printed, strict=True):
        measured = Runs(tuple(seconds for seconds, _ in rows), max(int(kibibytes) for _, kibibytes in rows) * 1024)
        timed[case.name].append((order.size, measured))
    return list(timed.values())


def _parts(case: Case) -> Iterator[Part]:
    """Every order over its part, and over the whole market."""
    market = _market(case)
    whole = Router(market)
    gc.collect()
    gc.freeze()
    with open_store(str(_file(case)), network, case.network) as store:
        for size, order in _every_pair(case, market):
            yield _part(store, whole, size, order)
    gc.unfreeze()


def _part(store: Store, whole: Router, size: str, order: Order) -> Part:
    started = perf_counter()
    part = store.neighbourhood(order)
    read_ms = (perf_counter() - started) * 1e3
    best = _amount_out(whole, order)
    gap = gap_bps(_amount_out(Router(part), order), best) if best else None
    return Part(size, gap, len(part.pools), read_ms)


def _amount_out(router: Router, order: Order) -> int:
    with suppress(NoRoute):
        return router.quote(order, gas_price_wei=0).amount_out
    return 0


def _every_pair(case: Case, market: Market) -> Iterator[tuple[str, Order]]:
    orders = case.read_orders()
    for order in orders:
        for bought in dict.fromkeys(other.token_out for other in orders):
            if bought != order.token_in:
                yield order.size, Order(market.tokens[order.token_in], market.tokens[bought], order.amount_in)


def store_section(found: StoreFigures) -> Section:
    """Time and memory of one-shot quotes by the size of the store, and what a neighbourhood loses."""
    section = Section("One-shot quotes from a store")
    section.say(
        "Fresh processes that load what the command loads, open the store, read what the order can want and quote. "
        "*Time*: the median over the orders of their median times; *ratio* to the smallest store."
    )
    header = ["store", "file MB", "import s", "time ms", "ratio", "bar", *SIZES, "peak MB", "bar"]
    section.table(header, [_time_row(section, held, found[0]) for held in found])
    section.say(
        "What the neighbourhood's quote pays less than the quote over the whole market, in basis points, with gas for "
        "nothing; and the pools that were read for it, and how long that took."
    )
    header = ["store, size", "orders", "median", "bar", "p95", "max", "pools: median", "max", "read ms"]
    section.table(header, [_gap_row(section, held, size) for held in found for size in SIZES])
    return section


def _time_row(section: Section, held: Held, base: Held) -> list[str]:
    ratio = held.time_s() / base.time_s()
    what = f"{held.pools:,} pools"
    return [
        what,
        number(held.file_bytes / 1e6, 1),
        number(held.import_s, 1),
        ms(held.time_s() * 1e3),
        section.hold(number(ratio, 2), Check(f"quote from a store of {what}, ratio", ratio, MAX_RATIO)),
        at_most(MAX_RATIO),
        *(number(held.time_s(size) / base.time_s(size), 2) for size in SIZES),
        section.hold(number(held.peak_bytes / 1e6, 1), Check(f"bytes of a quote, {what}", held.peak_bytes, MAX_BYTES)),
        at_most(MAX_BYTES / 1e6),
    ]


def _gap_row(section: Section, held: Held, size: str) -> list[str]:
    parts = [part for part in held.parts if part.size == size]
    gaps = Spread.of(part.gap_bps for part in parts if part.gap_bps is not None)
    bar = MAX_GAP_BPS.get(size)
    what = f"{held.pools:,} pools, {size}"
    checks = [Check(f"gap of the neighbourhood, {what}", gaps.median, bar)] if bar is not None else []
    return [
        what,
        str(gaps.count),
        section.hold(bps(gaps.median), *checks),
        at_most(bar),
        bps(gaps.p95),
        bps(gaps.maximum),
        f"{median(part.pools for part in parts):,.0f}",
        f"{max(part.pools for part in parts):,}",
        ms(median(part.read_ms for part in parts)),
    ]


def main() -> None:
    """Prints the section."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.store", description="Measures quotes from a store.")
    parser.add_argument("--runs", type=int, default=5, help="runs of each one-shot quote")
    parser.add_argument("--work", type=Path, help="where markets and stores are kept")
    parser.add_argument("--yardsticks", type=Path, help="folder of the yardsticks; else $YARDSTICKS, else a sibling's")
    given = parser.parse_args()
    named = given.yardsticks or os.environ.get("YARDSTICKS")
    yardsticks = find_folder(Path(named) if named else None)
    with TemporaryDirectory(prefix="bench-") as folder:
        work = given.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        print(store_section(measure_store(work.resolve(), yardsticks, given.runs)).text)


if __name__ == "__main__":
    main()
