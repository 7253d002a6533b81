"""Markets with orders, as files in the work folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.optimum.gen_market import write_market
from bench.optimum.real_market import unpack
from bench.running import BenchmarkFailed

OTHER_PROTOCOLS = ("curveFi", "aerodromeV2Stable", "balancerV2Weighted")
"""The protocols of generated markets whose pools are neither constant-product nor concentrated."""

PEER_RESULTS = "tines"
"""The kind of the peer's results that the speed measurement leaves for the optimum."""

SIZES = ("small", "medium", "large", "huge")


@dataclass(frozen=True, slots=True)
class Order:
    """One order of a case; `size` is its class."""

    id: int
    size: str
    token_in: str
    token_out: str
    amount_in: int


@dataclass(frozen=True, slots=True)
class Case:
    """A market with orders. `pools` and `seed` generate it (None if real); routes omit `excluded` protocols."""

    name: str
    folder: Path
    network: str
    excluded: tuple[str, ...]
    pools: int | None = None
    seed: int | None = None

    @property
    def market(self) -> Path:
        """Return the market file."""
        return self.folder / f"market_{self.name}.json"

    @property
    def orders(self) -> Path:
        """Return the file of orders, one per line, next to the market and named after it."""
        return self.folder / f"orders_{self.name}.ndjson"

    def results(self, kind: str) -> Path:
        """Return the file of results of a kind."""
        return self.folder / f"{kind}_{self.name}.json"

    def read_document(self) -> dict[str, Any]:
        """Return the market as stored in its file."""
        document: dict[str, Any] = json.loads(self.market.read_bytes())
        return document

    def read_order_rows(self) -> list[dict[str, Any]]:
        """Return the orders as stored in their file."""
        return [json.loads(line) for line in self.orders.read_text().splitlines() if line.strip()]

    def read_orders(self) -> tuple[Order, ...]:
        """Return the orders of the case."""
        return tuple(_order(entry) for entry in self.read_order_rows())


def generated_case(pools: int, seed: int, folder: Path) -> Case:
    """Return the case for a number of pools and a seed; its files are written if they are missing."""
    case = Case(f"{pools}_s{seed}", folder, "synthetic", OTHER_PROTOCOLS, pools, seed)
    if not (case.market.is_file() and case.orders.is_file()):
        folder.mkdir(parents=True, exist_ok=True)
        write_market(pools, seed, folder)
    return case


def real_case(file: Path, folder: Path, most_orders: int) -> Case:
    """Return the case for a real market, unpacked into `folder`, with at most this many of its orders, evenly chosen.

    Raises `BenchmarkFailed` if the market or its orders cannot be read.
    """
    market = unpack(file, folder)
    network = json.loads(market.read_bytes())["network"]["name"]
    case = Case(market.stem.removeprefix("market_"), folder, network, ())
    rows = case.read_order_rows()
    if not rows:
        raise BenchmarkFailed(f"{file}: there are no orders")
    step = max(1, -(-len(rows) // most_orders))
    case.orders.write_text("".join(json.dumps({"kind": "real", **row}) + "\n" for row in rows[::step]))
    return case


def _order(entry: dict[str, Any]) -> Order:
    return Order(entry["id"], entry["size"], entry["token_in"], entry["token_out"], int(entry["amount_in"]))
