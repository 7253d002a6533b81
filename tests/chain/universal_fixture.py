"""A network of the real pools of Uniswap V2, V3 and V4 with real Universal Routers and the real Permit2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from eth_abi.abi import encode

from swapcli.core.model.network import UNIVERSAL_ROUTER, DialectRouter
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.testing.evm import BaseChain, Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import CALLED_AFTER_CREATION, CALLED_AFTER_SWAPS, WETH, ContractFixture, Place
from tests.chain.market_reader import read_market
from tests.chain.trader import Trader
from tests.contracts.evm import load_artifact, load_json

CHAIN_ID: Final = 8453
"""Not anvil's own: the runtime code of Permit2 in the package has a domain separator cached for that one."""

PROTOCOLS: Final = {"uniswapV2": "v2", "uniswapV3": "v3", "uniswapV4": "v4"}

_ROUTER = "artifacts/contracts/UniversalRouter.sol/UniversalRouter.json"
_RELEASES = {"2.0": "@uniswap/universal-router", "2.1.0": "universal-router-2.1"}
"""The package of each release whose bytecode is published; 2.1.1 and later are in no package."""
_V3 = "@uniswap/v3-core/artifacts/contracts"
_PERMIT2 = "@uniswap/v4-periphery/foundry-out/DeployPermit2.sol/DeployPermit2.json"
_PERMIT2_START, _PERMIT2_BYTES = 0x1E4, 0x23C0
"""The place of Permit2's runtime code in that of the contract that deploys it."""

_PAIR_HASH = "96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f"
_POOL_HASH = "e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54"
"""Keccak-256 of the creation code of the pair and the pool, from which the router derives their addresses."""


class UniversalFixture(ContractFixture):
    """Pools of all generations, some of native currency, and one of another protocol that the router cannot execute."""

    def __init__(self, chain: AnvilChain) -> None:
        self.v3_factory = chain.deploy(load_artifact(f"{_V3}/UniswapV3Factory.sol/UniswapV3Factory.json"))
        self.v3_factory.send("enableFeeAmount", 100, 1)
        super().__init__(chain)
        code = bytes.fromhex(load_json(_PERMIT2)["deployedBytecode"]["object"][2:])
        runtime = code[_PERMIT2_START : _PERMIT2_START + _PERMIT2_BYTES]
        chain.node.ask("anvil_setCode", PERMIT2, f"0x{runtime.hex()}")
        self.network = self.network._replace(chain_id=CHAIN_ID)
        self.use_release("2.0")

    def use_release(self, release: str) -> None:
        """Make a new router of a release the network's router."""
        self.router = self._deploy_universal_router(self.chain, release)
        router = DialectRouter(self.router.address, version=release, protocols=PROTOCOLS)
        self.network = self.network._replace(
            router=self.router.address,
            router_dialect=UNIVERSAL_ROUTER,
            routers={UNIVERSAL_ROUTER: router},
        )

    def _deploy_universal_router(self, chain: BaseChain, release: str) -> Contract:
        unused = "0x" + "99" * 20
        bridge = () if release == "2.0" else (unused,)
        return chain.deploy(
            load_artifact(f"{_RELEASES[release]}/{_ROUTER}"),
            (
                *(PERMIT2, self.address(WETH), self.factory.address, self.v3_factory.address),
                *(bytes.fromhex(_PAIR_HASH), bytes.fromhex(_POOL_HASH), self.manager.address, unused, unused),
                *bridge,
            ),
        )

    def _open_pools(self) -> None:
        for a, b in ((WETH, "USDC"), ("USDC", "TKN"), ("WBTC", WETH), ("DAI", "USDT"), ("TKN", "DAI")):
            self.open_uniswap_v2(a, b)
        for a, b, fee, spacing in (
            (WETH, "USDC", 500, 10),
            (WETH, "USDC", 3000, 60),
            (WETH, "USDT", 3000, 60),
            ("WBTC", "USDC", 3000, 60),
            ("TKN", WETH, 10_000, 200),
            ("DAI", "USDC", 100, 1),
        ):
            self.open_uniswap_v3(a, b, fee, spacing)
        for a, b, fee, spacing in (
            ("", "USDC", 500, 10),
            ("", "TKN", 3000, 60),
            ("", "WBTC", 3000, 60),
            (WETH, "USDC", 500, 10),
            (WETH, "DAI", 3000, 60),
        ):
            self.open_uniswap_v4(a, b, fee, spacing)
        self._open_pools_with_hooks()
        self.set_protocol_fees(self.open_uniswap_v4("DAI", "USDT", 100, 1), 1_000, 250)
        self.open_pancake_v3(WETH, "USDC", 100, 1)

    def _open_pools_with_hooks(self) -> None:
        self.open_uniswap_v4("WBTC", "USDT", 3000, 60, CALLED_AFTER_SWAPS)
        self.open_uniswap_v4("TKN", "USDC", 10_000, 200, CALLED_AFTER_CREATION, is_dynamic=True)

    def open_uniswap_v3(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        """A pool at the address that the router derives."""
        token0, token1 = self._sorted(a, b)
        (address,) = self.v3_factory.send("createPool", *self._addresses(token0, token1), fee_ppm)
        pool = self.chain.at(address, load_artifact(f"{_V3}/UniswapV3Pool.sol/UniswapV3Pool.json"))
        pool.send("initialize", self._sqrt_price(token0, token1))
        return self._provided("uniswapV3", pool, (token0, token1), fee_ppm, spacing, "mint")


@contextmanager
def open_universal_trader() -> Iterator[Trader]:
    """On a fresh node, which ends with the block."""
    with running_anvil(CHAIN_ID) as chain:
        fixture = UniversalFixture(chain)
        trader = Trader(fixture, chain, read_market(fixture))
        trader.fund_user()
        yield trader


def permit2_allowance(trader: Trader, owner: str, token: str, spender: str) -> tuple[int, int, int]:
    """Return amount, expiration and nonce of an allowance in Permit2."""
    arguments = encode(["address"] * 3, [owner, token, spender])
    words = trader.chain.call(PERMIT2, bytes.fromhex("927da105") + arguments)
    amount, expiration_s, nonce = (int.from_bytes(words[k : k + 32]) for k in (0, 32, 64))
    return amount, expiration_s, nonce


def leftovers(trader: Trader) -> dict[str, int]:
    """Return what the router has of each token and of the native currency, where that is anything."""
    tokens = [*(token.address for token in trader.world.tokens.values()), ZERO_ADDRESS]
    balances = {token: trader.world.balance(token, trader.world.router.address) for token in tokens}
    return {token: balance for token, balance in balances.items() if balance}
