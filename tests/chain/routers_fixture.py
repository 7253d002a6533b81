"""A network with routers of every dialect: quotes choose among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from swapcli.core.model.network import FIBROUS, OWN, SETTLER, UNIVERSAL_ROUTER, DialectRouter
from swapcli.core.model.transfer_behaviour import ORDINARY
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.settler_fixture import PROTOCOLS, deploy_settler
from tests.chain.trader import Trader
from tests.chain.universal_fixture import CHAIN_ID, UniversalFixture


class RoutersFixture(UniversalFixture):
    """The pools of `UniversalFixture`, with its router and a model of Settler, whose registry names it.

    This project's contract stands for the interface's router; another copy of it is the user's own.
    """

    def __init__(self, chain: AnvilChain) -> None:
        super().__init__(chain)
        self.holder, self.settler, self.registry = deploy_settler(self)
        self.own_router = self.deploy_router(self.network)
        self.public_router = self.deploy_router(self.network)
        settler = DialectRouter(registry=self.registry.address, spender=self.holder.address, protocols=PROTOCOLS)
        self.network = self.network._replace(
            multicall=deploy_multicall(chain),
            router=self.public_router.address,
            router_dialect=FIBROUS,
            chooses_router=True,
            routers={UNIVERSAL_ROUTER: self.network.routers[UNIVERSAL_ROUTER], SETTLER: settler},
        )

    def with_own_router(self) -> None:
        """Have the settings name the user's own router too."""
        routers = {**self.network.routers, OWN: DialectRouter(self.own_router.address)}
        self.network = self.network._replace(routers=routers)


@contextmanager
def open_routers_trader() -> Iterator[Trader]:
    """On a fresh node, which ends with the block."""
    with running_anvil(CHAIN_ID) as chain:
        world = RoutersFixture(chain)
        market = read_market(world)
        trader = Trader(world, chain, market._replace(transfers=dict.fromkeys(market.tokens, ORDINARY)))
        trader.fund_user()
        yield trader
