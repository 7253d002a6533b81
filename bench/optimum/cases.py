"""Markets with orders, as files in the work folder."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CURVES_OF_THE_PEER = ("constant_product", "concentrated")
FAMILIES = (*CURVES_OF_THE_PEER, "weighted", "stableswap", "solidly_stable")
OTHER_PROTOCOLS = ("curveFi", "aerodromeV2Stable", "balancerV2Weighted")
"""The protocols of generated markets whose pools are neither constant product nor concentrated."""

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
        """Return the market file. The baselines look for the orders beside it, under this name."""
        return self.folder / f"market_{self.name}.json"

    @property
    def orders(self) -> Path:
        """Return the file of orders, one per line."""
        return self.folder / f"orders_{self.name}.ndjson"

    def results(self, kind: str) -> Path:
        """Return the file of results of a kind."""
        return self.folder / f"{kind}_{self.name}.json"

    def read_orders(self) -> tuple[Order, ...]:
        """Return the orders of the case."""
        return tuple(_order(json.loads(line)) for line in self.orders.read_text().splitlines() if line.strip())


def generated_case(pools: int, seed: int, folder: Path) -> Case:
    """Return the case that `gen_market.py` generates from a number of pools and a seed."""
    return Case(f"{pools}_s{seed}", folder, "synthetic", OTHER_PROTOCOLS, pools, seed)


def copy_real_case(market: Path, folder: Path) -> Case:
    """Copy a market file and its orders, and add the keys that the baselines require."""
    name = market.stem.removeprefix("market_")
    case = Case(name, folder, json.loads(market.read_bytes())["network"]["name"], ())
    shutil.copyfile(market, case.market)
    orders = orders_beside(market).read_text().splitlines()
    with case.orders.open("w") as file:
        file.writelines(json.dumps({"kind": "real", **json.loads(line)}) + "\n" for line in orders if line.strip())
    return case


def orders_beside(market: Path) -> Path:
    """Return the file of the orders of a market file."""
    return market.with_name(market.name.replace("market_", "orders_", 1)).with_suffix(".ndjson")


def _order(entry: dict[str, Any]) -> Order:
    return Order(entry["id"], entry["size"], entry["token_in"], entry["token_out"], int(entry["amount_in"]))
