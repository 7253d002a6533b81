"""A chain with pools of every family that can be deployed, with mined swaps in all of them, and faults to inject.

A run of `swapcli verify --recent` or `swapcli prove` on the world without a fault must find nothing, and every fault
that is injected. All contracts are real bytecode, or models of published code where no package has any.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

from swapcli.core.model.network import Deployment, Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.router_variant import DEFAULT_VARIANT
from swapcli.core.model.token import Token
from swapcli.quoting.openers.choose_aggregators import packaged_names
from swapcli.state.store import create_store
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import Place
from tests.chain.families_fixture import SHARE, FamiliesFixture
from tests.chain.market_reader import read_market, read_pools
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.proxy import open_proxy, stale
from tests.chain.settings import url_of, write_settings
from tests.chain.trader import USER, Trader
from tests.chain.variant_routers import deploy_reading_router
from tests.contracts.evm import compile_solidity
from tests.quoting.proving.proof_run import renew_blocks
from tests.state.store.build import only
from tests.support.fake_aggregators import DEAD_URL, adapter
from tests.support.loopback_server import FakeExchange, http_response, loopback_server

_TRADE_CENTS = (1_000, 10_000_000)
"""The least and the largest trade: ten dollars, which stay within a tick, and a hundred thousand, which cross some."""
_SHARES = 10**7 * 10**18
"""Of the vault, which the user begins with."""
_SKIMMED = 1
"""Units that the lying router keeps: one is enough to be a difference."""
_TAX_PPM = 10_000
_SHOWN_FEE_PPM, _TAKEN_FEE_PPM = 500, 3_000
_BLOCKS_BEHIND, _BEHIND_S = 40, 600
_LIE_PERCENT = 110


class Fault(StrEnum):
    """The ways in which a world lies."""

    WRONG_FEE = "wrong fee"
    """The contract of a pool takes another fee than it says."""
    STALE_NODE = "stale node"
    """The latest block of the node is old, and stays so."""
    LYING_ROUTER = "lying router"
    """The router pays less than the pools pay it."""
    TAXED_TOKEN = "taxed token"
    """A token takes a part of each transfer, and trades in a pool."""
    LYING_AGGREGATOR = "lying aggregator"
    """The offer of an aggregator promises more than its payload pays."""


class ProofFixture(FamiliesFixture):
    """Pools of all families, whose contracts the network's definition names, so that a node can verify their swaps."""

    def __init__(self, chain: AnvilChain) -> None:
        multicall = deploy_multicall(chain)  # before all others, as on real networks
        super().__init__(chain)
        deployments = [
            Deployment(("uniswapV2",), "Uniswap V2", {"factory": self.factory.address}, fee_tiers={3000: 0}),
            Deployment(("erc4626",), "ERC-4626", {"share_vault": self._place("erc4626").contract.address}),
            *(
                Deployment((protocol,), protocol, {"vault": self._place(protocol).contract.call("getVault")[0]})
                for protocol in ("balancerV2Weighted", "balancerV2Stable", "balancerV2Composable")
            ),
        ]
        self.network = self.network._replace(
            deployments=(*self.network.deployments, *deployments), multicall=multicall, block_time_s=12.0
        )

    def _place(self, protocol: str) -> Place:
        return next(place for place in self.places if place.protocol == protocol)

    def open_stableswap(self, *symbols: str) -> Place:
        """As in the fixture, of a pool that announces its swaps."""
        self.sources = {**self.sources, "StableSwap": compile_solidity("faults.sol")["AnnouncedStableSwap"]}
        return super().open_stableswap(*symbols)


class MinedSwap(NamedTuple):
    """A swap that was mined in a pool, with what the contract paid to its user."""

    protocol: str
    key: str
    paid: int


@dataclass
class ProofWorld:
    """The world of one test; `swaps` were mined in it, and `faults` injected."""

    trader: Trader
    chain: AnvilChain
    swaps: list[MinedSwap] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    network_changes: dict[str, Any] = field(default_factory=dict)
    rpc_url: str = ""
    aggregators: dict[str, Any] = field(default_factory=dict)

    def copy(self) -> Self:
        """Return the same world, whose record can be changed."""
        return type(self)(
            self.trader.copy(),
            self.chain,
            [*self.swaps],
            [*self.faults],
            dict(self.network_changes),
            self.rpc_url,
            dict(self.aggregators),
        )

    @property
    def network(self) -> Network:
        """The network as the user's settings describe it."""
        return self.trader.world.network._replace(**self.network_changes)

    @property
    def protocols(self) -> set[str]:
        """The protocols of the pools."""
        return {pool.protocol for pool in self.trader.market.pools.values()}

    def mine_swaps(self, rng: Random, count: int) -> None:
        """Have `count` swaps mined in every pool, each in a block of its own, between random tokens of the pool."""
        for _ in range(count):
            for key in rng.sample(sorted(self.trader.market.pools), len(self.trader.market.pools)):
                pool = self.trader.market.pools[key]
                sold = rng.choice([token for token in pool.tokens if self._has_plenty(token)])
                bought = rng.choice([token for token in pool.tokens if token != sold])
                trade = self.trader.trade_in_pool(pool, sold, bought, rng.uniform(*_TRADE_CENTS))
                outcome = self.trader.execute(trade)
                assert outcome.receipt.succeeded, pool.protocol
                self.swaps.append(MinedSwap(pool.protocol, key, outcome.received))

    def _has_plenty(self, token: str) -> bool:
        """Return whether the user has a million of a token; liquidity tokens would have to be bought first."""
        world = self.trader.world
        million: int = 10 ** (world.tokens[world.symbol(token)].decimals + 6)
        return world.balance(token, USER) > million

    def advance_to_now(self) -> None:
        """Mine a block with the time of this machine, as nodes have it that follow their network."""
        renew_blocks(self.trader)

    def write_settings(self, folder: Path, **more: object) -> Path:
        """Write the settings and the store of a user whose pools were synced before; return the settings file."""
        network = self.network
        store = folder / "stores" / f"{network.name}.sqlite"
        store.parent.mkdir(parents=True, exist_ok=True)
        store.unlink(missing_ok=True)
        block = self.chain.node.ask("eth_getBlockByNumber", "latest", False)
        market = self.trader.market._replace(
            network=network,
            tokens={token.address: token for token in self.trader.world.tokens.values()},
            block=int(block["number"], 16),
            timestamp=int(block["timestamp"], 16),
        )
        with create_store(str(store), network, only(network)) as opened:
            opened.write_market(market)
        dead = {name: {"address": DEAD_URL} for name in packaged_names()}
        url = self.rpc_url or url_of(self.chain)
        return write_settings(folder, network, url, aggregators=dead | self.aggregators, **more)

    # Faults.

    def inject(self, fault: Fault, stack: ExitStack) -> str:
        """Inject a fault, which lasts as long as `stack`; return what it is about: a protocol, an address or a name."""
        self.faults.append(fault)
        return _INJECTORS[fault](self, stack)

    def _inject_wrong_fee(self, _: ExitStack) -> str:
        """Open a pair whose factory shows another fee than the pair takes, and have some swaps mined."""
        world = self.trader.world
        fees = (fee_ppm // 100 for fee_ppm in (_SHOWN_FEE_PPM, _TAKEN_FEE_PPM))
        host = self.chain.deploy(compile_solidity("faults.sol")["TwoFacedHost"], *fees)
        place = world.open_solidly("USDC", "TKN", False, _SHOWN_FEE_PPM, host)
        payer = self.chain.deploy(world.kit["Trader"])
        usdc = world.address("USDC")
        for amount in (10**9, 10**10, 10**11):
            (out,) = place.contract.call("getAmountOut", amount, usdc)
            outs = (0, out) if place.tokens[0] == usdc else (out, 0)
            payer.send("swapPair", place.contract.address, usdc, amount, *outs)
        self._add_pool(place)
        return place.key

    def _inject_taxed_token(self, _: ExitStack) -> str:
        """Open a pool of a token that takes a part of each transfer, the first of the network's list.

        Only one stablecoin comes before it in sample orders.
        """
        world = self.trader.world
        coin = self.chain.deploy(compile_solidity("tokens.sol")["FeeCoin"], "TAX", 0, 0, _TAX_PPM)
        token = Token(coin.address, "TAX", "TAX", 18)
        world.contracts["TAX"], world.tokens["TAX"] = coin, token
        place = _open_pair(world, coin)
        self.network_changes |= {
            "tokens": (token, *self.network.tokens),
            "stablecoins": self.network.stablecoins[:1],
        }
        self.trader.market = self.trader.market._replace(tokens={**self.trader.market.tokens, coin.address: token})
        self._add_pool(place)
        return coin.address

    def _inject_lying_router(self, _: ExitStack) -> str:
        """Name a router that keeps a unit of what it owes."""
        router = deploy_reading_router(self.trader, DEFAULT_VARIANT, skimmed=_SKIMMED)
        self.network_changes["router"] = router.address
        return router.address

    def _inject_stale_node(self, stack: ExitStack) -> str:
        """Put a proxy before the node that shows an old block as the newest."""
        proxy = stack.enter_context(open_proxy(self.chain.node.port))
        self.chain.node.ask("evm_setNextBlockTimestamp", int(time.time()) - _BEHIND_S)
        self.chain.node.ask("anvil_mine", hex(_BLOCKS_BEHIND))
        self.advance_to_now()
        proxy.always = stale(_BLOCKS_BEHIND)
        self.rpc_url = f"http://127.0.0.1:{proxy.server_port}"
        return self.rpc_url

    def _inject_lying_aggregator(self, stack: ExitStack) -> str:
        """Name an aggregator that says more than its payload pays."""
        return self.name_aggregator("liar", stack, percent=_LIE_PERCENT)

    def name_aggregator(self, name: str, stack: ExitStack, *, percent: int = 100) -> str:
        """Name an aggregator that trades on the pools of the world, and says so many percent of what it pays."""
        tokens = {token.address: token for token in (*self.trader.world.tokens.values(), self.network.native)}
        native = "0x" + "ee" * 20

        def respond(exchange: FakeExchange) -> None:
            query = {key: values[0] for key, values in parse_qs(urlsplit(exchange.target).query).items()}
            ends = [query[side].lower().replace(native, ZERO_ADDRESS) for side in ("sell", "buy")]
            order = Order(tokens[ends[0]], tokens[ends[1]], int(query["amount"]))
            trade = self.trader.quote_trade(order, recipient=query["from"].lower())
            payload = trade.payload
            document = {
                "quote": {"amountOut": str(trade.amount_due * percent // 100), "gas": 400_000},
                "tx": {"to": payload.to, "data": payload.calldata, "value": str(payload.value)},
            }
            exchange.send(http_response(200, json.dumps(document)))

        server = stack.enter_context(loopback_server(respond))
        self.aggregators[name] = adapter(server.url, name)
        return name

    def _add_pool(self, place: Place) -> None:
        (pool,) = read_pools(self.trader.world, [place])
        self.trader.market = self.trader.market._replace(pools={**self.trader.market.pools, pool.key: pool})


def _open_pair(world: Any, coin: Contract) -> Place:
    """Open a pair of Uniswap V2 between a token and USDC."""
    tokens = sorted((coin.address, world.address("USDC")), key=lambda each: int(each, 16))
    coin.send("mint", world.provider.address, 10**25)
    (address,) = world.factory.send("createPair", *tokens)
    pair = world.chain.at(address, world.places[0].contract._artifact)
    amounts = [10**24 if token == coin.address else 10**12 for token in tokens]
    world.provider.send("fillPair", pair.address, *amounts)
    place = Place("uniswapV2", pair, tuple(tokens), 3000)
    world.places.append(place)
    return place


_INJECTORS: Mapping[Fault, Callable[[ProofWorld, ExitStack], str]] = {
    Fault.WRONG_FEE: ProofWorld._inject_wrong_fee,
    Fault.STALE_NODE: ProofWorld._inject_stale_node,
    Fault.LYING_ROUTER: ProofWorld._inject_lying_router,
    Fault.TAXED_TOKEN: ProofWorld._inject_taxed_token,
    Fault.LYING_AGGREGATOR: ProofWorld._inject_lying_aggregator,
}


@contextmanager
def open_proof_world() -> Iterator[ProofWorld]:
    """On a fresh node, which ends with the block."""
    with running_anvil() as chain:
        fixture = ProofFixture(chain)
        fixture.give(SHARE, USER, _SHARES)
        trader = Trader(fixture, chain, read_market(fixture))
        trader.fund_user()
        yield ProofWorld(trader, chain)
