"""Generate a market from a seed: pools of five families in swapcli's market format, with orders.

python -m bench.optimum.gen_market [--sizes 100,1000,10000] [--seed 7] [--noise arbfree|raw] --out DIR

writes `market_SIZE_sSEED.json` and `orders_SIZE_sSEED.ndjson`, the same bytes on every machine. By default no pool is
further from the fair price than its fee allows, so no cycle gains and an order's bound can be reached; `raw` markets
have arbitrage.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.optimum.draw_orders import OrderDocument, draw_orders
from bench.optimum.draw_pools import draw_pools
from bench.optimum.draws import ARBITRAGE_FREE, RAW, Draws

_PROTOCOLS = {
    "constant_product": (4, "uniswapV2", "Uniswap V2"),
    "concentrated": (5, "uniswapV3", "Uniswap V3"),
    "stableswap": (27, "curveFi", "Curve fi"),
    "solidly_stable": (1, "aerodromeV2Stable", "Aerodrome Stable"),
    "weighted": (34, "balancerV2Weighted", "Balancer V2 Weighted"),
}  # id, name and display name, by family
_WRAPPER = (0, "wrapper", "Wrapper")
_CHAIN_ID = 31_337


class GeneratedMarket(NamedTuple):
    """The document of a market, and its orders."""

    document: dict[str, Any]
    orders: list[OrderDocument]


def generate(pools: int, seed: int, noise: str = ARBITRAGE_FREE) -> GeneratedMarket:
    """Return the market for a number of pools and a seed."""
    draws = Draws(pools, seed, noise)
    made = draw_pools(draws)
    orders = draw_orders(draws, made)
    for pool in made:
        pool["protocol"] = _PROTOCOLS[pool["family"]][1]
    tokens = [
        {
            "address": token.address,
            "symbol": token.symbol,
            "name": token.symbol,
            "decimals": token.decimals,
            "price_usd": token.price_usd,
        }
        for token in draws.tokens
    ]
    document = {
        "format": "swap-market/1",
        "network": _network(draws.tokens[0].address),
        "block": None,
        "timestamp": None,
        "provenance": "synthetic",
        "source": f"gen_market.py n={pools} seed={seed} noise={noise}",
        "gas_price_wei": "0",
        "tokens": tokens,
        "pools": made,
    }
    return GeneratedMarket(document, orders)


def _network(wrapped_native: str) -> dict[str, Any]:
    return {
        "name": "synthetic",
        "chain_id": _CHAIN_ID,
        "native": {"symbol": "ETH", "name": "Ether", "decimals": 18},
        "wrapped_native": wrapped_native,
        "router": None,
        "protocols": [
            {"id": number, "amm_name": name, "display_name": shown}
            for number, name, shown in sorted((_WRAPPER, *_PROTOCOLS.values()))
        ],
    }


def write_market(pools: int, seed: int, folder: Path, noise: str = ARBITRAGE_FREE) -> Path:
    """Write the market, with its orders next to it, into `folder`, and return the market's file."""
    made = generate(pools, seed, noise)
    name = f"{pools}_s{seed}" + ("" if noise == ARBITRAGE_FREE else f"_{noise}")
    file = folder / f"market_{name}.json"
    file.write_text(json.dumps(made.document, separators=(",", ":")))
    (folder / f"orders_{name}.ndjson").write_text("".join(json.dumps(order) + "\n" for order in made.orders))
    return file


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the markets requested on a command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.optimum.gen_market", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--sizes", default="100,1000,10000", metavar="N,..", help="pools  [100,1000,10000]")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--noise", choices=(ARBITRAGE_FREE, RAW), default=ARBITRAGE_FREE)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for size in options.sizes.split(","):
        file = write_market(int(size), options.seed, options.out, options.noise)
        print(file, file.stat().st_size, "bytes", flush=True)


if __name__ == "__main__":
    main()
