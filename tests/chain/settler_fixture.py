"""A network of real pools with a model of 0x Settler, of AllowanceHolder and of the registry that names Settler.

The model (`settler.sol`) follows the published source. The real contracts never run here: no package has their
bytecode. Pools of Uniswap V3's kind are registered in it by the number of the fork, as the real one derives them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from swapcli.core.model.network import SETTLER, Deployment, DialectRouter
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote import Route
from swapcli.core.model.swap_terms import Integrator
from swapcli.payload.dialects import executable_market
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import WETH, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.trader import Trade, Trader
from tests.contracts.evm import compile_solidity

FORKS: Final = {"uniswapV3": 0, "pancakeSwapV3": 1, "slipstream": 4}
PROTOCOLS: Final = {
    "uniswapV2": "UNISWAPV2",
    "solidlyVolatile": "UNISWAPV2",
    **{protocol: f"UNISWAPV3 {number}" for protocol, number in FORKS.items()},
    "uniswapV4": "UNISWAPV4",
    "curveFi": "BASIC",
    "balancerV2Weighted": "BASIC",
}


def deploy_settler(world: ContractFixture) -> tuple[Contract, Contract, Contract]:
    """Deploy AllowanceHolder, the model of Settler with the pools of a world, and the registry that names it."""
    contracts = compile_solidity("settler.sol")
    holder = world.chain.deploy(contracts["AllowanceHolder"])
    settler = world.chain.deploy(contracts["SettlerModel"], holder.address, world.manager.address)
    registry = world.chain.deploy(contracts["SettlerRegistry"])
    registry.send("set", settler.address)
    for place in world.places:
        if place.protocol in FORKS:
            pool_id = place.tick_spacing if place.protocol == "slipstream" else place.fee_ppm
            settler.send("register", FORKS[place.protocol], *place.tokens, pool_id, place.contract.address)
    return holder, settler, registry


class SettlerFixture(ContractFixture):
    """The pools of `ContractFixture`, and some more of native currency. The network's router is Settler."""

    def __init__(self, chain: AnvilChain) -> None:
        super().__init__(chain)
        self.holder, self.router, self.registry = deploy_settler(self)
        (weighted,) = (place for place in self.places if place.protocol == "balancerV2Weighted")
        (vault,) = weighted.contract.call("getVault")
        balancer = Deployment(("balancerV2Weighted",), "Balancer V2", {"vault": vault})
        settler = DialectRouter(registry=self.registry.address, spender=self.holder.address, protocols=PROTOCOLS)
        self.network = self.network._replace(
            router=self.router.address,
            router_dialect=SETTLER,
            routers={SETTLER: settler},
            deployments=(*self.network.deployments, balancer),
        )

    def _open_pools(self) -> None:
        super()._open_pools()
        self.open_uniswap_v2("TKN", "DAI")
        self.open_uniswap_v4("", "WBTC", 3000, 60)
        self.open_uniswap_v4(WETH, "DAI", 3000, 60)

    def leftovers(self) -> dict[str, int]:
        """Return what Settler has of each token and of the native currency, where that is anything."""
        tokens = [*(token.address for token in self.tokens.values()), ZERO_ADDRESS]
        balances = {token: self.balance(token, self.router.address) for token in tokens}
        return {token: balance for token, balance in balances.items() if balance}


class SettlerTrader(Trader):
    """A trader of a network whose router is Settler."""

    world: SettlerFixture

    def _build_trade_of_route(self, route: Route, order: Order, integrator: Integrator | None, recipient: str) -> Trade:
        """Quote the route on the pools as Settler executes them."""
        executable = replace(self, market=executable_market(self.market))
        return Trader._build_trade_of_route(executable, route, order, integrator, recipient)


@contextmanager
def open_settler_trader() -> Iterator[SettlerTrader]:
    """On a fresh node, which ends with the block."""
    with running_anvil() as chain:
        world = SettlerFixture(chain)
        trader = SettlerTrader(world, chain, read_market(world))
        trader.fund_user()
        yield trader
