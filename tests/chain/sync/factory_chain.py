"""A chain with real factories of every kind, where pools are made and used at random."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple

from eth_abi.abi import encode

from swapcli.core.model.network import Deployment, Network, ProtocolInfo
from swapcli.core.model.network import Kind as NetworkKind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.testing.evm import DEPLOYER, Contract, ContractArtifact, selector
from tests.chain.anvil import CHAIN_ID, AnvilChain
from tests.chain.node import factories
from tests.chain.node.evm_node import deploy_multicall, sources
from tests.contracts.evm import compile_solidity, load_artifact
from tests.support.outside_ids import v4_id

UNIT = 10**18
WEIGHTED = ProtocolInfo(20, "weighted", "Weighted", "weighted")
PROTOCOLS = (
    *(factories.V2, factories.V3, factories.PANCAKE, factories.SLIPSTREAM, factories.ALGEBRA, factories.V4),
    *(factories.VOLATILE, factories.STABLE, WEIGHTED),
)
PAIRS, CONCENTRATED = ("v2", "volatile", "stable"), ("v3", "pancake", "slipstream", "algebra")
EVERY_PROTOCOL = (*PAIRS, *CONCENTRATED, "v4", "weighted")

_TASKS = "@balancer-labs/v2-deployments/dist/tasks"
_VAULT = f"{_TASKS}/20210418-vault/artifact/Vault.json"
_FEES = f"{_TASKS}/20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json"
_WEIGHTED_POOL = f"{_TASKS}/20230206-weighted-pool-v3/artifact/WeightedPool.json"
_PAIR = "@uniswap/v2-core/build/UniswapV2Pair.json"
_SOLIDLY_PAIR = "sphere-mezo-solidity-files/domains/aerodrome/contracts/Pool.sol"
_V3_POOL = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
_ALGEBRA_POOL = "@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json"
_PRICE = sqrt_ratio_at_tick(7)
_LOWEST, _HIGHEST = 4295128740, 1461446703485210103287273052203988822378723970341
_HOOK = "0x" + "5a" * 18 + "1040"
"""Called after the creation of pools and after swaps, which it leaves alone."""
_WIDE = 20_000
_FOREVER = 2**60


@dataclass
class CreatedPool:
    """A pool that was made. `ranges` are where it has positions, `fee` and `hooks` are those of a Uniswap V4 key."""

    protocol: str
    key: str
    contract: Contract
    tokens: tuple[str, ...]
    spacing: int = 1
    fee: int = 0
    native: bool = False
    hooks: str = ZERO_ADDRESS
    ranges: list[tuple[int, int, int]] = field(default_factory=list)


class Snapshot(NamedTuple):
    """A moment of a local_chain; `height` is its latest block."""

    chain: str
    height: int
    pools: list[CreatedPool]
    used: set[tuple[str, str, str, int]]
    coins: dict[str, Contract]


class TestChain:
    """A local chain with factories of every protocol. `pools` has every pool, in the order of creation."""

    __test__ = False

    def __init__(self, chain: AnvilChain) -> None:
        self.chain = chain
        self.kit = compile_solidity("kit.sol")
        self.position_holder = chain.deploy(compile_solidity("keeper.sol")["Keeper"])
        chain.fund(self.position_holder.address, 10**30)
        self.coins = {coin.address: coin for coin in (self._coin(places) for places in (18, 6, 8, 18, 18))}
        self.wrapped = min(self.coins, key=lambda address: int(address, 16))
        makers = (
            factories.uniswap_v2, factories.solidly, factories.uniswap_v3, factories.pancake_v3, factories.slipstream,
            factories.algebra,
        )  # fmt: skip
        built = [make(chain) for make in makers]
        self.factories = {each.home.protocols[0].amm_name: each for each in built}
        self._end_gauges()
        self.manager = chain.deploy(load_artifact("@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"), DEPLOYER)
        self.hook = chain.place(_HOOK, compile_solidity("hooks.sol")["TestHook"])
        self.vault = chain.deploy(load_artifact(_VAULT), DEPLOYER, self.wrapped, 0, 0)
        self.fees = chain.deploy(load_artifact(_FEES), self.vault.address, UNIT, UNIT)
        self.pools: list[CreatedPool] = []
        self._used: set[tuple[str, str, str, int]] = set()
        self.network = self._network(deploy_multicall(chain))

    def copy(self) -> TestChain:
        """Return a record of the same chain whose pools can be changed."""
        copied = copy(self)
        copied.pools, copied._used, copied.coins = self._copy_pools(), {*self._used}, {**self.coins}
        return copied

    # --- making

    def create_pool(self, rng: Random, protocol: str | None = None, *, empty: bool = False) -> CreatedPool:
        """A pool (of a protocol), with something in it unless it shall be `empty`."""
        name = protocol or rng.choice(EVERY_PROTOCOL)
        if name == "v4":
            made = self._make_v4(rng)
        elif name == "weighted":
            made = self._make_weighted(rng)
        else:
            made = self._make_by_factory(rng, name)
        self.pools.append(made)
        if not empty:
            self.fill(rng, made)
        return made

    def fill(self, rng: Random, made: CreatedPool) -> None:
        """Its first liquidity."""
        if made.protocol in PAIRS:
            self._fill_pair(rng, made)
        elif made.protocol == "weighted":
            self._fill_weighted(rng, made)
        else:
            self._provide_at(made, -_WIDE // made.spacing, _WIDE // made.spacing, UNIT)
            self.provide(rng, made)

    def _make_by_factory(self, rng: Random, name: str) -> CreatedPool:
        home = "volatile" if name == "stable" else name
        factory = self.factories[home]
        keys = factory.keys if name not in PAIRS else [int(name == "stable")]
        a, b, key = self._unused(rng, name, list(keys))
        event_values = factory.make(a, b, key)
        assert isinstance(event_values, tuple)
        contract = self.chain.at(str(event_values[0]), _artifact(name))
        made = CreatedPool(name, contract.address, contract, (a, b))
        if name in CONCENTRATED:
            if name != "slipstream":
                contract.send("initialize", _PRICE)
            made.spacing = int(contract.call("tickSpacing")[0])
        return made

    def _make_v4(self, rng: Random) -> CreatedPool:
        """With the native currency where that is possible, half of the time; with a hook, half of the time."""
        a, b, fee = self._unused(rng, "v4", [rng.randint(1, 30_000)])
        native, spacing = a == self.wrapped and rng.random() < 0.5, rng.choice((1, 10, 60, 200))
        hooks = rng.choice((ZERO_ADDRESS, self.hook.address))
        if hooks != ZERO_ADDRESS and rng.random() < 0.5:
            fee = DYNAMIC_FEE
        key = (ZERO_ADDRESS if native else a, b, fee, spacing, hooks)
        self.manager.send("initialize", key, _PRICE)
        return CreatedPool("v4", v4_id(*key), self.manager, (a, b), spacing, fee, native, hooks)

    def _make_weighted(self, rng: Random) -> CreatedPool:
        tokens = _in_order(rng.sample(list(self.coins), 3))
        weights, nobodies = [UNIT // 100 * percent for percent in (50, 30, 20)], [ZERO_ADDRESS] * 3
        parameters = ("", "", tokens, weights, nobodies, nobodies, rng.randint(1, 300) * 10**14)
        vault, fees = self.vault.address, self.fees.address
        pool = self.chain.deploy(load_artifact(_WEIGHTED_POOL), parameters, vault, fees, 0, 0, DEPLOYER, "")
        return CreatedPool("weighted", pool.address, pool, tuple(tokens))

    def _fill_pair(self, rng: Random, made: CreatedPool) -> None:
        whole = rng.randint(10**3, 10**6)
        for token in made.tokens:
            self.coins[token].send("mint", made.key, whole * 10 ** self.coins[token].call("decimals")[0])
        made.contract.send("mint", DEPLOYER)

    def _fill_weighted(self, rng: Random, made: CreatedPool) -> None:
        amounts = [rng.randint(10**20, 10**24) for _ in made.tokens]
        for token in made.tokens:
            self.coins[token].send("setBalance", DEPLOYER, 2**255)
        join = (list(made.tokens), amounts, encode(["uint256", "uint256[]"], [0, amounts]), False)
        self.vault.send("joinPool", made.contract.call("getPoolId")[0], DEPLOYER, DEPLOYER, join)

    def snapshot(self) -> Snapshot:
        """Where `revert` may go, once."""
        return Snapshot(self.chain.snapshot(), self.height(), self._copy_pools(), {*self._used}, {**self.coins})

    def _copy_pools(self) -> list[CreatedPool]:
        return [replace(each, ranges=[*each.ranges]) for each in self.pools]

    def revert(self, snapshot: Snapshot) -> None:
        """The chain as it was, on which other things may happen."""
        self.chain.revert(snapshot.chain)
        self.pools, self._used, self.coins = snapshot.pools, snapshot.used, snapshot.coins

    def height(self) -> int:
        """The number of the latest block."""
        return int(self.chain.node.ask("eth_blockNumber"), 16)

    # --- using

    def use(self, rng: Random, made: CreatedPool | None = None) -> CreatedPool:
        """Change something in a pool that is not empty."""
        made = made or rng.choice(self.pools)
        if made.protocol in PAIRS:
            self._use_pair(rng, made)
        elif made.protocol == "weighted":
            self._swap_weighted(rng, made)
        else:
            ways = [self.swap, self.swap, self.provide, self.withdraw]
            rng.choice(ways + [self.set_fee] * 2 * (made.fee == DYNAMIC_FEE))(rng, made)
        return made

    def set_fee(self, rng: Random, made: CreatedPool) -> None:
        """Let the hook of a pool with a dynamic fee change it, which emits no event."""
        self.hook.send("setFee", self.manager.address, self._v4_key(made), rng.randint(0, 50_000))

    def swap(self, rng: Random, made: CreatedPool) -> None:
        """In a concentrated pool."""
        down, amount = rng.random() < 0.5, int(10 ** rng.uniform(12, 16))
        limit = _LOWEST if down else _HIGHEST
        if made.protocol == "v4":
            self._act_on_manager(made, "swap", (down, -amount, limit))
        else:
            self._act(made, "swap", self.position_holder.address, down, amount, limit, b"")

    def provide(self, rng: Random, made: CreatedPool) -> None:
        """A position around the price or beside it."""
        lower = rng.randint(-200, 100)
        self._provide_at(made, lower, lower + rng.randint(1, 150), UNIT * rng.randint(1, 5))

    def withdraw(self, rng: Random, made: CreatedPool) -> None:
        """Part of a position, or all of it; never the first, which keeps the price in range."""
        if len(made.ranges) < 2:
            self.provide(rng, made)
            return
        at = rng.randrange(1, len(made.ranges))
        lower, upper, amount = made.ranges.pop(at)
        left = rng.choice((0, amount // 2))
        if left:
            made.ranges.append((lower, upper, left))
        if made.protocol == "v4":
            self._act_on_manager(made, "modifyLiquidity", (lower, upper, left - amount, bytes(32)))
        elif made.protocol == "algebra":
            self._act(made, "burn", lower, upper, amount - left, b"")
        else:
            self._act(made, "burn", lower, upper, amount - left)

    def _provide_at(self, made: CreatedPool, lower: int, upper: int, amount: int) -> None:
        """Between multiples of the tick spacing."""
        ticks = lower * made.spacing, upper * made.spacing
        made.ranges.append((*ticks, amount))
        position_holder = self.position_holder.address
        if made.protocol == "v4":
            self._act_on_manager(made, "modifyLiquidity", (*ticks, amount, bytes(32)))
        elif made.protocol == "algebra":
            self._act(made, "mint", position_holder, position_holder, *ticks, amount, b"")
        else:
            self._act(made, "mint", position_holder, *ticks, amount, b"")

    def _use_pair(self, rng: Random, made: CreatedPool) -> None:
        token = rng.choice(made.tokens)
        amount = rng.randint(1, 10 ** self.coins[token].call("decimals")[0])
        self.coins[token].send("mint", made.key, amount)
        if rng.random() < 0.5:
            made.contract.send("sync")
            return
        out = [0 if each == token else 1 for each in made.tokens]
        made.contract.send("swap", *out, DEPLOYER, b"")

    def _swap_weighted(self, rng: Random, made: CreatedPool) -> None:
        sold, bought = rng.sample(made.tokens, 2)
        one_swap = (made.contract.call("getPoolId")[0], 0, sold, bought, rng.randint(10**6, 10**18), b"")
        self.vault.send("swap", one_swap, (DEPLOYER, False, DEPLOYER, False), 0, _FOREVER)

    def _act(self, made: CreatedPool, function: str, *arguments: Any) -> None:
        self.position_holder.send("act", made.key, made.contract.calldata(function, *arguments))

    def _act_on_manager(self, made: CreatedPool, function: str, parameters: tuple[Any, ...]) -> None:
        key = self._v4_key(made)
        self.position_holder.send(
            "actUnlocked", self.manager.address, key, self.manager.calldata(function, key, parameters, b"")
        )

    def _v4_key(self, made: CreatedPool) -> tuple[str, str, int, int, str]:
        token0, token1 = made.tokens
        return ZERO_ADDRESS if made.native else token0, token1, made.fee, made.spacing, made.hooks

    # --- what there is

    def _end_gauges(self) -> None:
        """Slipstream asks its voter about each pool that trades."""
        voter = self.chain.call(self.factories["slipstream"].home.address, selector("voter()"))
        contract = self.chain.at(f"0x{voter[-20:].hex()}", sources()["OddToken"])
        for signature in ("gauges(address)", "isAlive(address)"):
            contract.send("say", signature, bytes(32))

    def _coin(self, places: int) -> Contract:
        return self.chain.deploy(self.kit["Token"], places)

    def _unused(self, rng: Random, name: str, keys: list[int]) -> tuple[str, str, int]:
        """Two tokens and a key that no pool of the protocol has; a new token where there are none left."""
        pairs = [tuple(_in_order(pair)) for pair in combinations(self.coins, 2)]
        left = [(a, b, key) for (a, b), key in product(pairs, keys) if (name, a, b, key) not in self._used]
        if not left:
            coin = self._coin(18)
            self.coins[coin.address] = coin
            return self._unused(rng, name, keys)
        selected = rng.choice(left)
        self._used.add((name, *selected))
        return selected

    def _network(self, multicall: str) -> Network:
        deployments = [
            Deployment((name, "stable") if name == "volatile" else (name,), name, {"factory": factory.home.address})
            for name, factory in self.factories.items()
        ]
        deployments[0] = deployments[0]._replace(fee_tiers={3_000: 0})
        return Network(
            name="town",
            kind=NetworkKind.EVM,
            chain_id=CHAIN_ID,
            native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
            wrapped_native=Token(self.wrapped, "TKN", "Token", self.coins[self.wrapped].call("decimals")[0]),
            tokens=(),
            protocols=PROTOCOLS,
            deployments=(
                *deployments,
                Deployment(("v4",), "v4", {"pool_manager": self.manager.address}),
                Deployment(("weighted",), "weighted", {"vault": self.vault.address}),
            ),
            stablecoins=(list(self.coins)[1],),
            multicall=multicall,
        )


def _artifact(protocol: str) -> ContractArtifact:
    if protocol in ("volatile", "stable"):
        return compile_solidity(_SOLIDLY_PAIR)["Pool"]
    return load_artifact({"v2": _PAIR, "algebra": _ALGEBRA_POOL}.get(protocol, _V3_POOL))


def _in_order(tokens: Any) -> list[str]:
    return sorted(tokens, key=lambda token: int(token, 16))
