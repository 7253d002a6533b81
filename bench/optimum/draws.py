"""The random draws of a generated market: its tokens, pairs and depths.

The order of the draws is part of a market's definition: a different order gives a different market.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

RAW = "raw"
"""Pool prices contradict each other by more than the fees, so there is arbitrage."""
ARBITRAGE_FREE = "arbfree"
"""No pool's price is off by more than its fee, so no cycle gains and the bound can be reached."""

_MAX_PRICE_ERROR, _PART_OF_FEE = 0.005, 0.9
_TAIL_DECIMALS = (18, 18, 18, 18, 18, 18, 9, 8, 6)
_MIN_TAIL_LOG, _MAX_TAIL_LOG = -5.0, 2.5  # powers of ten: dollar prices of tail tokens
_FEW_POOLS, _FEW_HUBS = 10, 5
_PARETO_ALPHA = 0.9
_LEAST_TAIL_USD = 500.0
_HUB_SHARE = {10: 0.6, 100: 0.45, 1_000: 0.22, 10_000: 0.06, 100_000: 0.015}  # of pools between hubs, by market size
_TAIL_AND_HUB = 0.88  # of the other pools; the rest are between two tokens of the tail


class MadeUpToken(NamedTuple):
    """A token with its dollar price. `weight` is how often a hub is a side of a pool; 0 for the tail. Tokens of the
    same `group` (`usd` or `eth`) have stable pools."""

    address: str
    symbol: str
    decimals: int
    price_usd: float
    weight: int = 0
    group: str | None = None

    @property
    def unit_usd(self) -> float:
        """The price of a base unit in dollars."""
        base_units: int = 10**self.decimals
        return self.price_usd / base_units

    @property
    def is_hub(self) -> bool:
        """Whether it is one of the tokens traded by most pools."""
        return self.weight > 0

    def units(self, usd: float) -> int:
        """Return how many base units are worth `usd`, at least one."""
        return max(1, int(usd / self.price_usd * 10**self.decimals))


_HUBS = (
    MadeUpToken("", "WETH", 18, 3_000.0, 40),
    MadeUpToken("", "USDC", 6, 1.0, 35, "usd"),
    MadeUpToken("", "USDT", 6, 1.00002, 10, "usd"),
    MadeUpToken("", "DAI", 18, 0.99998, 5, "usd"),
    MadeUpToken("", "cbBTC", 8, 95_000.0, 6),
    MadeUpToken("", "wstETH", 18, 3_540.0, 3, "eth"),
    MadeUpToken("", "USDS", 18, 1.00001, 2, "usd"),
    MadeUpToken("", "WBTC", 8, 95_010.0, 3),
    MadeUpToken("", "cbETH", 18, 3_300.0, 2, "eth"),
    MadeUpToken("", "FRAX", 18, 0.99997, 1, "usd"),
)


class Pair(NamedTuple):
    """Two tokens by number, and whether they are two hubs, a hub and a tail token, or two tail tokens."""

    kind: str
    first: int
    second: int


class Draws:
    """Draws the parts of a market, for a number of pools, a seed and a kind of noise."""

    def __init__(self, pools: int, seed: int, noise: str) -> None:
        self.rng = random.Random(f"market/{pools}/{seed}/{noise}")
        self.pools, self.noise = pools, noise
        self._addresses: set[str] = set()
        self.hubs = _FEW_HUBS if pools <= _FEW_POOLS else len(_HUBS)
        self.tokens = self._tokens(max(self.hubs + 1, round(2.0 * pools**0.84)) if pools < 100 else round(pools * 0.3))
        self._hub_weights = [token.weight for token in self.tokens[: self.hubs]]
        self._hub_share = _HUB_SHARE.get(pools, min(0.6, 0.9 * pools**-0.25))

    def address(self) -> str:
        """Return an address that has not been drawn before."""
        while (address := f"0x{self.rng.getrandbits(160):040x}") in self._addresses:
            pass
        self._addresses.add(address)
        return address

    def _tokens(self, count: int) -> Sequence[MadeUpToken]:
        tokens = [hub._replace(address=self.address()) for hub in _HUBS[: self.hubs]]
        for number in range(count - self.hubs):
            decimals = self.rng.choice(_TAIL_DECIMALS)
            price_usd = float(f"{10 ** self.rng.uniform(_MIN_TAIL_LOG, _MAX_TAIL_LOG):.6g}")
            tokens.append(MadeUpToken(self.address(), f"T{number}", decimals, price_usd))
        return tokens

    def price_error(self, fee_ppm: int) -> float:
        """Return the relative difference between a pool's price and the fair price."""
        most = _MAX_PRICE_ERROR if self.noise == RAW else min(_MAX_PRICE_ERROR, _PART_OF_FEE * fee_ppm / 1e6)
        return self.rng.uniform(-1, 1) * most

    def pair(self, uncovered: int | None) -> Pair:
        """Return the tokens of a pool. `uncovered` is a tail token that still needs one."""
        if uncovered is not None:
            return Pair("tail", uncovered, self._hub())
        if self.rng.random() < self._hub_share or len(self.tokens) == self.hubs:
            first = self._hub()
            return Pair("hub", first, self._hub(first))
        if self.rng.random() < _TAIL_AND_HUB:
            return Pair("tail", self._tail(), self._hub())
        first, second = self._tail(), self._tail()
        return Pair("tail_tail", first, second) if first != second else Pair("tail", first, self._hub())

    def _hub(self, other: int | None = None) -> int:
        while (hub := self.rng.choices(range(self.hubs), self._hub_weights)[0]) == other:
            pass
        return hub

    def _tail(self) -> int:
        """Return a tail token; the probability of the token at position k is about 1 / k (Zipf)."""
        count = len(self.tokens) - self.hubs
        return self.hubs + min(count - 1, int(math.exp(self.rng.random() * math.log(count + 1))) - 1)

    def value_usd(self, pair: Pair) -> float:
        """Return the value of a pool in dollars: a power law between a floor and a cap that depend on its tokens."""
        low, high = {"hub": (2e4, 1e8), "tail": (3e3, 5e6), "tail_tail": (1e3, 3e5)}[pair.kind]
        if pair.kind == "tail":
            place = max(0, max(pair.first, pair.second) - self.hubs)
            low = max(_LEAST_TAIL_USD, low * 60 / (place + 1) ** 0.8)
        factor: float = self.rng.random() ** (-1 / _PARETO_ALPHA)
        return min(high, low * factor)

    def stable_pair(self) -> Pair:
        """Return two different tokens of the same group; staked ether also pairs with WETH."""
        group = "usd" if self.hubs < 9 or self.rng.random() < 0.75 else "eth"
        members = [number for number in range(self.hubs) if self.tokens[number].group == group]
        if group == "eth":
            members.append(0)
        first, second = self.rng.sample(members, 2)
        return Pair("hub", first, second)

    def sorted_tokens(self, pair: Pair) -> tuple[MadeUpToken, MadeUpToken]:
        """Return the tokens of a pair by address, as contracts sort them."""
        first, second = self.tokens[pair.first], self.tokens[pair.second]
        return (first, second) if first.address < second.address else (second, first)
