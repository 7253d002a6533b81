"""A small test chain with real factories and random activity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from random import Random

from swapcli.core.model.network import Deployment, Network
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import DECIMALS, WETH, ContractFixture
from tests.chain.node.evm_node import deploy_multicall
from tests.contracts.evm import load_artifact

_V3 = "@uniswap/v3-core/artifacts/contracts"
_COINS = sorted(set(DECIMALS) - {WETH})
_FEES = {500: 10, 3_000: 60, 10_000: 200}
"""Of Uniswap V3: the tick spacing of each fee."""


class SmallTestChain:
    """A chain with Uniswap V2 pairs, which the factory lists, and V3 and V4 pools, which only events reveal."""

    def __init__(self, chain: AnvilChain) -> None:
        self.chain = chain
        self.world = ContractFixture(chain, pools=False)
        self.trader = chain.deploy(self.world.kit["Trader"])
        self.factory = chain.deploy(load_artifact(f"{_V3}/UniswapV3Factory.sol/UniswapV3Factory.json"))
        self.pairs = [self.world.open_uniswap_v2(*each).contract for each in (("USDC", "TKN"), ("WBTC", "USDC"))]
        self.pools = [self._create_pool("TKN", "USDC", 500), self._create_pool("WBTC", "DAI", 3_000)]
        self.singletons = [self.world.open_uniswap_v4("WBTC", "USDC", 3_000, 60)]
        self.network = self._network()

    def copy(self) -> SmallTestChain:
        """Return a record of the same chain whose pools can be changed."""
        copied = copy(self)
        copied.world = self.world.copy()
        copied.pairs, copied.pools, copied.singletons = [*self.pairs], [*self.pools], [*self.singletons]
        return copied

    def run_random_activity(self, rng: Random, max_actions: int = 4) -> None:
        """Execute up to `max_actions` random actions, each in blocks of its own."""
        for _ in range(rng.randint(1, max_actions)):
            rng.choices(*zip(*self._weighted_actions(), strict=True))[0](rng)

    def head(self) -> int:
        """Return the number of the latest block."""
        return int(self.chain.node.ask("eth_blockNumber"), 16)

    def prepare_reorg(self, rng: Random) -> Callable[[], None]:
        """Run random activity; return a function that replaces its blocks by other ones."""
        mark = self.chain.snapshot()
        self.run_random_activity(rng)

        def turn() -> None:
            self.chain.revert(mark)
            self.run_random_activity(rng)

        return turn

    def _network(self) -> Network:
        deployments = (
            Deployment(("uniswapV2",), "Uniswap V2", {"factory": self.world.factory.address}, fee_tiers={3_000: 0}),
            Deployment(("uniswapV3",), "Uniswap V3", {"factory": self.factory.address}, fee_tiers=_FEES),
            Deployment(("uniswapV4",), "Uniswap V4", {"pool_manager": self.world.manager.address}),
        )
        multicall = deploy_multicall(self.chain)
        return self.world.network._replace(deployments=deployments, multicall=multicall, block_time_s=1.0)

    def _weighted_actions(self) -> list[tuple[Callable[[Random], object], int]]:
        return [
            (self._donate_to_pair, 4),
            (self._swap, 4),
            (self._provide, 2),
            (self._provide_singleton, 1),
            (self._open_pair, 1),
            (self._open_pool, 1),
            (self._mine_blocks, 1),
        ]

    def _donate_to_pair(self, rng: Random) -> None:
        """Donate to a pair."""
        pair = rng.choice(self.pairs)
        self.world.give("USDC", pair.address, rng.randint(1, 10**9))
        pair.send("sync")

    def _swap(self, rng: Random) -> None:
        self.trader.send("swap", rng.choice(self.pools).address, False, rng.random() < 0.5, rng.randint(10**4, 10**7))

    def _provide(self, rng: Random) -> None:
        """Open a position near the price."""
        pool = rng.choice(self.pools)
        (spacing,), tick = pool.call("tickSpacing"), pool.call("slot0")[1]
        lower = (tick // spacing + rng.randint(-8, 6)) * spacing
        self.trader.send("mint", pool.address, lower, lower + rng.randint(1, 5) * spacing, rng.randint(10**6, 10**12))

    def _provide_singleton(self, rng: Random) -> None:
        place = rng.choice(self.singletons)
        key = (*place.tokens, place.fee_ppm, place.tick_spacing, ZERO_ADDRESS)
        lower = place.ticks[0] + rng.randint(0, 20) * place.tick_spacing
        upper = lower + rng.randint(1, 9) * place.tick_spacing
        self.world.provider.send("mintSingleton", self.world.manager.address, key, lower, upper, rng.randint(1, 10**12))

    def _open_pair(self, rng: Random) -> None:
        """Open a pair that does not exist yet, if the random tokens allow it."""
        a, b = rng.sample(_COINS, 2)
        if self.world.factory.call("getPair", *map(self.world.address, (a, b))) == (ZERO_ADDRESS,):
            self.world.open_uniswap_v2(a, b)

    def _open_pool(self, rng: Random) -> None:
        (a, b), fee = rng.sample(_COINS, 2), rng.choice(list(_FEES))
        if self.factory.call("getPool", *map(self.world.address, (a, b)), fee) == (ZERO_ADDRESS,):
            self._create_pool(a, b, fee)

    def _mine_blocks(self, rng: Random) -> None:
        self.chain.node.ask("anvil_mine", hex(rng.randint(1, 5)))

    def _create_pool(self, a: str, b: str, fee: int) -> Contract:
        world = self.world
        token0, token1 = sorted((a, b), key=lambda each: int(world.address(each), 16))
        (address,) = self.factory.send("createPool", world.address(token0), world.address(token1), fee)
        pool = self.chain.at(address, load_artifact(f"{_V3}/UniswapV3Pool.sol/UniswapV3Pool.json"))
        pool.send("initialize", world._sqrt_price(token0, token1))
        world._ladder(token0, token1, _FEES[fee], lambda *position: self.trader.send("mint", address, *position))
        return pool


@contextmanager
def open_small_chain() -> Iterator[SmallTestChain]:
    """Run a chain of its own, for a test that mines thousands of blocks: anvil forgets the states of the first ones."""
    with running_anvil() as chain:
        yield SmallTestChain(chain)
