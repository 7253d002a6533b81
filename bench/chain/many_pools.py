"""A chain with many pools from real factories: Uniswap V2 pairs, and V3 pools with many initialised ticks.

All pools of a pair have the same price, so there is no arbitrage; depths differ by up to a factor of a thousand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice, product
from math import isqrt, log
from random import Random
from typing import NamedTuple

from eth_abi.abi import encode

from swapcli.core.model.network import Deployment, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.testing.evm import ContractArtifact
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.node.evm_node import deploy_multicall, sources
from tests.chain.node.factories import uniswap_v2, uniswap_v3
from tests.contracts.evm import compile_solidity, load_artifact

V2 = ProtocolInfo(1, "uniswapV2", "Uniswap V2", "constant_product")
V3 = ProtocolInfo(5, "uniswapV3", "Uniswap V3", "concentrated", ("fee",))
NETWORK = "local"
POSITIONS = 10
TICKS = 2 * POSITIONS
"""Initialised ticks of each V3 pool."""

_FEE_PPM = 3_000
_SPACINGS = {500: 10, 3_000: 60, 10_000: 200}
_WIDTH_TICKS = 300
_PRICE_BITS = 96
_FACTORY_V2 = "@uniswap/v2-core/build/UniswapV2Factory.json"
_FACTORY_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
_POOL_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"

Step = tuple[str, bool, bytes]
"""A call of a batch: the contract, whether it may fail, and the calldata."""


class Coin(NamedTuple):
    """A token that anyone can mint, and the price of a whole one."""

    address: str
    decimals: int
    dollars: float

    def units(self, dollars: float) -> int:
        """Return the base units of an amount in dollars."""
        return int(dollars / self.dollars * 10**self.decimals)


class ManyPools(NamedTuple):
    """A network with many pools. `coins` begins with the wrapped native token and a stablecoin."""

    network: Network
    coins: Sequence[Coin]
    pairs: int
    pools: int


def open_many_pools(chain: AnvilChain, pairs: int, pools: int) -> ManyPools:
    """Create `pairs` V2 pairs and `pools` V3 pools."""
    builder = _PoolBuilder(chain)
    ends = _ends(pairs)
    coins = builder.make_coins(1 + max(max(each) for each in ends))
    network = builder.describe(coins)
    builder.open_pairs([(coins[a], coins[b]) for a, b in ends])
    keys = islice(product(ends, _SPACINGS), pools)
    builder.open_pools([(coins[a], coins[b], fee_ppm) for (a, b), fee_ppm in keys])
    return ManyPools(network, coins, pairs, pools)


def _ends(pairs: int) -> list[tuple[int, int]]:
    """Return pairs of coin indexes: each coin with the first, and every other coin also with the second."""

    def every() -> Iterator[tuple[int, int]]:
        yield 0, 1
        for coin in count(2):
            yield 0, coin
            if coin % 2:
                yield 1, coin

    return list(islice(every(), pairs))


def _in_order(a: Coin, b: Coin) -> tuple[Coin, Coin]:
    return (a, b) if int(a.address, 16) < int(b.address, 16) else (b, a)


class _PoolBuilder:
    """Builds pools, with many calls in each transaction through a Multicall."""

    def __init__(self, chain: AnvilChain) -> None:
        self._kit = compile_solidity("kit.sol")
        self._chain, self._rng = chain, Random("many pools")
        self._multicall = chain.at(deploy_multicall(chain), sources()["Multicall"])
        self._host, self._trader = chain.deploy(self._kit["PoolHost"]), chain.deploy(self._kit["Trader"])
        self._v2 = chain.at(uniswap_v2(chain).home.address, load_artifact(_FACTORY_V2))
        self._v3 = chain.at(uniswap_v3(chain).home.address, load_artifact(_FACTORY_V3))

    def make_coins(self, count_of_coins: int) -> list[Coin]:
        kinds = [(18, 2_500.0), (6, 1.0)]
        kinds += [(self._rng.choice((18, 18, 8)), 10 ** self._rng.uniform(-3, 3)) for _ in range(count_of_coins - 2)]
        addresses = self._run([self._creation(self._kit["Token"], decimals) for decimals, _ in kinds], at_once=30)
        return [Coin(address, *kind) for address, kind in zip(addresses, kinds, strict=True)]

    def describe(self, coins: Sequence[Coin]) -> Network:
        named = zip(coins[:2], ("WETH", "USD"), strict=True)
        wrapped, stable = (Token(coin.address, name, name, coin.decimals) for coin, name in named)
        return Network(
            name=NETWORK,
            kind=Kind.EVM,
            chain_id=CHAIN_ID,
            native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
            wrapped_native=wrapped,
            tokens=(wrapped, stable),
            protocols=(V2, V3),
            deployments=(
                Deployment((V2.amm_name,), "V2", {"factory": self._v2.address}, fee_tiers={_FEE_PPM: 0}),
                Deployment((V3.amm_name,), "V3", {"factory": self._v3.address}, fee_tiers=_SPACINGS),
            ),
            stablecoins=(stable.address,),
            multicall=self._multicall.address,
            block_time_s=12,
        )

    def open_pairs(self, ends: Sequence[tuple[Coin, Coin]]) -> None:
        """Open pairs whose prices are off by up to a thousandth, as in a live market."""
        created = [self._step(self._v2.address, self._v2.calldata("createPair", a.address, b.address)) for a, b in ends]
        pairs = self._run(created, at_once=8)
        self._run([self._filling(pair, a, b) for pair, (a, b) in zip(pairs, ends, strict=True)], at_once=60)

    def open_pools(self, keys: Sequence[tuple[Coin, Coin, int]]) -> None:
        """Open pools with nested positions around the price."""
        ordered = [(*_in_order(a, b), fee_ppm) for a, b, fee_ppm in keys]
        created = [self._v3.calldata("createPool", a.address, b.address, fee_ppm) for a, b, fee_ppm in ordered]
        pools = self._run([self._step(self._v3.address, each) for each in created], at_once=4)
        filled = [self._positions(pool, *key) for pool, key in zip(pools, ordered, strict=True)]
        self._run([step for steps in filled for step in steps], at_once=5 * (1 + POSITIONS))

    def _filling(self, pair: str, a: Coin, b: Coin) -> Step:
        dollars, drift = 10 ** self._rng.uniform(4, 7), self._rng.uniform(0.999, 1.001)
        amounts = a.units(dollars), b.units(dollars * drift)
        return self._step(self._trader.address, self._trader.calldata("fill", pair, a.address, b.address, *amounts))

    def _positions(self, pool: str, coin0: Coin, coin1: Coin, fee_ppm: int) -> Iterator[Step]:
        spacing, dollars = _SPACINGS[fee_ppm], 10 ** self._rng.uniform(4, 7)
        one0, one1 = coin0.units(10.0**9), coin1.units(10.0**9)
        contract = self._chain.at(pool, load_artifact(_POOL_V3))
        yield self._step(pool, contract.calldata("initialize", isqrt((one1 << 2 * _PRICE_BITS) // one0)))
        middle, width = round(log(one1 / one0, 1.0001) / spacing), max(_WIDTH_TICKS // spacing, 1)
        liquidity = isqrt(coin0.units(dollars) * coin1.units(dollars))
        for number in range(1, POSITIONS + 1):
            ticks = [(middle + side * number * width) * spacing for side in (-1, 1)]
            yield self._step(self._trader.address, self._trader.calldata("mint", pool, *ticks, liquidity))

    def _creation(self, artifact: ContractArtifact, decimals: int) -> Step:
        code, nothing = artifact.bytecode + encode(["uint8"], [decimals]), (ZERO_ADDRESS, ZERO_ADDRESS, 0, 0)
        return self._step(self._host.address, self._host.calldata("deploy", code, *nothing))

    def _step(self, to: str, calldata: bytes) -> Step:
        return to, False, calldata

    def _run(self, steps: Sequence[Step], at_once: int) -> list[str]:
        """Run `at_once` steps in each transaction. Return the address that each step returns."""
        returned: list[tuple[bool, bytes]] = []
        for first in range(0, len(steps), at_once):
            (results,) = self._multicall.send("aggregate3", steps[first : first + at_once])
            returned += results
        return [f"0x{answer[-20:].hex()}" for _, answer in returned]
