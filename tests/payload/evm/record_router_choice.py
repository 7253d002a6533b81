"""Record what the routers that quotes choose pay: 0x Settler's own bytecode, and that of a Universal Router.

    python -m tests.payload.evm.record_router_choice FOLDER [ORDERS]

FOLDER has `settler.json`, as for `settler_recorder`. Uniswap's contracts are those of packages. They stand where those
of Base do, since Settler derives the addresses of pools from them. Each quote reads the node, with the registry that
names Settler; its payload is mined, and must pay the quote to the unit. Nothing but amounts and hashes is committed:
`router_choice.json.xz`, which `test_router_choice_executions.py` replays.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import FIBROUS, SETTLER, UNIVERSAL_ROUTER, Deployment, DialectRouter, Kind, Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.core.routing.replay import replay
from swapcli.payload.dialects import execution_of
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.markets.pools_field import pool_to_json
from swapcli.testing.evm import DEPLOYER, Contract, ContractArtifact
from tests.chain import anvil
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import DECIMALS, PROTOCOLS, WETH, Place
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.trader import USER, Trade, Trader
from tests.chain.universal_fixture import CHAIN_ID, UniversalFixture
from tests.chain.universal_fixture import PROTOCOLS as GENERATIONS
from tests.contracts.evm import compile_solidity, load_artifact
from tests.payload.evm.settler_recorder import ALLOWANCE_HOLDER, load_contracts
from tests.support.chain import connected
from tests.support.outside_ids import keccak256

RECORD: Final = Path(__file__).with_name("router_choice.json.xz")
DEADLINE_S: Final = 1_900_000_000
GAS_PRICE_WEI: Final = 5_000_000
ACTIONS: Final = {"uniswapV2": "UNISWAPV2", "uniswapV3": "UNISWAPV3 0", "uniswapV4": "UNISWAPV4"}
POOL_MANAGER: Final = "0x498581ff718922c3f8e6a244956af099b2652b2b"
V3_FACTORY: Final = "0x33128a8fc17869897dce68ed026d694621f6fdfd"
"""Of Base, as in `src/core` of Settler's source."""
_OWNER_SLOT: Final = 3
"""Of `UniswapV3Factory`: after the three of its deployer's parameters."""
_FEE_TIERS: Final = {500: 10, 3000: 60, 10_000: 200}
"""That its constructor enables."""


class BaseAddresses(AnvilChain):
    """A chain on which Uniswap's contracts that others are derived from get the addresses of Base."""

    def deploy(self, artifact: ContractArtifact, *arguments: object, sender: str = DEPLOYER) -> Contract:
        """Like `BaseChain.deploy`."""
        created = super().deploy(artifact, *arguments, sender=sender)
        if artifact.bytecode == _manager().bytecode:
            return self._move(created, artifact, POOL_MANAGER, 0)
        if artifact.bytecode == _v3_factory().bytecode:
            moved = self._move(created, artifact, V3_FACTORY, _OWNER_SLOT)
            for fee_ppm, spacing in _FEE_TIERS.items():
                moved.send("enableFeeAmount", fee_ppm, spacing)
            return moved
        return created

    def _move(self, created: Contract, artifact: ContractArtifact, address: str, owner_slot: int) -> Contract:
        """Place the code at another address, which it has as an immutable, with its owner."""
        code = self.node.ask("eth_getCode", created.address, "latest")
        self.node.ask("anvil_setCode", address, code.replace(created.address[2:], address[2:]))
        self.node.ask("anvil_setStorageAt", address, hex(owner_slot), "0x" + DEPLOYER[2:].lower().rjust(64, "0"))
        return self.at(address, artifact)


def _manager() -> ContractArtifact:
    return load_artifact("@uniswap/v4-core/out/PoolManager.sol/PoolManager.json")


def _v3_factory() -> ContractArtifact:
    return load_artifact("@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json")


class RealRoutersFixture(UniversalFixture):
    """The pools of `UniversalFixture` in contracts at Base's addresses, with 0x Settler's own bytecode."""

    def __init__(self, chain: AnvilChain, folder: Path) -> None:
        super().__init__(chain)
        contracts = load_contracts(folder, "settler")
        chain.node.ask("anvil_setChainId", anvil.CHAIN_ID)  # elsewhere, the true registry has to name a new Settler
        self.settler = chain.deploy(contracts["BaseSettler"], bytes(20))
        chain.place(ALLOWANCE_HOLDER, contracts["AllowanceHolder"])
        chain.node.ask("anvil_setChainId", CHAIN_ID)
        self.registry = chain.deploy(compile_solidity("settler.sol")["SettlerRegistry"])
        self.registry.send("set", self.settler.address)
        routers = {
            SETTLER: DialectRouter(registry=self.registry.address, spender=ALLOWANCE_HOLDER, protocols=ACTIONS),
            UNIVERSAL_ROUTER: self.network.routers[UNIVERSAL_ROUTER],
        }
        self.network = self.network._replace(
            multicall=deploy_multicall(chain),
            router=self.deploy_router(self.network).address,
            router_dialect=FIBROUS,
            chooses_router=True,
            routers=routers,
        )

    def open_pancake_v3(self, a: str, b: str, fee_ppm: int, spacing: int) -> Place:
        """No pool: Settler finds them by another deployer, whose code is in no package."""
        del a, b, fee_ppm, spacing
        return self.places[-1]


def recorded_network(document: Mapping[str, Any]) -> Network:
    """Return the network of the record, with the router that the registry named."""
    tokens = {
        each["symbol"]: Token(each["address"], each["symbol"], "", each["decimals"]) for each in document["tokens"]
    }
    universal = DialectRouter(document["universal_router"], version="2.0", protocols=GENERATIONS)
    settler = DialectRouter(registry=document["registry"], spender=ALLOWANCE_HOLDER, protocols=ACTIONS)
    network = Network(
        name="recorded",
        kind=Kind.EVM,
        chain_id=CHAIN_ID,
        native=Token(ZERO_ADDRESS, "ETH", "Ether", 18),
        wrapped_native=tokens[WETH],
        tokens=tuple(tokens.values()),
        protocols=PROTOCOLS,
        deployments=(Deployment(("uniswapV4",), "Uniswap V4", {"pool_manager": POOL_MANAGER}),),
        router=document["public_router"],
        stablecoins=tuple(tokens[symbol].address for symbol in ("USDC", "USDT", "DAI")),
        chooses_router=True,
        routers={SETTLER: settler, UNIVERSAL_ROUTER: universal},
    )
    return network.with_registered_router(document["settler"])


class Recorder:
    """Executes the payloads of random orders, each on the same state."""

    def __init__(self, trader: Trader) -> None:
        self.trader = trader
        assert isinstance(trader.world, RealRoutersFixture)
        self.world = trader.world

    def execute(self, rng: Random, source: LiveSource) -> dict[str, Any] | None:
        """Execute a random order and return its record; None if there is no route."""
        sold, bought = rng.sample([*DECIMALS, "ETH"], 2)
        if {sold, bought} == {"ETH", WETH}:
            return None
        asked = {"sold": sold, "bought": bought, "amount": str(self._amount(rng, sold))}
        order = order_of(asked, self.world.network)
        try:
            answer, payload = quote_and_build(source, request_of(order), SwapTerms(0, USER, deadline_s=DEADLINE_S))
        except NoRoute:
            return None
        choice = answer.router_choice
        assert choice is not None
        done = replay(answer.pools, answer.quote.route, answer.quote.amount_in, execution_of(answer.network))
        with self.trader.chain.revert_after():
            nonce = self.trader.nonce
            outcome = self.trader.execute(Trade(answer.result, payload, done, "chosen"))
            self.trader.nonce = nonce
        assert outcome.receipt.succeeded, asked
        assert outcome.received == answer.result.output_amount, (asked, outcome, choice)
        return {
            **asked,
            "dialect": choice.dialect,
            "gain_bps": choice.gain_bps,
            "received": str(outcome.received),
            "calldata_hash": keccak256(bytes.fromhex(payload.calldata[2:])).hex(),
        }

    @staticmethod
    def _amount(rng: Random, sold: str) -> int:
        dollars = 10 ** rng.uniform(1, 5)
        each = {WETH: 2_500, "ETH": 2_500, "WBTC": 60_000, "TKN": 0.25}.get(sold, 1)
        return max(1, int(dollars / each * 10 ** DECIMALS.get(sold, 18)))


def order_of(asked: Mapping[str, str], network: Network) -> Order:
    """Return the order of a record."""
    tokens = {token.symbol: token for token in network.tokens} | {"ETH": network.native}
    return Order(tokens[asked["sold"]], tokens[asked["bought"]], int(asked["amount"]))


def request_of(order: Order) -> QuoteRequest:
    """Return the request for an order, at the usual gas price of Base."""
    return QuoteRequest(order, ApiVersion.V2, gas_price_wei=GAS_PRICE_WEI)


def record(folder: Path, orders: int) -> dict[str, Any]:
    """Return the record of random orders."""
    rng = Random("choice of routers")
    with running_anvil(CHAIN_ID, hardfork="osaka") as node_chain:
        chain = BaseAddresses(node_chain.node)
        world = RealRoutersFixture(chain, folder)
        market = read_market(world)
        market = market._replace(network=world.network, transfers=dict.fromkeys(market.tokens, ORDINARY))
        trader = Trader(world, chain, market)
        trader.fund_user()
        found: list[dict[str, Any]] = []
        recorder = Recorder(trader)
        with connected(chain, CHAIN_ID) as node:
            source = LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)
            while len(found) < orders:
                source.refresh()
                each = recorder.execute(rng, source)
                if each is not None:
                    found.append(each)
        return {
            "source": "0x Settler (github 0xProject/0x-settler @f6b7303), Universal Router 2.0 and Uniswap's V2, V3 and"
            " V4 of npm, on anvil",
            "settler": world.settler.address,
            "registry": world.registry.address,
            "universal_router": world.router.address,
            "public_router": world.network.router,
            "tokens": [
                {"symbol": t.symbol, "address": t.address, "decimals": t.decimals} for t in world.network.tokens
            ],
            "pools": [pool_to_json(pool) for pool in market.pools.values()],
            "orders": found,
        }


def main(folder: str, orders: str = "200") -> None:
    """Record orders and print what was chosen."""
    document = record(Path(folder), int(orders))
    print(Counter(each["dialect"] for each in document["orders"]), "all as quoted")
    RECORD.write_bytes(lzma.compress(json.dumps(document, separators=(",", ":")).encode(), preset=9))
    print(RECORD.stat().st_size, "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
