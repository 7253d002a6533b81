"""The small network with pools of further families: stable pools of Balancer V2, and a vault of ERC-4626.

The stable pools are Balancer's bytecode, on a Vault of their own, with rates; the vault is OpenZeppelin's. Its share
token is traded by a stable pool only, so that routes lead through both. The composable pools trade their own tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from swapcli.core.model.network import ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.pool import Pool
from swapcli.core.model.token import Token
from swapcli.testing.evm import DEPLOYER, BaseChain, Contract
from tests.chain.anvil import running_anvil
from tests.chain.contract_fixture import DECIMALS, POOL_DOLLARS, PROTOCOLS, WETH, ContractFixture, Place
from tests.chain.market_reader import READERS, build_read_pool, question, read_market
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity, load_artifact
from tests.families.balancer.balancer_v2_chain import RealStable, StableChain, StableParameters

SHARE, ASSET = "SHARE", "DAI"
SHARE_RATE = 1_069 * 10**15
"""Near the price of a share, as of a rate provider that lags behind."""
FURTHER_PROTOCOLS = (
    ProtocolInfo(30, "balancerV2Stable", "Balancer V2 Stable", "balancer_v2_stable"),
    ProtocolInfo(31, "balancerV2Composable", "Balancer V2 Composable", "balancer_v2_composable"),
    ProtocolInfo(32, "erc4626", "ERC-4626", "vault"),
)
_WAD = 10**18
_VAULT_DOLLARS = 50 * POOL_DOLLARS
_LARGEST = 2**255
_BALANCER = "@balancer-labs/v2-deployments/dist/tasks"


class _StableOfFixture(StableChain):
    """The factories of stable pools on the chain of a fixture."""

    def __init__(self, fixture: ContractFixture) -> None:
        self.chain: Any = fixture.chain
        vault = load_artifact(f"{_BALANCER}/20210418-vault/artifact/Vault.json")
        fees = "20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json"
        self.vault = fixture.chain.deploy(vault, DEPLOYER, fixture.address(WETH), 0, 0)
        self.fees = fixture.chain.deploy(load_artifact(f"{_BALANCER}/{fees}"), self.vault.address, _WAD, _WAD)
        self.rate_provider = compile_solidity("rates.sol")["RateProvider"]
        self.libraries = {}


class FamiliesFixture(ContractFixture):
    """The contract fixture with pools of `FURTHER_PROTOCOLS` and a token of shares."""

    def __init__(self, chain: BaseChain) -> None:
        super().__init__(chain)
        share = chain.deploy(compile_solidity("vaults.sol")["Shares"], self.address(ASSET))
        self.contracts[SHARE] = share
        self.tokens[SHARE] = Token(share.address, SHARE, SHARE, DECIMALS[ASSET])
        protocols, tokens = (*PROTOCOLS, *FURTHER_PROTOCOLS), tuple(self.tokens.values())
        self.network = self.network._replace(protocols=protocols, tokens=tokens, router=None)
        self.router = self.deploy_router(self.network)
        self.network = self.network._replace(router=self.router.address)
        self._open_vault(share)
        self.stable_pools: dict[str, RealStable] = {}
        balancer = _StableOfFixture(self)
        self._open_stable(balancer, "stable", ("USDC", "USDT", "DAI"))
        self._open_stable(balancer, "composable v3", (SHARE, "USDC", "USDT"))
        self._open_stable(balancer, "composable v1", (SHARE, "USDT"))
        self.network = self.network._replace(tokens=tuple(self.tokens.values()))

    def give(self, symbol: str, owner: str, amount: int) -> None:
        """As in the fixture; shares come from a deposit."""
        if symbol != SHARE:
            super().give(symbol, owner, amount)
            return
        (assets,) = self.contracts[SHARE].call("previewMint", amount)
        super().give(ASSET, DEPLOYER, assets)
        self.contracts[ASSET].send("approve", self.address(SHARE), assets)
        self.contracts[SHARE].send("mint", amount, owner)

    def _open_vault(self, share: Contract) -> None:
        """Make a share worth about 1.07 of its asset, with an uneven rate."""
        dollars = _VAULT_DOLLARS * 10 ** DECIMALS[ASSET]
        self.give(SHARE, DEPLOYER, dollars)
        super().give(ASSET, share.address, dollars * 7 // 100 + 7)
        self._add(Place("erc4626", share, (self.address(ASSET), share.address), 0))

    def _open_stable(self, balancer: StableChain, factory: str, symbols: tuple[str, ...]) -> None:
        ordered = sorted(symbols, key=lambda symbol: int(self.address(symbol), 16))
        decimals = [self.tokens[symbol].decimals for symbol in ordered]
        providers = [balancer.provider(SHARE_RATE).address if each == SHARE else ZERO_ADDRESS for each in ordered]
        tokens = [self.address(symbol) for symbol in ordered]
        amounts = [POOL_DOLLARS * 10**places for places in decimals]
        for symbol, amount in zip(ordered, amounts, strict=True):
            self.give(symbol, DEPLOYER, amount)
            self.contracts[symbol].send("approve", balancer.vault.address, amount)
        fee_ppm = 400
        parameters = StableParameters(tokens, decimals, providers, 200, fee_ppm * 10**12)
        real = RealStable(balancer, factory, parameters, amounts)
        self.stable_pools[real.address] = real
        protocol = "balancerV2Stable"
        if real.is_composable:
            protocol, symbol = "balancerV2Composable", f"BPT {factory}"
            self.contracts[symbol] = real.contract
            self.tokens[symbol] = Token(real.address, symbol, symbol, 18)
        self._add(Place(protocol, real.contract, real.tokens, fee_ppm))


def _read_stable(fixture: ContractFixture, place: Place) -> Any:
    """Read the pool by its view functions."""
    assert isinstance(fixture, FamiliesFixture)
    yield []
    real = fixture.stable_pools[place.contract.address]
    rates = [SHARE_RATE if int(provider, 16) else _WAD for provider in real.given.providers]
    return replace(real.model(rates), protocol=place.protocol)


def _read_vault(fixture: ContractFixture, place: Place) -> Any:
    """Read the totals; OpenZeppelin's vault adds one to both before it divides."""
    assets, shares = yield [question(place.contract, name) for name in ("totalAssets", "totalSupply")]
    totals = [int.from_bytes(each) for each in (assets, shares)]
    state = {"share_price": [each + 1 for each in totals], "max_deposit": _LARGEST, "max_redeemed": totals[0]}
    return build_read_pool(fixture, place, state)


READERS.update(balancerV2Stable=_read_stable, balancerV2Composable=_read_stable, erc4626=_read_vault)


@contextmanager
def open_families_trader() -> Iterator[Trader]:
    """On a fresh node, which ends with the block."""
    with running_anvil() as chain:
        fixture = FamiliesFixture(chain)
        trader = Trader(fixture, chain, read_market(fixture))
        trader.fund_user()
        yield trader


def families_of(pools: Iterator[Pool]) -> set[str]:
    """Return those of the further families among pools."""
    further = {protocol.family for protocol in FURTHER_PROTOCOLS}
    return {pool.family for pool in pools} & {name for name in further if name}
