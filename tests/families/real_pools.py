"""Real pools in a local EVM behind one interface, and random liquidity for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import PoolIdentity
from swapcli.families.protocol_fees import DYNAMIC_FEE
from swapcli.families.tick_math import MAX_SQRT_RATIO, MAX_TICK, MIN_SQRT_RATIO, MIN_TICK, sqrt_ratio_at_tick
from swapcli.families.uniswap.concentrated import Concentrated
from swapcli.families.uniswap.constant_product import ConstantProduct
from swapcli.testing.evm import DEPLOYER, Chain, Contract, ContractArtifact, RevertedError
from tests.contracts.evm import OLD_SOLC, compile_solidity, load_artifact
from tests.support.outside_ids import v4_id

_UNISWAP_V2 = "@uniswap/v2-core/build/UniswapV2Pair.json"
_SOLIDLY = "sphere-mezo-solidity-files/domains/aerodrome/contracts/Pool.sol"
_UNISWAP_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json"
_PANCAKE_V3 = "@pancakeswap/v3-core/artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json"
_SLIPSTREAM = "sphere-mezo-solidity-files/domains/aerodrome-slipstream/contracts/core/CLPool.sol"
_UNISWAP_V4 = "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"
_ALGEBRA = "@cryptoalgebra/integral-core/artifacts/contracts/AlgebraPool.sol/AlgebraPool.json"


@dataclass(frozen=True)
class Outcome:
    """The amounts of a real swap, and the pool's state after it."""

    paid: int
    got: int
    sqrt_price_x96: int
    tick: int
    liquidity: int


class ContractFixture:
    """A chain, by default a new EVM in process, with two tokens in address order, and contracts that act for tests."""

    def __init__(self, chain: Any = None) -> None:
        kit = compile_solidity("kit.sol")
        self.chain: Chain = chain or Chain()
        self.token0, self.token1 = sorted(
            (self.chain.deploy(kit["Token"], decimals) for decimals in (18, 6)),
            key=lambda token: int(token.address, 16),
        )
        self.host = self.chain.deploy(kit["PoolHost"])
        self.trader = self.chain.deploy(kit["Trader"])

    @property
    def tokens(self) -> tuple[str, str]:
        return self.token0.address, self.token1.address

    def identity(self, address: str, fee_ppm: int) -> PoolIdentity:
        return PoolIdentity(address, "test", self.tokens, (18, 6), fee_ppm)


class RealPair:
    """A real Uniswap V2 or Solidly pair whose reserves the tests set."""

    def __init__(self, fixture: ContractFixture, fee_ppm: int = 3000, solidly: bool = False) -> None:
        self.world, self.fee_ppm, self.solidly = fixture, fee_ppm, solidly
        if solidly:
            artifact = compile_solidity(_SOLIDLY)["Pool"]
            (address,) = fixture.host.send("deploy", artifact.bytecode, *fixture.tokens, fee_ppm, 0)
            self.contract = fixture.chain.at(address, artifact)
            fixture.host.send("call", address, self.contract.calldata("initialize", *fixture.tokens, False))
            for token in (fixture.token0, fixture.token1):
                token.send("mint", address, 10**6)
            self.contract.send("mint", fixture.trader.address)  # fees are booked per share: there must be one
        else:
            self.contract = fixture.chain.deploy(load_artifact(_UNISWAP_V2))
            self.contract.send("initialize", *fixture.tokens)

    def fill(self, reserve0: int, reserve1: int) -> ConstantProduct:
        """Set the reserves."""
        self.world.trader.send("fill", self.contract.address, *self.world.tokens, reserve0, reserve1)
        state: dict[str, object] = {"reserves": [reserve0, str(reserve1)]}
        if self.solidly:
            state["variant"] = "solidly"
        return ConstantProduct.from_state(self.world.identity(self.contract.address, self.fee_ppm), state)

    def swap(self, down: bool, amount_in: int, amount_out: int) -> tuple[int, int]:
        """Pay `amount_in`, request `amount_out` and return the reserves. Raises `RevertedError`."""
        outs = (0, amount_out) if down else (amount_out, 0)
        token_in = self.world.tokens[0 if down else 1]
        reserve0, reserve1 = self.world.trader.send("swapPair", self.contract.address, token_in, amount_in, *outs)
        return reserve0, reserve1


class RealConcentrated(ABC):
    """A pool of concentrated liquidity at a price."""

    fee_ppm: int
    tick_spacing: int
    amount_bits: ClassVar[int] = 255

    @abstractmethod
    def mint(self, lower: int, upper: int, liquidity: int) -> None:
        """Add a position. Raises `RevertedError`."""

    @abstractmethod
    def swap(self, down: bool, amount_in: int) -> Outcome:
        """Sell an exact input with the widest price limit. Raises `RevertedError`."""

    @abstractmethod
    def position(self) -> tuple[int, int, int]:
        """Return the square-root price, tick and liquidity."""

    @abstractmethod
    def tick(self, tick: int) -> tuple[int, int]:
        """Return the gross and net liquidity of a tick."""

    @abstractmethod
    def identity(self) -> PoolIdentity:
        """Return the identity of the pool."""

    def traits(self) -> dict[str, object]:
        """Return the fields of the state that only some kinds of pools have."""
        return {}

    def read(self, ticks: set[int]) -> Concentrated:
        """Return the pool as swapcli reads it; `ticks` are the ends of its positions."""
        price, tick, liquidity = self.position()
        liquidity_by_tick = [(t, self.tick(t)) for t in sorted(ticks)]
        return Concentrated.from_state(
            self.identity(),
            {
                "sqrt_price_x96": str(price),
                "tick": tick,
                "liquidity": str(liquidity),
                "tick_spacing": self.tick_spacing,
                "ticks": [[t, str(net)] for t, (gross, net) in liquidity_by_tick if gross],
                **self.traits(),
            },
        )


class UniswapV3(RealConcentrated):
    """A Uniswap V3 pool; PancakeSwap V3 and Algebra differ only in names."""

    path: ClassVar[str] = _UNISWAP_V3
    in_list: ClassVar[bool] = False

    def __init__(self, fixture: ContractFixture, fee_ppm: int, tick_spacing: int, sqrt_price_x96: int) -> None:
        self.world, self.fee_ppm, self.tick_spacing = fixture, fee_ppm, tick_spacing
        artifact = load_artifact(self.path)
        (address,) = fixture.host.send("deploy", artifact.bytecode, *fixture.tokens, fee_ppm, tick_spacing)
        self.contract = fixture.chain.at(address, artifact)
        self.contract.send("initialize", sqrt_price_x96)

    def mint(self, lower: int, upper: int, liquidity: int) -> None:
        mint = "mintAlgebra" if self.in_list else "mint"
        self.world.trader.send(mint, self.contract.address, lower, upper, liquidity)

    def swap(self, down: bool, amount_in: int) -> Outcome:
        return Outcome(*self.world.trader.send("swap", self.contract.address, self.in_list, down, amount_in))

    def position(self) -> tuple[int, int, int]:
        price, tick, liquidity = self.world.trader.send("position", self.contract.address, self.in_list)
        return price, tick, liquidity

    def tick(self, tick: int) -> tuple[int, int]:
        gross, net, *_ = self.contract.send("ticks", tick)
        return gross, net

    def identity(self) -> PoolIdentity:
        return self.world.identity(self.contract.address, self.fee_ppm)


class PancakeV3(UniswapV3):
    path = _PANCAKE_V3


class Slipstream(UniswapV3):
    """Reads its fee from its factory before each swap. Gauges get a part of its fees, which changes no swap."""

    def __init__(self, fixture: ContractFixture, fee_ppm: int, tick_spacing: int, sqrt_price_x96: int) -> None:
        self.world, self.fee_ppm, self.tick_spacing = fixture, fee_ppm, tick_spacing
        artifact = slipstream_pool()
        (address,) = fixture.host.send("deploy", artifact.bytecode, *fixture.tokens, fee_ppm, tick_spacing)
        self.contract = fixture.chain.at(address, artifact)
        identity = (fixture.host.address, *fixture.tokens, tick_spacing, ZERO_ADDRESS)
        self.contract.send("initialize", *identity, sqrt_price_x96)

    def traits(self) -> dict[str, object]:
        return {"dynamic_fee": True}


def slipstream_pool() -> ContractArtifact:
    """Return the pool contract. Its factory initializes clones; the tests initialize a deployed copy the same way."""
    return compile_solidity(_SLIPSTREAM, solc=OLD_SOLC)["CLPool"]


class AlgebraIntegral(UniswapV3):
    path = _ALGEBRA
    in_list = True
    amount_bits = 128

    def traits(self) -> dict[str, object]:
        return {"variant": "algebra_integral"}


class UniswapV4(RealConcentrated):
    """A Uniswap V4 pool; its hook, at an address with the wanted permissions, is `TestHook` or the code of `hook_code`.

    `fee_ppm` is the LP fee, which only `TestHook` sets at once.
    """

    amount_bits = 127

    def __init__(
        self,
        fixture: ContractFixture,
        fee_ppm: int,
        tick_spacing: int,
        sqrt_price_x96: int,
        *,
        hooks: str = ZERO_ADDRESS,
        has_dynamic_fee: bool = False,
        hook_code: ContractArtifact | None = None,
    ) -> None:
        self.world, self.fee_ppm, self.tick_spacing = fixture, fee_ppm, tick_spacing
        self.hooks, self.has_dynamic_fee, self.protocol_fees_ppm = hooks, has_dynamic_fee, (0, 0)
        self.manager = fixture.chain.deploy(load_artifact(_UNISWAP_V4), DEPLOYER)
        self.trader: Contract = fixture.chain.deploy(compile_solidity("kit.sol")["V4Trader"], self.manager.address)
        self.key = (*fixture.tokens, DYNAMIC_FEE if has_dynamic_fee else fee_ppm, tick_spacing, hooks)
        if hooks != ZERO_ADDRESS:
            self.hook = fixture.chain.place(hooks, hook_code or compile_solidity("hooks.sol")["TestHook"])
        self.manager.send("initialize", self.key, sqrt_price_x96)
        if has_dynamic_fee and not hook_code:
            self.set_dynamic_fee(fee_ppm)

    @property
    def pool_id(self) -> str:
        return v4_id(*self.key)

    def set_dynamic_fee(self, fee_ppm: int) -> None:
        """Let the hook change the LP fee."""
        self.hook.send("setFee", self.manager.address, self.key, fee_ppm)
        self.fee_ppm = fee_ppm

    def set_protocol_fees(self, sell_token0_ppm: int, sell_token1_ppm: int) -> None:
        """Set the protocol's fee of each direction."""
        self.manager.send("setProtocolFeeController", DEPLOYER)
        self.manager.send("setProtocolFee", self.key, sell_token1_ppm << 12 | sell_token0_ppm)
        self.protocol_fees_ppm = sell_token0_ppm, sell_token1_ppm

    def traits(self) -> dict[str, object]:
        return {
            "pool_id": self.pool_id,
            "hooks": self.hooks,
            "dynamic_fee": self.has_dynamic_fee,
            "protocol_fees_ppm": self.protocol_fees_ppm,
        }

    def mint(self, lower: int, upper: int, liquidity: int) -> None:
        self.trader.send("mint", self.key, lower, upper, liquidity)

    def swap(self, down: bool, amount_in: int) -> Outcome:
        return Outcome(*self.trader.send("swap", self.key, down, amount_in))

    def position(self) -> tuple[int, int, int]:
        price, tick, liquidity = self.trader.send("position", self.key)
        return price, tick, liquidity

    def tick(self, tick: int) -> tuple[int, int]:
        gross, net = self.trader.send("ticks", self.key, tick)
        return gross, net

    def identity(self) -> PoolIdentity:
        return self.world.identity(self.manager.address, self.fee_ppm)


def random_sqrt_price(rng: Random) -> int:
    """Return a price, mostly near 1 or near that of tokens with 18 and 6 decimals, often exactly on a tick."""
    centre = rng.choice((0, 0, -276_000, 276_000, rng.randint(MIN_TICK + 2, MAX_TICK - 2)))
    tick = min(max(int(rng.gauss(centre, 2_000)), MIN_TICK + 1), MAX_TICK - 2)
    low, high = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    price = rng.choice((low, low + 1, high - 1, rng.randint(low, high - 1)))
    return min(max(price, MIN_SQRT_RATIO), MAX_SQRT_RATIO - 1)


def add_random_positions(rng: Random, pool: RealConcentrated) -> set[int]:
    """Open up to 30 overlapping positions around the price and return the ticks that they use."""
    spacing = pool.tick_spacing
    lowest, highest = -(MAX_TICK // spacing), MAX_TICK // spacing
    tick = pool.position()[1]
    max_per_tick = ((1 << 128) - 1) // (2 * highest + 1) // 40
    scale = rng.uniform(20, 110)
    used: set[int] = set()
    for _ in range(rng.choice((1, 2, 5, 12, 30))):
        width = rng.choice((1, 2, rng.randint(1, 50), 256, rng.randint(1, 2_000), 2 * highest))
        middle = tick // spacing + rng.choice((0, 0, round(rng.gauss(0, width)), round(rng.gauss(0, 300))))
        lower = min(max(middle - rng.randint(0, width), lowest), highest - 1)
        upper = min(max(lower + width, lower + 1), highest)
        maximum = min(max_per_tick, _max_liquidity(lower * spacing, upper * spacing, pool.amount_bits - 13))
        try:
            pool.mint(lower * spacing, upper * spacing, min(max(int(2 ** rng.gauss(scale, 4)), 1), maximum))
        except RevertedError:
            continue  # Algebra refuses a position that costs nothing
        used |= {lower * spacing, upper * spacing}
    return used


def _max_liquidity(lower: int, upper: int, bits: int) -> int:
    """Return the liquidity up to which both amounts of a position stay below 2^bits, far from the contract's limits."""
    low, high = sqrt_ratio_at_tick(lower), sqrt_ratio_at_tick(upper)
    return max(1, min((1 << bits + 96) // (high - low), (low * high << bits - 96) // (high - low)))
