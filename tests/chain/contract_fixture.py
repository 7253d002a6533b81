"""A small network of real contracts: tokens, pools of every family, and the router, on any chain.

Uniswap V2, V3 and V4, PancakeSwap V3, Slipstream, Algebra Integral, Solidly (Aerodrome), Balancer V2 and WETH9 are
published; the pool of Curve's kind is modelled (`world.sol`), since no package holds one.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from math import isqrt, log

from eth_abi.abi import encode

from swapcli.core.model.network import Deployment, Kind, Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.token import Token
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.payload.evm.router import build_deployment, read_artifact
from swapcli.testing.evm import DEPLOYER, BaseChain, Contract, ContractArtifact
from tests.contracts.evm import compile_solidity, load_artifact
from tests.families.real_pools import slipstream_pool
from tests.support.outside_ids import v4_id

WETH = "WETH"
DECIMALS = {WETH: 18, "USDC": 6, "USDT": 6, "DAI": 18, "WBTC": 8, "TKN": 18}
CENTS = {WETH: 250_000, "USDC": 100, "USDT": 100, "DAI": 100, "WBTC": 6_000_000, "TKN": 25}
POOL_DOLLARS = 4_000_000
WEALTH = 10**9
"""Whole tokens of each kind that the world's owner begins with."""
CHAIN_ID = 31_337

_V3_KEYS = ("fee",)
_V4_KEYS = ("poolId", "token0", "token1", "fee", "tickSpacing", "hooks")
PROTOCOLS = (
    ProtocolInfo(0, "wrapper", "Wrapper", "wrapper"),
    ProtocolInfo(1, "uniswapV2", "Uniswap V2", "constant_product"),
    ProtocolInfo(5, "uniswapV3", "Uniswap V3", "concentrated", _V3_KEYS),
    ProtocolInfo(9, "pancakeSwapV3", "PancakeSwap V3", "concentrated", _V3_KEYS),
    ProtocolInfo(11, "slipstream", "Slipstream", "concentrated", ("tickSpacing",)),
    ProtocolInfo(25, "uniswapV4", "Uniswap V4", "concentrated", _V4_KEYS, contracts=("uniswap_v4",)),
    ProtocolInfo(63, "solidlyStable", "Solidly Stable", "solidly_stable"),
    ProtocolInfo(64, "solidlyVolatile", "Solidly Volatile", "constant_product"),
    ProtocolInfo(70, "algebra", "Algebra", "concentrated"),
    ProtocolInfo(100, "unknownDex", "A protocol without a family"),
    ProtocolInfo(126, "curveFi", "Curve", "stableswap"),
    ProtocolInfo(127, "balancerV2Weighted", "Balancer V2 Weighted", "weighted"),
)
"""Their ids lie in both words of the router's table, and at the edges."""

_UNISWAP_V2 = "@uniswap/v2-core/build"
_UNISWAP_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
_PANCAKE_V3 = "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"
_UNISWAP_V4 = "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"
_ALGEBRA = "@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json"
_SOLIDLY = "sphere-mezo-solidity-files/domains/aerodrome/contracts/Pool.sol"
_BALANCER = "@balancer-labs/v2-deployments/dist/tasks"
_PRICE_BITS = 96


CALLED_AFTER_SWAPS, CALLED_AFTER_CREATION = 0x1040, 0x1000
"""Permissions of Uniswap V4 hooks that leave the amounts of swaps alone."""


@dataclass(frozen=True)
class Place:
    """Where a pool is, and what of it never changes. `ticks` are those that positions were opened at."""

    protocol: str
    contract: Contract
    tokens: tuple[str, ...]
    fee_ppm: int
    tick_spacing: int = 0
    ticks: tuple[int, ...] = ()
    pool_id: str = ""
    native: bool = False
    hooks: str = ZERO_ADDRESS
    has_dynamic_fee: bool = False

    @property
    def key(self) -> str:
        return self.pool_id or self.contract.address


class ContractFixture:
    """`tokens` by symbol; `places` are the pools; `router` is ours, deployed as its payload says."""

    def __init__(self, chain: BaseChain, *, pools: bool = True) -> None:
        self.chain = chain
        self.kit = compile_solidity("kit.sol")
        self.sources = compile_solidity("simulated.sol", "world.sol")
        self.provider = chain.deploy(self.sources["Provider"])
        self.host = chain.deploy(self.kit["PoolHost"])
        self.contracts = {symbol: self._token(symbol) for symbol in DECIMALS}
        self.factory = chain.deploy(load_artifact(f"{_UNISWAP_V2}/UniswapV2Factory.json"), DEPLOYER)
        self.manager = chain.deploy(load_artifact(_UNISWAP_V4), DEPLOYER)
        self.tokens = {
            symbol: Token(self.contracts[symbol].address, symbol, symbol, places) for symbol, places in DECIMALS.items()
        }
        self.places: list[Place] = []
        self.network = self._network()
        self.router = self.deploy_router(self.network)
        self.network = self.network._replace(router=self.router.address)
        if pools:
            self._open_pools()

    def copy(self) -> ContractFixture:
        """Return a record of the same contracts whose tokens, pools and network can be changed."""
        copied = copy(self)
        copied.contracts, copied.tokens, copied.places = {**self.contracts}, {**self.tokens}, [*self.places]
        return copied

    def address(self, symbol: str) -> str:
        return self.contracts[symbol].address

    def symbol(self, address: str) -> str:
        return next(symbol for symbol, token in self.tokens.items() if token.address == address)

    def balance(self, token: str, owner: str) -> int:
        """Of a token by address; of the native one by the zero address."""
        if token == ZERO_ADDRESS:
            return self.chain.native_balance(owner)
        (amount,) = self.contracts["USDC"].decode_output(
            "balanceOf", self.chain.call(token, self.contracts["USDC"].calldata("balanceOf", owner))
        )
        return int(amount)

    def give(self, symbol: str, owner: str, amount: int) -> None:
        """New tokens for `owner`; wrapped native ones from the deployer's own."""
        if symbol == WETH:
            self.contracts[WETH].send("deposit", value=amount)
            self.contracts[WETH].send("transfer", owner, amount)
        else:
            self.contracts[symbol].send("mint", owner, amount)

    def deploy_router(self, network: Network) -> Contract:
        payload, abi = build_deployment(network), read_artifact().abi
        address = self.chain.create(bytes.fromhex(payload.calldata[2:]))
        return self.chain.at(address, ContractArtifact(abi, b""))

    def _token(self, symbol: str) -> Contract:
        if symbol == WETH:
            weth = self.chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json"))
            self.chain.fund(DEPLOYER, 4 * WEALTH * 10**18)
            weth.send("deposit", value=WEALTH * 10**18)
            weth.send("transfer", self.provider.address, WEALTH * 10**18)
            self.chain.fund(self.provider.address, WEALTH * 10**18)
            return weth
        if symbol == "USDT":
            contract = self.chain.deploy(self.sources["Tether"])
        else:
            contract = self.chain.deploy(self.sources["Coin"], symbol, DECIMALS[symbol])
        contract.send("mint", self.provider.address, WEALTH * 10 ** DECIMALS[symbol])
        return contract

    def _network(self) -> Network:
        return Network(
            name="anvil",
            kind=Kind.EVM,
            chain_id=CHAIN_ID,
            native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
            wrapped_native=self.tokens[WETH],
            tokens=tuple(self.tokens.values()),
            protocols=PROTOCOLS,
            deployments=(Deployment(("uniswapV4",), "Uniswap V4", {"pool_manager": self.manager.address}),),
            stablecoins=tuple(self.address(symbol) for symbol in ("USDC", "USDT", "DAI")),
        )

    def _open_pools(self) -> None:
        for a, b in ((WETH, "USDC"), ("USDC", "TKN"), ("WBTC", WETH), ("DAI", "USDT")):
            self.open_uniswap_v2(a, b)
        for a, b, stable, fee in (
            ("USDC", "DAI", True, 500),
            ("USDT", "USDC", True, 100),
            (WETH, "TKN", False, 3000),
            (WETH, "USDC", False, 500),
        ):
            self.open_solidly(a, b, stable, fee)
        for open_pool, a, b, fee, spacing in (
            (self.open_uniswap_v3, WETH, "USDC", 500, 10),
            (self.open_uniswap_v3, WETH, "USDT", 3000, 60),
            (self.open_uniswap_v3, "WBTC", "USDC", 3000, 60),
            (self.open_uniswap_v3, "TKN", WETH, 10_000, 200),
            (self.open_pancake_v3, WETH, "USDC", 2500, 50),
            (self.open_pancake_v3, "DAI", "USDC", 100, 1),
            (self.open_algebra, WETH, "DAI", 500, 60),
            (self.open_algebra, "WBTC", "USDT", 3000, 60),
            (self.open_uniswap_v4, "", "TKN", 3000, 60),
        ):
            open_pool(a, b, fee, spacing)
        self.set_protocol_fees(self.open_uniswap_v4("", "USDC", 500, 10), 500, 1_000)
        self.open_uniswap_v4("WBTC", "USDT", 3000, 60, CALLED_AFTER_SWAPS)
        self.open_uniswap_v4("TKN", "USDC", 10_000, 200, CALLED_AFTER_CREATION, is_dynamic=True)
        self.open_stableswap("USDC", "USDT", "DAI")
        self.open_weighted((WETH, "WBTC", "DAI"), (50, 25, 25), 3000)
        self.open_slipstream(WETH, "USDT", 437, 100)

    def open_uniswap_v2(self, a: str, b: str) -> Place:
        tokens = self._addresses(*self._sorted(a, b))
        (address,) = self.factory.send("createPair", *tokens)
        pair = self.chain.at(address, load_artifact(f"{_UNISWAP_V2}/UniswapV2Pair.json"))
        return self._fill(Place("uniswapV2", pair, tokens, 3000))

    def open_solidly(self, a: str, b: str, stable: bool, fee_ppm: int, host: Contract | None = None) -> Place:
        artifact = compile_solidity(_SOLIDLY)["Pool"]
        token0, token1 = self._sorted(a, b)
        tokens = self._addresses(token0, token1)
        # Each pair asks its factory for its fee, so each has one of its own.
        host = host or self.chain.deploy(self.kit["PoolHost"])
        address = self._hosted(artifact, tokens, fee_ppm, 0, host)
        pair = self.chain.at(address, artifact)
        host.send("call", address, pair.calldata("initialize", *tokens, stable))
        return self._fill(Place("solidlyStable" if stable else "solidlyVolatile", pair, tokens, fee_ppm))

    def open_uniswap_v3(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        return self._open_v3("uniswapV3", _UNISWAP_V3, (a, b), fee_ppm, spacing)

    def open_pancake_v3(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        return self._open_v3("pancakeSwapV3", _PANCAKE_V3, (a, b), fee_ppm, spacing)

    def open_algebra(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        return self._open_v3("algebra", _ALGEBRA, (a, b), fee_ppm, spacing, mint="mintAlgebra")

    def open_slipstream(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        artifact = slipstream_pool()
        token0, token1 = self._sorted(a, b)
        tokens = self._addresses(token0, token1)
        host = self.chain.deploy(self.kit["PoolHost"])
        pool = self.chain.at(self._hosted(artifact, tokens, fee_ppm, spacing, host), artifact)
        pool.send("initialize", host.address, *tokens, spacing, ZERO_ADDRESS, self._sqrt_price(token0, token1))
        return self._provided("slipstream", pool, (token0, token1), fee_ppm, spacing, "mint")

    def open_uniswap_v4(
        self, a: str, b: str, fee_ppm: int, spacing: int, permissions: int | None = None, *, is_dynamic: bool = False
    ) -> Place:
        """A pool of the native token where `a` is empty; `permissions` are those of its hook, None for no hook."""
        token0, token1 = (WETH, b) if not a else self._sorted(a, b)
        currencies = (ZERO_ADDRESS if not a else self.address(token0), self.address(token1))
        hooks = ZERO_ADDRESS
        if permissions is not None:
            hooks = f"0x{0x5AFE << 140 | permissions:040x}"
            hook = self.chain.place(hooks, compile_solidity("hooks.sol")["TestHook"])
        key = (*currencies, DYNAMIC_FEE if is_dynamic else fee_ppm, spacing, hooks)
        self.manager.send("initialize", key, self._sqrt_price(token0, token1))
        if is_dynamic:
            hook.send("setFee", self.manager.address, key, fee_ppm)
        ticks = self._ladder(
            token0,
            token1,
            spacing,
            lambda *position: self.provider.send("mintSingleton", self.manager.address, key, *position),
        )
        tokens, pool_id = self._addresses(token0, token1), v4_id(*key)
        return self._add(
            Place("uniswapV4", self.manager, tokens, fee_ppm, spacing, ticks, pool_id, not a, hooks, is_dynamic)
        )

    def set_protocol_fees(self, place: Place, sell_token0_ppm: int, sell_token1_ppm: int) -> None:
        """Set the protocol's fee of each direction of a Uniswap V4 pool."""
        token0, token1 = place.tokens
        key = (ZERO_ADDRESS if place.native else token0, token1, place.fee_ppm, place.tick_spacing, place.hooks)
        self.manager.send("setProtocolFeeController", DEPLOYER)
        self.manager.send("setProtocolFee", key, sell_token1_ppm << 12 | sell_token0_ppm)

    def open_stableswap(self, *symbols: str) -> Place:
        tokens = self._addresses(*symbols)
        rates = [10 ** (36 - DECIMALS[symbol]) for symbol in symbols]
        pool = self.chain.deploy(self.sources["StableSwap"], tokens, rates, 200, 4_000_000)
        for symbol in symbols:
            self.give(symbol, pool.address, POOL_DOLLARS * 10 ** DECIMALS[symbol])
        pool.send("fill")
        return self._add(Place("curveFi", pool, tokens, 400))

    def open_weighted(self, symbols: tuple[str, ...], percents: tuple[int, ...], fee_ppm: int) -> Place:
        no_owner = ZERO_ADDRESS
        vault = self.chain.deploy(
            load_artifact(f"{_BALANCER}/20210418-vault/artifact/Vault.json"), DEPLOYER, self.address(WETH), 0, 0
        )
        fees = self.chain.deploy(
            load_artifact(
                f"{_BALANCER}/20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json"
            ),
            vault.address,
            10**18,
            10**18,
        )
        of_token = sorted(zip(symbols, percents, strict=True), key=lambda each: int(self.address(each[0]), 16))
        tokens = self._addresses(*(symbol for symbol, _ in of_token))
        weights = [percent * 10**16 for _, percent in of_token]
        no_owners = [no_owner] * len(tokens)
        parameters = ("", "", tokens, weights, no_owners, no_owners, fee_ppm * 10**12)
        artifact = load_artifact(f"{_BALANCER}/20230206-weighted-pool-v3/artifact/WeightedPool.json")
        pool = self.chain.deploy(artifact, parameters, vault.address, fees.address, 0, 0, no_owner, "")
        amounts = [_units(symbol, POOL_DOLLARS * percent // 50) for symbol, percent in of_token]
        for (symbol, _), amount in zip(of_token, amounts, strict=True):
            self.give(symbol, DEPLOYER, amount)
            self.contracts[symbol].send("approve", vault.address, amount)
        (pool_id,) = pool.call("getPoolId")
        join = (tokens, amounts, encode(["uint256", "uint256[]"], [0, amounts]), False)
        vault.send("joinPool", pool_id, DEPLOYER, DEPLOYER, join)
        return self._add(Place("balancerV2Weighted", pool, tokens, fee_ppm))

    def _open_v3(
        self, protocol: str, path: str, pair: tuple[str, str], fee_ppm: int, spacing: int, mint: str = "mint"
    ) -> Place:
        artifact = load_artifact(path)
        token0, token1 = self._sorted(*pair)
        tokens = self._addresses(token0, token1)
        pool = self.chain.at(self._hosted(artifact, tokens, fee_ppm, spacing, self.host), artifact)
        pool.send("initialize", self._sqrt_price(token0, token1))
        return self._provided(protocol, pool, (token0, token1), fee_ppm, spacing, mint)

    def _provided(
        self, protocol: str, pool: Contract, pair: tuple[str, str], fee_ppm: int, spacing: int, mint: str
    ) -> Place:
        """A pool of Uniswap V3's kind, with a price, that gets its liquidity."""
        ticks = self._ladder(*pair, spacing, lambda *position: self.provider.send(mint, pool.address, *position))
        return self._add(Place(protocol, pool, self._addresses(*pair), fee_ppm, spacing, ticks))

    def _hosted(
        self, artifact: ContractArtifact, tokens: tuple[str, ...], fee_ppm: int, spacing: int, host: Contract
    ) -> str:
        """A pool whose constructor asks its deployer."""
        (address,) = host.send("deploy", artifact.bytecode, *tokens, fee_ppm, spacing)
        return str(address)

    def _fill(self, place: Place) -> Place:
        amounts = (_units(self.symbol(token), POOL_DOLLARS) for token in place.tokens)
        self.provider.send("fillPair", place.contract.address, *amounts)
        return self._add(place)

    def _ladder(self, token0: str, token1: str, spacing: int, mint: Callable[..., object]) -> tuple[int, ...]:
        """Overlapping positions around the price: narrow, broad and beside it."""
        middle = round(_tick(token0, token1) / spacing)
        # Liquidity such that a tenth of a percent of price is worth some ten thousand dollars.
        unit = isqrt(_units(token0, POOL_DOLLARS) * _units(token1, POOL_DOLLARS))
        ticks: set[int] = set()
        for lower, upper, liquidity in (
            (middle - 4_000 // spacing - 1, middle + 4_000 // spacing + 1, unit),
            (middle - 200 // spacing - 1, middle + 200 // spacing + 1, 4 * unit),
            (middle - 2, middle + 3, 3 * unit),
            (middle + 3, middle + 9, 2 * unit),
            (middle - 12, middle - 2, 2 * unit),
        ):
            mint(lower * spacing, upper * spacing, liquidity)
            ticks |= {lower * spacing, upper * spacing}
        return tuple(sorted(ticks))

    def _sqrt_price(self, token0: str, token1: str) -> int:
        """Of the world's prices, in Q64.96."""
        one_dollar0, one_dollar1 = _units(token0, 10**9), _units(token1, 10**9)
        return isqrt((one_dollar1 << 2 * _PRICE_BITS) // one_dollar0)

    def _sorted(self, a: str, b: str) -> tuple[str, str]:
        return (a, b) if int(self.address(a), 16) < int(self.address(b), 16) else (b, a)

    def _addresses(self, *symbols: str) -> tuple[str, ...]:
        return tuple(self.address(symbol) for symbol in symbols)

    def _add(self, place: Place) -> Place:
        self.places.append(place)
        return place


def _units(symbol: str, dollars: int) -> int:
    """Base units of a token that are worth so much."""
    one: int = 10 ** DECIMALS[symbol]
    return dollars * one * 100 // CENTS[symbol]


def _tick(token0: str, token1: str) -> float:
    return log(_units(token1, 10**9) / _units(token0, 10**9), 1.0001)
