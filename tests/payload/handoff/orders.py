"""Orders of every router whose payloads are handed on, prepared for a Safe."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

import swapcli
from swapcli import Market, PreparedSwap

SAFE = "0x" + "7a" * 20
ROUTER = "0x5555555555555555555555555555555555555555"


class HandedRouter(NamedTuple):
    """A router of a network, with the settings that choose it; `expires` says whether it enforces deadlines."""

    network: str
    dialect: str
    expires: bool

    @property
    def settings(self) -> dict[str, object]:
        """The settings of a user who chooses this router."""
        if self.dialect not in ("own", "settler"):
            return {"router_dialect": self.dialect}
        prefix = f"networks.{self.network}.router"
        return {prefix: ROUTER, f"{prefix}_dialect": self.dialect}


ROUTERS = (
    HandedRouter("base", "own", True),
    HandedRouter("base", "universal-router", True),
    HandedRouter("base", "settler", True),
    HandedRouter("base", "fibrous", False),
    HandedRouter("monad", "universal-router", True),
    HandedRouter("hyperevm", "fibrous", False),
    HandedRouter("citrea", "own", True),
)
TOKENS = {
    "base": ("ETH", "USDC", "cbBTC", "AERO", "WETH", "cbETH", "DAI"),
    "monad": ("MON", "USDC", "WMON", "WETH", "AUSD", "WBTC"),
    "hyperevm": ("HYPE", "USDT0", "WHYPE", "UBTC", "USDe"),
    "citrea": ("cBTC", "WcBTC", "USDC.e", "ctUSD", "JUSD"),
}


class Handed(NamedTuple):
    """A swap that is handed on, with the market that prepared it."""

    router: HandedRouter
    prepared: PreparedSwap


def handed_swaps(rng: Random, count: int, **terms: Any) -> Iterator[Handed]:
    """Yield random swaps of every router in turn, on the embedded markets."""
    markets = {router: Market.embedded(router.network, settings=router.settings) for router in ROUTERS}
    try:
        made = 0
        while made < count:
            router = ROUTERS[made % len(ROUTERS)]
            sold, bought = rng.sample(TOKENS[router.network], 2)
            amount = f"{rng.choice([1, 3, 10, 250]) * rng.uniform(0.001, 1):.6f}"
            try:
                quote = markets[router].quote(sold, bought, amount)
                prepared = quote.prepare(**{"destination": SAFE, "handoff": "safe", "max_impact": 100, **terms})
            except (swapcli.NoRoute, swapcli.InvalidRoute):
                continue
            made += 1
            yield Handed(router, prepared)
    finally:
        for market in markets.values():
            market.close()
