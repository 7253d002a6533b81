"""Judge a router's routes: are the amounts exact to the unit, and how far are they from a proven bound?

python -m bench.optimum.score MARKET ORDERS RESULTS [--exact-only] [--families all] [--json]

`RESULTS` has one order a line: its `id`, and its `result` in the form of the published service, as
`swapcli route NETWORK --market MARKET --batch ORDERS --json` prints them; any router that writes this form can be
judged. The status is 0 if every order has a route and every replayed amount is exact, otherwise 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.optimum.real_market import read_document, read_plain
from bench.optimum.replay import Pools, Unsupported, WrongRoute, pools_of, replay
from bench.report.figures import Spread, gap_bps, p95
from bench.running import BenchmarkFailed

if TYPE_CHECKING:
    from bench.optimum.bound import Market

_SHOWN_FAULTS = 20


class ScoredOrder(NamedTuple):
    """A result's claims next to the judge's figures.

    `exact` is None if the route cannot be replayed, and `bound` without a proof. `amount_out` is in base units.
    """

    id: int
    size: str
    amount_out: int
    exact: bool | None
    bound: float | None
    time_ms: float
    pools: int
    segments: int

    @property
    def gap_bps(self) -> float | None:
        """The gap to the bound."""
        return None if self.bound is None else gap_bps(self.amount_out, self.bound)


class Score(NamedTuple):
    """The judged orders, the number of all orders, and the errors by order."""

    orders: int
    rows: tuple[ScoredOrder, ...]
    faults: tuple[tuple[int, str], ...]

    @property
    def exact(self) -> int:
        """The number of exact amounts."""
        return sum(row.exact is True for row in self.rows)

    @property
    def skipped(self) -> int:
        """The number of routes with pools that cannot be replayed."""
        return sum(row.exact is None for row in self.rows)

    def document(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        found: dict[str, Any] = {
            "orders": self.orders,
            "routed": len(self.rows),
            "exact": self.exact,
            "skipped": self.skipped,
            "faults": list(self.faults[:_SHOWN_FAULTS]),
        }
        if self.rows:
            times = sorted(row.time_ms for row in self.rows)
            found["time_ms"] = {"median": median(times), "p95": p95(times)}
            found["pools_median"] = median(row.pools for row in self.rows)
        for size in (*sorted({row.size for row in self.rows}), "every"):
            gaps = [row.gap_bps for row in self.rows if row.gap_bps is not None and size in (row.size, "every")]
            if gaps:
                spread = Spread.of(gaps)
                figures = {"median": spread.median, "p95": spread.p95, "max": spread.maximum}
                found[f"gap_bps {size}"] = {name: round(value, 4) for name, value in figures.items()}
        return found


def score(
    document: Mapping[str, Any],
    orders: Iterable[Mapping[str, Any]],
    results: Mapping[int, Mapping[str, Any]],
    market: Market | None = None,
) -> Score:
    """Return the score of results by order; with the market's curves in `market`, also the gaps."""
    pools, rows, faults, count = pools_of(document), list[ScoredOrder](), list[tuple[int, str]](), 0
    for order in orders:
        count += 1
        result = results.get(order["id"])
        if not result or not result.get("success"):
            faults.append((order["id"], "no route"))
            continue
        try:
            paid = _replayed(pools, result, order)
        except WrongRoute as error:
            faults.append((order["id"], f"the route cannot be executed: {error}"))
            continue
        row = _row(order, result, paid, market)
        if row.exact is False:
            faults.append((order["id"], f"claims {row.amount_out}, but pays {paid}"))
        rows.append(row)
    return Score(count, tuple(rows), tuple(faults))


def _replayed(pools: Pools, result: Mapping[str, Any], order: Mapping[str, Any]) -> int | None:
    """Return the route's output; None if it cannot be replayed. Raises `WrongRoute`."""
    try:
        return replay(pools, result, order)
    except Unsupported:
        return None
    except (KeyError, TypeError, ValueError) as error:
        raise WrongRoute(f"{type(error).__name__} {error}") from error


def _row(order: Mapping[str, Any], result: Mapping[str, Any], paid: int | None, market: Market | None) -> ScoredOrder:
    claimed = int(result["outputAmount"])
    return ScoredOrder(
        id=order["id"],
        size=order.get("size", "all"),
        amount_out=claimed,
        exact=None if paid is None else paid == claimed,
        bound=market.bound(order["token_in"], order["token_out"], int(order["amount_in"])).bound if market else None,
        time_ms=1e3 * float(result.get("time") or 0),
        pools=sum(len(hop) for segment in result["route"] for hop in segment["swaps"]),
        segments=len(result["route"]),
    )


def read_results(file: Path) -> dict[int, dict[str, Any]]:
    """Return the results in a file by order. Raises `BenchmarkFailed`."""
    lines = (json.loads(line) for line in read_plain(file).splitlines() if line.strip())
    return {line["id"]: line["result"] for line in lines}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the score of a command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.optimum.score", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("market", type=Path)
    parser.add_argument("orders", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--exact-only", action="store_true", help="no gaps, which need numpy and scipy")
    parser.add_argument("--families", default="constant_product,concentrated", help="of the bound, or all")
    parser.add_argument("--json", action="store_true", help="with a row for each order")
    options = parser.parse_args(arguments)
    try:
        document, market = read_document(options.market), None
        if not options.exact_only:
            from bench.optimum.bound import ALL_FAMILIES, Market

            families = ALL_FAMILIES if options.families == "all" else options.families.split(",")
            market = Market(document, families)
        orders = [json.loads(line) for line in read_plain(options.orders).splitlines() if line.strip()]
        found = score(document, orders, read_results(options.results), market)
    except BenchmarkFailed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 1
    rows = {"rows": [{**row._asdict(), "gap_bps": row.gap_bps} for row in found.rows]} if options.json else {}
    print(json.dumps({**found.document(), **rows}, indent=1))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
