"""The input of a modelled market: token prices, pools and their depths.

One TOML file per network in `tables/`:

| key | meaning |
|---|---|
| `gas_price_wei`, `note` | the market's gas price; an addition to its `source` |
| `prices_usd` | symbol -> dollars, as text; symbols are those of the catalogue |
| `pegs` | group -> symbols that follow one another, so that their pools are narrow |
| `pools` | rows `[amm_name, "A/B/...", fee_ppm, tick spacing, depth in USD, options]` |

The tick spacing is 0 where a family has none. In a Uniswap V4 row the native token's symbol stands for the native
currency. Options: `address` where the real one is known and cannot be derived, `recorded` where the key of an Ekubo
pool was seen on chain, `amp` of a stableswap pool, `variant` of one from before StableSwap-NG, `weights` of a
weighted one in percent.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

_FOLDER = os.path.join(os.path.dirname(__file__), "tables")
_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool to be modelled; `depth_usd` counts all its tokens."""

    amm_name: str
    symbols: tuple[str, ...]
    fee_ppm: int
    tick_spacing: int
    depth_usd: int
    address: str | None = None
    recorded: bool = False
    amp: int = 0
    variant: str = ""
    weights: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """The input of one network's market."""

    network: str
    gas_price_wei: int
    note: str
    prices_usd: dict[str, Decimal]
    pegs: dict[str, str]
    pools: tuple[PoolRow, ...]

    def are_pegged(self, symbols: Iterable[str]) -> bool:
        """Whether all of `symbols` follow one another."""
        groups = {self.pegs.get(symbol, symbol) for symbol in symbols}
        return len(groups) == 1


def table_names() -> tuple[str, ...]:
    """Return the networks that have a table, alphabetically."""
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX)))


def load_table(network: str) -> Table:
    """Return the table of `network`."""
    with open(os.path.join(_FOLDER, network + _SUFFIX), "rb") as file:
        table = tomllib.load(file)
    return Table(
        network=network,
        gas_price_wei=table["gas_price_wei"],
        note=table["note"],
        prices_usd={symbol: Decimal(price) for symbol, price in table["prices_usd"].items()},
        pegs={symbol: group for group, symbols in table["pegs"].items() for symbol in symbols},
        pools=tuple(_pool_row(*row) for row in table["pools"]),
    )


def _pool_row(
    amm_name: str, symbols: str, fee_ppm: int, spacing: int, depth_usd: int, *options: Mapping[str, Any]
) -> PoolRow:
    row = PoolRow(amm_name, tuple(symbols.split("/")), fee_ppm, spacing, depth_usd)
    return replace(row, **options[0]) if options else row
