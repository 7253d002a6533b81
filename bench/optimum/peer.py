"""Run the peer: Tines, the router of Sushi, on the market and orders of a case.

It is installed from npm, in the versions of `peer/package-lock.json`, when it is first needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from fcntl import LOCK_EX, flock
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.optimum.real_market import orders_file
from bench.running import BenchmarkFailed, run

if TYPE_CHECKING:
    from bench.optimum.bound import Leg, Market

_FOLDER = Path(__file__).parent / "peer"
_BUDGET_S = 120.0


class PeerRoute(NamedTuple):
    """The route of an order: `status` is Success if it spends the whole order. Amounts are in base units.

    `claimed_out` is what Tines expects, in real numbers like everything it computes.
    """

    id: int
    status: str
    amount_in: int
    claimed_out: float
    legs: tuple[Leg, ...]
    median_ms: float

    @property
    def is_whole(self) -> bool:
        """Whether the route spends the whole order."""
        return self.status == "Success"


def install() -> str:
    """Install the peer unless it is there, and return its name with the version. Raises `BenchmarkFailed`."""
    lock = _FOLDER / "package-lock.json"
    done = _FOLDER / "node_modules" / ".installed"
    with lock.open() as file:
        flock(file, LOCK_EX)  # parallel tests wait for one installation
        versions = file.read()
        if not done.is_file() or done.read_text() != versions:
            run(["npm", "ci", "--silent", "--prefix", _FOLDER])
            done.write_text(versions)
    name = "@sushiswap/tines"
    return f"{name}@{json.loads(versions)['packages'][f'node_modules/{name}']['version']}"


def run_peer(
    market: Path, out: Path, *, orders: Path | None = None, flows: int | None = None, passes: int = 1
) -> list[PeerRoute]:
    """Route the orders next to a plain market file, or those in another file. Raises `BenchmarkFailed`.

    It splits an order into `flows` parts; by default it chooses the number, and compares 100 with one. With more than
    one of `passes`, times are those of a warm program. Its output stays in `out`.
    """
    command: list[str | Path] = ["node", _FOLDER / "run_tines.mjs", "--market", market, "--out", out]
    command += ["--orders", orders or orders_file(market), "--passes", str(passes), "--budget", str(_BUDGET_S)]
    run([*command, *(("--flows", str(flows)) if flows else ())])
    return read_routes(out)


def read_routes(out: Path) -> list[PeerRoute]:
    """Return the routes written by a run of the peer."""
    try:
        return [_route(row) for row in json.loads(out.read_bytes())["orders"]]
    except (OSError, ValueError, KeyError) as error:
        raise BenchmarkFailed(f"{out} has no routes of the peer: {error}") from error


def _route(row: Mapping[str, Any]) -> PeerRoute:
    legs: tuple[Leg, ...] = tuple((pool, sold, bought, part) for pool, sold, bought, part in row["legs"])
    return PeerRoute(row["id"], row["status"], int(row["amountIn"]), row["amountOut"], legs, row["medianMs"])


def evaluate(
    market: Market, orders: Iterable[Mapping[str, Any]], routes: Iterable[PeerRoute]
) -> Iterator[tuple[PeerRoute, float | None]]:
    """Yield each route with its output along the judge's curves; None unless it spends the whole order.

    For a route that uses a pool twice, the peer's claim is used, because the curves keep no state.
    """
    by_id = {order["id"]: order for order in orders}
    for route in routes:
        if not route.is_whole or not route.legs:
            yield route, None
            continue
        order = by_id[route.id]
        try:
            yield route, market.evaluate(order["token_in"], order["token_out"], route.amount_in, route.legs)
        except ValueError:
            yield route, route.claimed_out
