"""Routers on the tests' network that read rates and extra data in one way each, and routes quoted for them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import NamedTuple

from eth_abi.abi import encode

from swapcli.core.errors import NoRoute, PoolError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import Provenance
from swapcli.core.model.network import Network
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote import Quote, Route
from swapcli.core.model.route_result import build_result
from swapcli.core.model.router_variant import ExtraDataForm, RateVariant, RouterVariant
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import PPM_PER_PERCENT, SwapTerms
from swapcli.core.model.token import Token
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.routing.replay import replay
from swapcli.payload.checks.presign_checks import CheckOptions, PayloadCheck, check_payload
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.payload.evm import build_transactions, router
from swapcli.payload.evm.router import build_deployment, read_artifact
from swapcli.payload.payloads_by_variant import RoutePayloads
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.testing.evm import Contract
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.random_routes import random_route
from tests.chain.trader import Trader, random_amount
from tests.contracts.evm import compile_solidity

BOB = "0x" + "b0" * 20
RATES, FORMS = tuple(RateVariant), tuple(ExtraDataForm)


class QuotedRoute(NamedTuple):
    """A route on the state of the chain, its payload for one reading, and those for the others."""

    payload: UnsignedTransaction
    payloads: RoutePayloads
    ends: TradedTokens
    state: StateSource

    def check(self, node: RpcNode) -> PayloadCheck:
        """Simulate the payload, and those for other readings if it does not pay."""
        options = CheckOptions(simulate=True)
        return check_payload(node, options, self.payload, self.state, self.ends, variants=self.payloads)


def deploy_reading_router(trader: Trader, reading: RouterVariant, *, skimmed: int = 0, claimed: int = 0) -> Contract:
    """Deploy a router of one reading that pays `skimmed` units too little, and returns `claimed` more than it pays."""
    artifact = compile_solidity("variants.sol", root=Path(router.__file__).parent / "contracts")["VariantRouter"]
    network = trader.world.network
    arguments = bytes.fromhex(build_deployment(network).calldata[len(read_artifact().bytecode) :])
    numbers = (RATES.index(reading.rate), FORMS.index(reading.extra_data), skimmed, claimed)
    code = artifact.bytecode + arguments + encode(["uint256"] * 4, numbers)
    return trader.chain.at(trader.chain.create(code), artifact)


def network_with(trader: Trader, router_address: str) -> Network:
    """Return the tests' network with the router at an address."""
    return trader.world.network._replace(router=router_address)


def random_quoted_route(trader: Trader, rng: Random, network: Network) -> QuotedRoute:
    """Return a random route with splits of every kind. The pools can execute it under every reading."""
    while True:
        symbols = rng.sample(sorted(DECIMALS), 2)
        token_in, token_out = (_token(trader, rng, symbol) for symbol in symbols)
        ends = [trader.world.address(symbol) for symbol in symbols]
        route = random_route(rng, trader.market.pools, ends[0], ends[1], max_segments=rng.choice((1, 3, 8)))
        try:
            order = Order(token_in, token_out, random_amount(rng, token_in))
            return quote_route(trader, route, order, network, slippage_percent=rng.choice((0, 1, 50)))
        except (NoRoute, PoolError):
            continue


def quote_route(
    trader: Trader, route: Route, order: Order, network: Network, *, slippage_percent: int = 1
) -> QuotedRoute:
    """Return a route on the state of the chain. Raises `PoolError` if the pools cannot execute a reading of it."""
    pools = trader.market.pools
    done = replay(pools, route, order.amount)
    quote = Quote(order, route, done.steps, order.amount, done.amount_out, 0, 0, None, None, None, None, None, 0.0)
    timestamp_ms = int(SYSTEM_CLOCK.now_s() * 1000)
    result = build_result(quote, order, network, pools, ApiVersion.V2, timestamp_ms=timestamp_ms)
    payloads = RoutePayloads(result, pools, network, SwapTerms(slippage_percent * PPM_PER_PERCENT, BOB))
    for rate in RATES:
        payloads.replay(RouterVariant(rate))
    block = int(trader.chain.node.ask("eth_blockNumber"), 16)
    ends = TradedTokens(order.token_in, order.token_out, network.native)
    return QuotedRoute(
        payloads.build(network.router_variant), payloads, ends, StateSource(Provenance.LIVE, "the node", block)
    )


def mined_amount(trader: Trader, payload: UnsignedTransaction) -> int:
    """Return what the recipient receives when the user signs the payload, and revert the chain."""
    route = payload.router_call.route
    token_out = ZERO_ADDRESS if route.swap_type == 1 else route.token_out
    with trader.chain.revert_after():
        user, before = trader.copy(), trader.world.balance(token_out, BOB)
        for each in build_transactions(payload):
            assert user.send(each).succeeded
        return trader.world.balance(token_out, BOB) - before


def _token(trader: Trader, rng: Random, symbol: str) -> Token:
    return trader.world.network.native if symbol == WETH and rng.random() < 0.5 else trader.world.tokens[symbol]
