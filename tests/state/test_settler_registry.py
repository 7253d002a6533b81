"""The address of 0x Settler is read from its registry for every payload, together with the pools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from swapcli.core.errors import ConfigError, InvalidOption, InvalidUpstreamResponse, UpstreamError
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import MarketState, Provenance
from swapcli.core.model.network import SETTLER
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.quoting.followers.market_follower import FollowedMarket, MarketFollower, open_follower
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.quote_source import quote_and_build
from swapcli.state.clock import SYSTEM_CLOCK, Clock
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.contract_fixture import WETH
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import hangs_up
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settler_fixture import SettlerTrader
from tests.chain.trader import USER
from tests.state.store.build import only
from tests.support.chain import connected
from tests.support.service import FakeClock, InProcessService

MAX_ROUND_TRIPS = 3
OTHER_SETTLER = "0x" + "77" * 20


@pytest.fixture
def trader(settler_trader: SettlerTrader) -> SettlerTrader:
    return settler_trader


@pytest.fixture
def market(trader: SettlerTrader) -> MarketState:
    """The market of a network that knows only the registry, with what earlier quotes learned about transfers."""
    network = trader.world.network._replace(router=None, multicall=deploy_multicall(trader.chain))
    return trader.market._replace(network=network, transfers=dict.fromkeys(trader.market.tokens, ORDINARY))


@pytest.fixture
def node(trader: SettlerTrader) -> Iterator[RpcNode]:
    with connected(trader.chain) as node:
        yield node


def live(market: MarketState, node: RpcNode, max_age_s: int | None = None) -> LiveSource:
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK, max_age_s=max_age_s)


def request(market: MarketState, sold: str = WETH) -> QuoteRequest:
    tokens = {token.symbol: token for token in market.tokens.values()}
    return QuoteRequest(Order(tokens[sold], tokens["USDC"], 10 ** tokens[sold].decimals), ApiVersion.V2)


def settler_of(payload: UnsignedTransaction) -> str:
    """Return the operator of a call of AllowanceHolder: its first argument."""
    return "0x" + payload.calldata[2 + 8 + 24 : 2 + 8 + 64]


def test_a_payload_takes_no_more_round_trips_for_the_registry(
    trader: SettlerTrader, market: MarketState, node: RpcNode
) -> None:
    answer, payload = quote_and_build(live(market, node), request(market), SwapTerms(0, USER))
    assert node.round_trips <= MAX_ROUND_TRIPS
    assert settler_of(payload) == trader.world.router.address
    outcome = trader.execute(trader.build_trade(answer.result, payload, answer.pools, "live"))
    assert outcome.received == answer.result.output_amount


def test_a_new_settler_is_used_from_its_block_on(trader: SettlerTrader, market: MarketState, node: RpcNode) -> None:
    trader.world.registry.send("set", OTHER_SETTLER)
    _, payload = quote_and_build(live(market, node), request(market), SwapTerms(0, USER))
    assert settler_of(payload) == OTHER_SETTLER


def test_while_settler_is_paused_quotes_have_no_payload(
    trader: SettlerTrader, market: MarketState, node: RpcNode
) -> None:
    trader.world.registry.send("set", ZERO_ADDRESS)
    source = live(market, node)
    answer = source.quote(request(market))
    assert answer.result.output_amount > 0
    for build in (
        lambda: quote_and_build(source, request(market), SwapTerms(0, USER)),
        lambda: source.build(answer.result, SwapTerms(0, USER)),
    ):
        with pytest.raises(InvalidOption, match="swaps by settler are paused on anvil"):
            build()


def test_an_address_without_a_registry_is_refused(market: MarketState, node: RpcNode) -> None:
    routers = {SETTLER: market.network.routers[SETTLER]._replace(registry="0x" + "12" * 20)}
    source = live(market._replace(network=market.network._replace(routers=routers)), node)
    with pytest.raises(InvalidUpstreamResponse, match="lists no router"):
        quote_and_build(source, request(market), SwapTerms(0, USER))


def test_fresh_stored_state_still_reads_the_registry(trader: SettlerTrader, market: MarketState, node: RpcNode) -> None:
    stored = market._replace(provenance=Provenance.SYNCED, timestamp=int(SYSTEM_CLOCK.now_s()), block=1)
    source = live(stored, node, max_age_s=3600)
    source.quote(request(market))
    assert node.round_trips == 0
    _, payload = quote_and_build(source, request(market), SwapTerms(0, USER))
    assert settler_of(payload) == trader.world.router.address


def test_without_a_node_a_payload_is_refused_with_a_hint(market: MarketState) -> None:
    source = InMemorySource(market, SYSTEM_CLOCK)
    assert source.quote(request(market)).result.output_amount > 0
    with pytest.raises(ConfigError, match="only a node can read from its registry") as caught:
        quote_and_build(source, request(market), SwapTerms(0, USER))
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("set networks.anvil.rpc_url, or networks.anvil.router")


def test_a_router_of_the_settings_is_used_as_it_is(trader: SettlerTrader, market: MarketState, node: RpcNode) -> None:
    verified = market._replace(network=market.network._replace(router=OTHER_SETTLER))
    trader.world.registry.send("set", ZERO_ADDRESS)
    _, payload = quote_and_build(live(verified, node), request(market), SwapTerms(0, USER))
    assert settler_of(payload) == OTHER_SETTLER


@contextmanager
def following(market: MarketState, node: RpcNode, clock: Clock = SYSTEM_CLOCK) -> Iterator[MarketFollower]:
    """Follow the market as `swapcli serve` does."""
    followed = FollowedMarket(market.network, only(market.network), lambda: market, node)
    with open_follower(followed, clock, lambda _: None) as follower:
        yield follower


@contextmanager
def connected_to(proxy: Proxy) -> Iterator[RpcNode]:
    node = RpcNode([RpcEndpoint(proxy.url, "the proxy")], CHAIN_ID, NodePolicy(pause=lambda _: None))
    try:
        yield node
    finally:
        node.close()


def built(source: InMemorySource) -> UnsignedTransaction:
    return quote_and_build(source, request(source.market), SwapTerms(0, USER))[1]


def test_a_service_uses_the_settler_of_each_block(trader: SettlerTrader, market: MarketState, node: RpcNode) -> None:
    with following(market, node) as follower:
        answer, payload = quote_and_build(follower.read(), request(market), SwapTerms(0, USER))
        assert settler_of(payload) == trader.world.router.address
        outcome = trader.execute(trader.build_trade(answer.result, payload, answer.pools, "served"))
        assert outcome.received == answer.result.output_amount
        for settler in (OTHER_SETTLER, trader.world.router.address):
            trader.world.registry.send("set", settler)
            source = follower.advance()
            assert source is not None
            assert settler_of(built(source)) == settler
        assert follower.advance() is None


def test_a_service_says_that_settler_is_paused(trader: SettlerTrader, market: MarketState, node: RpcNode) -> None:
    trader.world.registry.send("set", ZERO_ADDRESS)
    clock = FakeClock(node.read_head().block.timestamp)
    with following(market, node, clock.clock) as follower:
        served = InProcessService({"anvil": lambda: market}, clock=clock)
        served.registry.set_source(follower.read())
        order = request(market).order
        addresses = {"tokenInAddress": order.token_in.address, "tokenOutAddress": order.token_out.address}
        query = {**addresses, "amount": order.amount, "slippage": 1, "destination": USER, "dialect": SETTLER}
        assert served.get_json("/anvil/v2/route", query)["success"]
        paused = served.get("/anvil/v2/routeAndCalldata", query)
        trader.world.registry.send("set", OTHER_SETTLER)
        resumed = follower.advance()
        assert resumed is not None
        served.registry.set_source(resumed)
        calldata = served.get_json("/anvil/v2/routeAndCalldata", query)["calldata"]["calldata"]
        served.close()
    assert paused.status_code == 400
    assert paused.json()["message"] == "swaps by settler are paused on anvil: its registry lists no router"
    assert calldata[2 + 8 + 24 : 2 + 8 + 64] == OTHER_SETTLER[2:]


def test_a_service_starts_without_its_node(trader: SettlerTrader, market: MarketState) -> None:
    """It quotes, and has the router as soon as the node answers, also without a new block."""
    with open_proxy(trader.chain.node.port) as proxy, connected_to(proxy) as node, following(market, node) as first:
        proxy.always = hangs_up
        source = first.read()
        assert source.quote(request(market)).result.output_amount > 0
        with pytest.raises(ConfigError, match="only a node can read from its registry"):
            built(source)
        with pytest.raises(UpstreamError):
            first.advance()
        proxy.always = None
        advanced = first.advance()
        assert advanced is not None
        assert settler_of(built(advanced)) == trader.world.router.address
        assert first.advance() is None
