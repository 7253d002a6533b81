"""Measure one-shot quotes from stores of several sizes.

Markets of 1,000, 10,000 and 100,000 pools are generated and imported. Time and memory are those of the real command,
small and large stores in turn. The gap is between a quote on the candidate pools and one over the whole market, for the
market's orders, and on smaller markets for every sold token against every bought token.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

from bench.optimum.cases import Case, generated_case
from bench.optimum.cases import Order as CaseOrder
from bench.optimum.quoting import console_script
from bench.report.figures import gap_bps
from bench.running import Command
from bench.speed.whole_process import Runs, timed
from swapcli.core.errors import NoRoute
from swapcli.core.model.market import MarketState
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.core.routing.router import Router
from swapcli.quoting.open_market import open_market
from swapcli.state.store import Store, create_store, open_store

_QUICK_TO_QUOTE = 10_000
"""The number of pools above which a quote over the whole market takes seconds."""


class Part(NamedTuple):
    """One order over its candidate pools in a store; no gap if the whole market has no route."""

    size: str
    gap_bps: float | None
    pools: int
    read_ms: float


@dataclass(frozen=True, slots=True)
class StoreResult:
    """The figures of a store with `pools` pools: its import, and the one-shot quotes and gaps of each order."""

    pools: int
    file_bytes: int
    import_s: float
    runs: tuple[tuple[str, Runs], ...]
    parts: tuple[Part, ...]

    def time_s(self, size: str | None = None) -> float:
        """Return the median over the orders (of a size) of their median times."""
        return median(median(runs.times_s) for each, runs in self.runs if size in (None, each))

    @property
    def peak_bytes(self) -> int:
        """Return the highest peak memory of any quote."""
        return max(runs.peak_bytes for _, runs in self.runs)


StoreFigures = tuple[StoreResult, ...]
"""Sorted by number of pools."""


def measure_store(folder: Path, seed: int, runs: int, pools: Sequence[int]) -> StoreFigures:
    """Generate markets in `folder`, import and measure them. Raises `BenchmarkFailed`."""
    cases = [generated_case(count, seed, folder) for count in pools]
    imports = [_import(case) for case in cases]
    quotes = _time(cases, runs)
    return tuple(
        StoreResult(count, _file(case).stat().st_size, import_s, tuple(of_case), tuple(_parts(case)))
        for count, case, import_s, of_case in zip(pools, cases, imports, quotes, strict=True)
    )


def _file(case: Case) -> Path:
    """Return a case's store file, in a separate folder of stores."""
    return case.folder / f"stores_{case.name}" / f"{case.network}.sqlite"


def _import(case: Case) -> float:
    """Return the seconds to write the store of a case."""
    market, file = _market(case), _file(case)
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)
    started = perf_counter()
    with create_store(str(file), market.network, find_network) as store:
        store.write_market(market)
    return perf_counter() - started


def _market(case: Case) -> MarketState:
    return open_market(case.network, find_network, document=case.market.read_bytes()).market


def _time(cases: Sequence[Case], runs: int) -> list[list[tuple[str, Runs]]]:
    """Time one-shot quotes of all orders on all stores in turn, so that all experience the same load."""
    orders = [(case, order) for case in cases for order in case.read_orders()]
    measured = timed([_command(case, order) for case, order in orders], runs, cases[0].folder)
    found: dict[str, list[tuple[str, Runs]]] = {case.name: [] for case in cases}
    for (case, order), of_order in zip(orders, measured, strict=True):
        found[case.name].append((order.size, of_order))
    return list(found.values())


def _command(case: Case, order: CaseOrder) -> Command:
    words = [case.network, order.token_in, order.token_out, str(order.amount_in), "--raw", "--json"]
    return [console_script(), "route", *words, "--store", _file(case).parent]


def _parts(case: Case) -> Iterator[Part]:
    """Yield every order over its candidate pools, compared with the whole market."""
    market = _market(case)
    whole = Router(market)
    gc.collect()
    gc.freeze()
    with open_store(str(_file(case)), find_network, case.network) as store:
        for size, order in _compared(case, market):
            yield _part(store, whole, size, order)
    gc.unfreeze()


def _part(store: Store, whole: Router, size: str, order: Order) -> Part:
    started = perf_counter()
    part = store.read_candidates(order)
    read_ms = (perf_counter() - started) * 1e3
    best = _amount_out(whole, order)
    gap = gap_bps(_amount_out(Router(part), order), best) if best else None
    return Part(size, gap, len(part.pools), read_ms)


def _amount_out(router: Router, order: Order) -> int:
    with suppress(NoRoute):
        return router.quote(order, gas_price_wei=0).amount_out
    return 0


def _compared(case: Case, market: MarketState) -> Iterator[tuple[str, Order]]:
    """Yield orders with their size."""
    orders = case.read_orders()
    for order in orders:
        every = dict.fromkeys(other.token_out for other in orders)
        for bought in every if len(market.pools) <= _QUICK_TO_QUOTE else (order.token_out,):
            if bought != order.token_in:
                yield order.size, Order(market.tokens[order.token_in], market.tokens[bought], order.amount_in)
