"""Real factories of every kind on one chain, with one interface: create a pool of two tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.families.reading.factory_contract import Factory
from swapcli.families.tick_math import sqrt_ratio_at_tick
from swapcli.testing.evm import DEPLOYER, BaseChain, Contract
from tests.chain.node.evm_node import sources
from tests.contracts.evm import OLD_SOLC, compile_solidity, load_artifact
from tests.families.real_pools import slipstream_pool

V2 = ProtocolInfo(1, "v2", "V2", "constant_product")
V3 = ProtocolInfo(2, "v3", "V3", "concentrated", ("fee",))
SLIPSTREAM = ProtocolInfo(3, "slipstream", "Slipstream", "concentrated", ("tickSpacing",))
ALGEBRA = ProtocolInfo(4, "algebra", "Algebra", "concentrated")
V4 = ProtocolInfo(5, "v4", "V4", "concentrated", ("poolId",), contracts=("uniswap_v4",))
LAUNCHER = ProtocolInfo(9, "launcher", "Launcher", "concentrated", ("poolId",), contracts=("uniswap_v4",))
VOLATILE = ProtocolInfo(6, "volatile", "Volatile", "constant_product")
STABLE = ProtocolInfo(7, "stable", "Stable", "solidly_stable")
PANCAKE = ProtocolInfo(8, "pancake", "Pancake", "concentrated", ("fee",))

_UNISWAP_V3 = "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"
_PANCAKE = "@pancakeswap/v3-core/artifacts/contracts"
_ALGEBRA = "@cryptoalgebra/integral-core/artifacts/contracts"
_V4 = "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json"
_SOLIDLY = "sphere-mezo-solidity-files/domains/aerodrome/contracts"
_SLIPSTREAM = "sphere-mezo-solidity-files/domains/aerodrome-slipstream/contracts/core/CLFactory.sol"
_V4_SPACINGS = {20: 1, 77: 13, 100: 1, 500: 10, 3_000: 60, 10_000: 200}
_HOOK = "0x" + "5a" * 18 + "1040"
"""The hook of a launcher, which is called after the creation of pools and after swaps."""
_HOOKED = 10_000_000
_PRICE = sqrt_ratio_at_tick(7)


class FactoryFixture(NamedTuple):
    """`make` takes two tokens and one of `keys`: a fee, a tick spacing, whether it is stable, or nothing (0)."""

    home: Factory
    keys: Sequence[int]
    make: Callable[[str, str, int], object]


def uniswap_v2(chain: BaseChain) -> FactoryFixture:
    contract = chain.deploy(load_artifact("@uniswap/v2-core/build/UniswapV2Factory.json"), DEPLOYER)
    home = Factory(contract.address, ContractKind.UNISWAP_V2, (V2,), fee_ppm=3_000)
    return FactoryFixture(home, (0,), lambda a, b, _: contract.send("createPair", a, b))


def solidly(chain: BaseChain) -> FactoryFixture:
    pool = chain.deploy(compile_solidity(f"{_SOLIDLY}/Pool.sol")["Pool"])
    contract = chain.deploy(compile_solidity(f"{_SOLIDLY}/factories/PoolFactory.sol")["PoolFactory"], pool.address)
    home = Factory(contract.address, ContractKind.SOLIDLY, (VOLATILE, STABLE))
    return FactoryFixture(
        home, (0, 1), lambda a, b, key: contract.send("createPool(address,address,bool)", a, b, bool(key))
    )


def uniswap_v3(chain: BaseChain) -> FactoryFixture:
    """Deploy with a fee tier that governance added."""
    contract = chain.deploy(load_artifact(_UNISWAP_V3))
    contract.send("enableFeeAmount", 200, 4)
    return _by_fee(contract, V3, (200, 500, 3_000, 10_000))


def pancake_v3(chain: BaseChain) -> FactoryFixture:
    code = load_artifact(f"{_PANCAKE}/PancakeV3Pool.sol/PancakeV3Pool.json").bytecode
    deployer = chain.deploy(sources()["PoolDeployer"], code)
    contract = chain.deploy(load_artifact(f"{_PANCAKE}/PancakeV3Factory.sol/PancakeV3Factory.json"), deployer.address)
    return _by_fee(contract, PANCAKE, (100, 500, 2_500, 10_000))


def _by_fee(contract: Contract, protocol: ProtocolInfo, fees: Sequence[int]) -> FactoryFixture:
    home = Factory(contract.address, ContractKind.UNISWAP_V3, (protocol,))
    return FactoryFixture(home, fees, lambda a, b, fee: contract.send("createPool", a, b, fee))


def slipstream(chain: BaseChain) -> FactoryFixture:
    """Deploy with a voter and a legacy factory that know no pools."""
    placeholder = chain.deploy(sources()["OddToken"])
    for signature in ("factoryRegistry()", "getPool(address,address,int24)"):
        placeholder.send("say", signature, bytes(32))
    artifact = compile_solidity(_SLIPSTREAM, solc=OLD_SOLC)["CLFactory"]
    contract = chain.deploy(artifact, placeholder.address, placeholder.address, chain.deploy(slipstream_pool()).address)
    contract.send("enableTickSpacing", 60, 2_500)
    home = Factory(contract.address, ContractKind.UNISWAP_V3, (SLIPSTREAM,))
    return FactoryFixture(home, (1, 50, 60, 2_000), lambda a, b, key: contract.send("createPool", a, b, key, _PRICE))


def algebra(chain: BaseChain, artifacts: str = _ALGEBRA) -> FactoryFixture:
    """Deploy factory and pool deployer, which need each other's address in their constructors."""
    deployer = load_artifact(f"{artifacts}/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json")
    artifact = load_artifact(f"{artifacts}/AlgebraFactory.sol/AlgebraFactory.json")
    with chain.revert_after():
        address = chain.deploy(artifact, chain.deploy(deployer, DEPLOYER).address).address
    contract = chain.deploy(artifact, chain.deploy(deployer, address).address)
    assert contract.address == address
    home = Factory(address, ContractKind.ALGEBRA, (ALGEBRA,))
    return FactoryFixture(home, (0,), lambda a, b, _: contract.send("createPool", a, b, b""))


def uniswap_v4(chain: BaseChain, wrapped: str) -> FactoryFixture:
    """Deploy the pool manager. A negative fee creates a native-currency pool if one token is `wrapped`.

    A fee above `_HOOKED` creates a pool with a known hook.
    """
    manager = chain.deploy(load_artifact(_V4), DEPLOYER)
    chain.place(_HOOK, compile_solidity("hooks.sol")["TestHook"])

    def make(a: str, b: str, key: int) -> None:
        pair = [ZERO_ADDRESS if each == wrapped and key < 0 else each for each in (a, b)]
        currencies = sorted(pair, key=lambda each: int(each, 16))
        fee = abs(key) % _HOOKED
        hooks = _HOOK if key > _HOOKED else ZERO_ADDRESS
        manager.send("initialize", (*currencies, fee, _V4_SPACINGS[fee], hooks), _PRICE)

    home = Factory(
        manager.address, ContractKind.UNISWAP_V4, (V4,), fee_tiers={77: 13}, protocols_by_hook={_HOOK: LAUNCHER}
    )
    return FactoryFixture(home, (*_V4_SPACINGS, -500, -3_000, _HOOKED + 77), make)
