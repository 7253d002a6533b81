"""Pools that their protocol quotes: a market maker on a chain is sampled, and pays what it quoted for the very amount.

It also looks at its sender and the gas price, refuses, lies, and answers nonsense.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode

from swapcli.core.errors import InvalidRoute, NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.contract_kind import ContractKind
from swapcli.core.model.finding import FindingCode
from swapcli.core.model.market import MarketState
from swapcli.core.model.network import Network, ProtocolInfo
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.core.model.quoter import Sale
from swapcli.core.model.swap_terms import SwapTerms
from swapcli.core.model.transaction import RouterCall
from swapcli.core.model.transfer_behaviour import ORDINARY
from swapcli.core.networks.catalogue import find_network
from swapcli.core.networks.quoter_definitions import parse_quoters
from swapcli.faces.cli.render.quote_facts import Fact, build_facts
from swapcli.families.reading.call_encoding import encode_call
from swapcli.families.reading.calls import CallContext, ContractCall, ReturnData
from swapcli.families.reading.lockstep_reads import run_batched
from swapcli.families.reading.pool_readers import load_pools
from swapcli.families.reading.pool_ref import PoolRef, with_decimals
from swapcli.families.sampled.rows import SampledConstants
from swapcli.families.sampled.sampled import Sampled
from swapcli.families.sampled.sampled_discovery import find_sampled_pools
from swapcli.families.sampled.sampled_pools_reader import read_samples
from swapcli.interface.quote_fields import render_quote_fields
from swapcli.quoting.followers.market_follower import FollowedStore, open_follower
from swapcli.quoting.quote_figures import compute_figures
from swapcli.quoting.quote_results import LocalQuote
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.sources.live import LiveSource
from swapcli.quoting.sources.stored import StoreSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.discovery.pool_discovery import creation_filter, find_factories, read_created_pools
from swapcli.state.rpc.multicall import MulticallReader
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.snapshot_reader import BlockSnapshot
from swapcli.state.sync import SyncFilter, import_pools, sync
from swapcli.testing.evm import DEPLOYER, Contract
from tests.chain.contract_fixture import DECIMALS, WETH
from tests.chain.market_reader import read_pools
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.sync.expected_state import store_at
from tests.chain.trader import Trader
from tests.contracts.evm import compile_solidity, load_artifact
from tests.state.store.build import only
from tests.support.chain import connected

PROTOCOL = "maker"
V4_QUOTER = "@uniswap/v4-periphery/foundry-out/V4Quoter.sol/V4Quoter.json"
V4_DEFINITION: Any = next(each for each in find_network("base").quoters if "uniswapV4" in each["protocols"])  # type: ignore[index]
DEPTH = 1_000


SOME_ADDRESS = "0x" + "ab" * 20


class Behaviour(IntEnum):
    """As in `makers.sol`."""

    HONEST = 0
    REVERTS = 1
    LIES = 2
    ANSWERS_SHORTLY = 3
    FALLS = 4
    BURNS_GAS = 5


@dataclass
class MakerMarket:
    """A maker with WETH/USDC and WETH/DAI at better prices than all other pools, and the market that knows of it."""

    trader: Trader
    maker: Contract
    market: MarketState

    def token(self, symbol: str) -> str:
        return self.trader.world.tokens[symbol].address

    def list(self, sold: str, bought: str, price: float, depth: int = DEPTH) -> None:
        """Offer a pair at a price of whole tokens, `depth` whole tokens deep, with plenty of both."""
        price_wad = int(price * 10 ** (18 + DECIMALS[bought])) // 10 ** DECIMALS[sold]
        self.maker.send("list", self.token(sold), self.token(bought), depth * 10 ** DECIMALS[sold], price_wad)
        for symbol in (sold, bought):
            self.trader.world.give(symbol, self.maker.address, 10**5 * 10 ** DECIMALS[symbol])


def definition(maker: str, **changes: object) -> dict[str, object]:
    """The maker's quote function, as in a network's definition."""
    quote = {
        "contract": maker,
        "call": "quote(address,address,uint256)",
        "arguments": ["$token_in", "$token_out", "$amount"],
        "output": 1,
    }
    listing = {"contract": maker, "call": "getPairs()", "entry": ["token0", "token1"]}
    return {"protocols": [PROTOCOL], "quote": quote, "holder": maker, "pool_ids": True, "list": listing, **changes}


def with_maker(network: Network, maker: str, **changes: object) -> Network:
    protocol = ProtocolInfo(77, PROTOCOL, "Maker", "sampled", ("poolId",))
    return network._replace(protocols=(*network.protocols, protocol), quoters=(definition(maker, **changes),))


@pytest.fixture
def made(trader: Trader) -> MakerMarket:
    maker = trader.chain.deploy(compile_solidity("makers.sol")["Maker"])
    network = with_maker(trader.world.network._replace(multicall=deploy_multicall(trader.chain)), maker.address)
    transfers = dict.fromkeys(trader.market.tokens, ORDINARY)
    made = MakerMarket(trader, maker, trader.market._replace(network=network, transfers=transfers))
    made.list(WETH, "USDC", 2_600)
    made.list(WETH, "DAI", 2_600)
    return made


@pytest.fixture
def node(made: MakerMarket) -> Iterator[RpcNode]:
    with connected(made.trader.chain) as node:
        yield node


def discovered(made: MakerMarket, node: RpcNode) -> MarketState:
    """Return the market with the pools that the maker lists, as a store knows them."""
    network = made.market.network
    reader = MulticallReader(node, node.read_head().block, network.multicall)
    refs: list[PoolRef] = []
    for found in find_sampled_pools(reader, network):
        assert isinstance(found, PoolRef)
        refs.append(with_known_decimals(found, made.market))
    pools = [pool for pool in load_pools(reader, refs) if isinstance(pool, Sampled)]
    assert len(pools) == len(refs)
    return made.market._replace(pools={**made.market.pools, **{pool.key: pool for pool in pools}})


def with_known_decimals(ref: PoolRef, market: MarketState) -> PoolRef:
    completed = with_decimals(ref, market.tokens)
    assert isinstance(completed, PoolRef)
    return completed


def live(market: MarketState, node: RpcNode) -> LiveSource:
    return LiveSource(InMemorySource(market, SYSTEM_CLOCK), node, SYSTEM_CLOCK)


def request(
    made: MakerMarket, whole: float = 1.0, sold: str = WETH, bought: str = "USDC", reverse: bool = False
) -> QuoteRequest:
    tokens = made.trader.world.tokens
    amount = int(whole * 10 ** DECIMALS[bought if reverse else sold])
    return QuoteRequest(Order(tokens[sold], tokens[bought], amount, reverse=reverse), ApiVersion.V2)


def paid(made: MakerMarket, answer: LocalQuote) -> dict[str, int]:
    """Return what the maker pays now, in one transaction each, for what the route sells to it, by bought token."""
    amounts = {}
    for step in answer.quote.steps:
        if answer.pools[step.pool].is_sampled:
            (amounts[step.token_out],) = made.maker.call(
                "swap", step.token_in, step.token_out, step.amount_in, DEPLOYER
            )
    return amounts


def approve(made: MakerMarket) -> None:
    for symbol in DECIMALS:
        made.trader.world.contracts[symbol].send("approve", made.maker.address, 2**255)
        made.trader.world.give(symbol, DEPLOYER, 10**6 * 10 ** DECIMALS[symbol])


@pytest.mark.parametrize("whole", [0.17, 1.0, 377.7])
def test_a_route_over_a_maker_pays_what_it_quotes(made: MakerMarket, node: RpcNode, whole: float) -> None:
    approve(made)
    market = discovered(made, node)
    trips = [node.round_trips]
    without = live(made.market, node).quote(request(made, whole))
    trips.append(node.round_trips)
    answer = live(market, node).quote(request(made, whole))
    # The maker quotes the amounts of a found route, and once more if its quote changes the shares.
    assert node.round_trips - trips[1] <= trips[1] - trips[0] + 2
    assert answer.quote.sampled_pools
    figures = compute_figures(answer, SwapTerms(0, DEPLOYER))
    assert figures.is_exact
    assert figures.sampled_pools == (made.maker.address,)
    assert FindingCode.AMOUNT_SAMPLED not in {warning.code for warning in figures.warnings}
    quoted = {s.token_out: s.amount_out for s in answer.quote.steps if answer.pools[s.pool].is_sampled}
    assert paid(made, answer) == quoted
    assert answer.result.output_amount > without.result.output_amount


def test_an_order_of_an_output_is_filled(made: MakerMarket, node: RpcNode) -> None:
    answer = live(discovered(made, node), node).quote(request(made, 10_000, reverse=True))
    assert answer.quote.sampled_pools
    assert not answer.quote.estimated_pools
    assert answer.quote.amount_out >= 10_000 * 10**6


def test_a_path_has_one_sampled_pool_only(made: MakerMarket, node: RpcNode) -> None:
    answer = live(discovered(made, node), node).quote(request(made, 5_000, sold="USDC", bought="DAI"))
    sampled = [step for step in answer.quote.steps if answer.pools[step.pool].is_sampled]
    bought = {step.token_out for step in sampled}
    assert not bought & {step.token_in for step in sampled}
    assert not answer.quote.estimated_pools


def test_a_maker_that_pays_less_is_replaced(made: MakerMarket, node: RpcNode) -> None:
    amount = 10**18 + 12_345
    order = request(made)._replace(order=request(made).order._replace(amount=amount))
    made.maker.send("thin", amount // 2)
    market = discovered(made, node)
    answer = live(market, node).quote(order)
    without = live(made.market, node).quote(order)
    assert answer.result.output_amount >= without.result.output_amount
    assert not answer.quote.estimated_pools


@pytest.mark.parametrize("behaviour", [each for each in Behaviour if each])
def test_a_maker_that_misbehaves_is_left_out_with_reason(
    made: MakerMarket, node: RpcNode, behaviour: Behaviour
) -> None:
    market = discovered(made, node)
    expected = live(made.market, node).quote(request(made)).result.output_amount
    made.maker.send("behave", behaviour)
    source = live(market, node)
    answer = source.quote(request(made))
    assert not answer.quote.sampled_pools
    assert answer.result.output_amount == expected
    assert "2 could not be read" in answer.state_source.description
    reasons = list(source._block.newest_snapshot().reasons.values())
    assert len(reasons) == 2
    assert all(reasons)


def test_a_price_far_from_all_others_is_not_believed(made: MakerMarket, node: RpcNode) -> None:
    made.list(WETH, "USDC", 9_000)
    answer = live(discovered(made, node), node).quote(request(made))
    assert not {step.token_out for step in answer.quote.steps if answer.pools[step.pool].is_sampled} & {
        made.token("USDC")
    }


def test_sender_and_gas_price_are_those_of_the_transaction(made: MakerMarket, node: RpcNode) -> None:
    head = node.read_head()
    router = made.market.network.router
    assert router is not None
    made.maker.send("prefer", router, head.gas_price_wei * 2)
    plain = discovered(made, node)
    network = with_maker(
        made.trader.world.network._replace(multicall=plain.network.multicall), made.maker.address, as_transaction=True
    )
    market = plain._replace(network=network)
    sampled = [pool for pool in market.pools.values() if isinstance(pool, Sampled)]
    snapshot = BlockSnapshot(node, network, node.read_head(), 0.0)
    snapshot.read(sampled)
    as_anyone = BlockSnapshot(node, plain.network, node.read_head(), 0.0)
    as_anyone.read(sampled)
    for pool in sampled:
        as_router, others = snapshot.pools[pool.key], as_anyone.pools[pool.key]
        assert isinstance(as_router, Sampled)
        assert isinstance(others, Sampled)
        for mine, other in zip(as_router.forward_samples, others.forward_samples, strict=False):
            assert mine.amount_out == pytest.approx(2 * other.amount_out, abs=1)
    answer = live(market, node).quote(request(made))
    assert answer.quote.sampled_pools
    assert not answer.quote.estimated_pools


def test_without_a_node_sampled_pools_are_not_used(made: MakerMarket, node: RpcNode) -> None:
    market = discovered(made, node)
    answer = InMemorySource(market, SYSTEM_CLOCK).quote(request(made))
    assert not answer.quote.sampled_pools
    figures = compute_figures(answer, SwapTerms(0, DEPLOYER))
    assert figures.is_exact
    assert render_quote_fields(figures, market.network)["state"]["skippedSampledPools"] == 2
    facts = build_facts(answer, SwapTerms(0, DEPLOYER), figures, verbose=False)
    assert ("Skipped", "2 pools") in [(fact.name, fact.value) for fact in facts]
    only = market._replace(pools={key: pool for key, pool in market.pools.items() if pool.is_sampled})
    with pytest.raises(NoRoute):
        InMemorySource(only, SYSTEM_CLOCK).quote(request(made))
    assert live(only, node).quote(request(made)).quote.sampled_pools


def test_a_route_says_that_its_amounts_are_sampled(made: MakerMarket, node: RpcNode) -> None:
    """A follower quotes on samples without asking again, and some nodes do not show their block."""
    market = discovered(made, node)
    snapshot = BlockSnapshot(node, market.network, node.read_head(), 0.0)
    snapshot.read(market.pools.values())
    sampled = snapshot.market(market, list(market.pools))
    order = request(made, 1.7)
    estimated = InMemorySource(sampled, SYSTEM_CLOCK).quote(order)
    unproven = live(market, node).quote(order)
    unproven = unproven._replace(state_source=unproven.state_source._replace(pinned=False))
    for answer, reason in (
        (estimated, "quoted only other amounts"),
        (unproven, "nothing proves the block of that quote"),
    ):
        figures = compute_figures(answer, SwapTerms(0, DEPLOYER))
        assert figures.is_exact is False
        (message,) = [each.message for each in figures.warnings if each.code == FindingCode.AMOUNT_SAMPLED]
        assert reason in message
        assert Fact("Amounts", "sampled") in [
            replace(fact, note="") for fact in build_facts(answer, SwapTerms(0, DEPLOYER), figures, verbose=True)
        ]
        fields = render_quote_fields(figures, market.network)
        assert fields["exact"] is False
        assert len(fields["sampledPools"]) == 1


def test_pools_of_a_definition_need_no_store(made: MakerMarket, node: RpcNode) -> None:
    tokens = {"token0": made.token(WETH), "token1": made.token("USDC")}
    unknown = {"token0": made.token(WETH), "token1": "0x" + "77" * 20}
    network = with_maker(made.trader.world.network, made.maker.address, pools=[tokens, unknown])
    market = made.market._replace(network=network._replace(multicall=made.market.network.multicall))
    source = live(market, node)
    answer = source.quote(request(made))
    assert len(answer.quote.sampled_pools) == 1
    assert not answer.quote.estimated_pools
    built = source.build(answer.result, SwapTerms(0, DEPLOYER))
    assert built.call.route.amount_out == answer.quote.amount_out
    assert isinstance(built.call, RouterCall)
    assert made.maker.address in [swap.pool_address for swap in built.call.swaps]


def test_our_own_router_is_quoted_without_makers(made: MakerMarket, node: RpcNode) -> None:
    market = discovered(made, node)
    own = market._replace(network=market.network.for_dialect("own")._replace(router=market.network.router))
    answer = live(own, node).quote(request(made))
    assert not answer.quote.sampled_pools
    public = live(market, node).quote(request(made))
    with pytest.raises(InvalidRoute, match="no step for sampled pools"):
        live(own, node).build(public.result, SwapTerms(0, DEPLOYER))


def test_a_store_has_the_pools_and_a_follower_samples_them(made: MakerMarket, node: RpcNode, tmp_path: Path) -> None:
    network = made.market.network
    path = tmp_path / "store"
    with store_at(path, network) as store:
        for _ in import_pools(store, node, made.market):
            pass
        assert not [pool for pool in store.read_market().pools.values() if pool.is_sampled]
    with store_at(tmp_path / "synced", network) as store:
        for _ in sync(store, node, SyncFilter(protocols=frozenset({PROTOCOL})), SYSTEM_CLOCK):
            pass
        stored = [pool for pool in store.read_market().pools.values() if pool.is_sampled]
        assert len(stored) == 2
        assert not any(isinstance(pool, Sampled) and pool.has_samples for pool in stored)
        source = StoreSource(store, SYSTEM_CLOCK)
        with pytest.raises(NoRoute):
            source.quote(request(made))
        answer = LiveSource(source, node, SYSTEM_CLOCK).quote(request(made))
        assert answer.quote.sampled_pools
        assert not answer.quote.estimated_pools
    followed = FollowedStore(network, only(network), tmp_path / "synced", node)
    with open_follower(followed, SYSTEM_CLOCK, lambda _: None) as follower:
        follower.read()
        made.trader.chain.node.ask("evm_mine")
        advanced = follower.advance()
        assert advanced is not None
        answer = advanced.quote(request(made, 1.7))
        assert answer.quote.sampled_pools == answer.quote.estimated_pools != ()


def test_hooked_pools_are_quoted_by_the_quoter_of_v4(made: MakerMarket, node: RpcNode) -> None:
    """The hook may change amounts but does not, so that its pool pays what an equal one without a hook does."""
    world = made.trader.world
    quoter = made.trader.chain.deploy(load_artifact(V4_QUOTER), world.manager.address)
    permissions = 0x00CC  # beforeSwap and afterSwap, both with amounts of their own
    plain = world.open_uniswap_v4("USDC", "DAI", 700, 14)
    before = node.read_head().block.number
    hooked = world.open_uniswap_v4("USDC", "DAI", 700, 14, permissions)
    key = {"currency0": hooked.tokens[0], "currency1": hooked.tokens[1], "fee": "700", "hooks": hooked.hooks}
    quote = {**V4_DEFINITION["quote"], "contract": quoter.address}
    definition = {**V4_DEFINITION, "protocols": ["uniswapV4"], "quote": quote}
    network = world.network._replace(multicall=made.market.network.multicall, quoters=(definition,))
    (factory,) = [each for each in find_factories(network)[0] if each.kind == ContractKind.UNISWAP_V4]
    query = creation_filter([factory], before + 1, node.read_head().block.number)
    assert query
    reader = MulticallReader(node, node.read_head().block, network.multicall)
    (ref,) = read_created_pools(reader, {factory.address: factory}, node.read_logs(query), None)
    assert isinstance(ref, PoolRef)
    assert ref.key == hooked.key
    assert dict(ref.constants_as(SampledConstants).values) == {**key, "tickSpacing": "14"}
    (pool,) = load_pools(reader, [with_known_decimals(ref, made.market)])
    assert isinstance(pool, Sampled)
    snapshot = BlockSnapshot(node, network, node.read_head(), 0.0)
    snapshot.read([pool])
    snapshot.quote_sales({pool.key: [Sale(True, 123_456_789_012)]})
    sampled = snapshot.pools[pool.key]
    assert isinstance(sampled, Sampled), snapshot.reasons
    (exact,) = read_pools(world, [plain])
    first, second = pool.tokens
    amount = 123_456_789_012
    assert exact.swap(first, second, amount)[0] == sampled.swap(first, second, amount)[0]
    for token_in, token_out in ((first, second), (second, first)):
        compared = [sale for sale in sampled.samples(token_in, token_out) if sale.amount_in >= 1_000]
        assert len(compared) > 8
        for sale in compared:
            assert exact.swap(token_in, token_out, sale.amount_in)[0] == sale.amount_out


def test_pools_are_listed_by_count_as_well(made: MakerMarket, node: RpcNode) -> None:
    by_list = {key for key, pool in discovered(made, node).pools.items() if pool.is_sampled}
    maker = made.maker.address
    counted = {
        "contract": maker,
        "call": "pairAt(uint256)",
        "arguments": ["$index"],
        "entry": ["token0", "token1"],
        "length": {"contract": maker, "call": "pairCount()"},
    }
    network = with_maker(made.market.network, maker, list=counted)
    made.market = made.market._replace(network=network._replace(quoters=network.quoters[:1]))
    assert {key for key, pool in discovered(made, node).pools.items() if pool.is_sampled} == by_list
    assert len(by_list) == 2


def announced(factory: str, *, by_address: bool) -> dict[str, object]:
    """The definition of pools that only events announce: with their tokens, or by address and tokens to be read."""
    sides = [
        {"contract": "$pool", "call": f"querySell{side}(address,uint256)", "arguments": [ZERO_ADDRESS, "$amount"]}
        for side in ("Base", "Quote")
    ]
    whole: dict[str, object] = {"protocols": [PROTOCOL], "quote": sides, "holder": "$pool"}
    if not by_address:
        event = {"event": "NewPool(address,address,address,address)", "entry": ["token0", "token1", "-", "pool"]}
        return {**whole, "created": {"contract": factory, **event}}
    tokens = {"contract": factory, "call": "getPoolTokens(address)", "arguments": ["$pool"]}
    return {
        **whole,
        "created": {"contract": factory, "event": "PoolCreated(address)", "entry": ["pool"]},
        "reads": [{"name": "token0", **tokens, "word": 2}, {"name": "token1", **tokens, "word": 3}],
    }


@pytest.mark.parametrize("by_address", [False, True])
def test_pools_that_events_announce_are_synced_and_quoted(
    made: MakerMarket, node: RpcNode, tmp_path: Path, by_address: bool
) -> None:
    contracts = compile_solidity("makers.sol")
    factory = made.trader.chain.deploy(contracts["Announcer"])
    weth, usdc = made.token(WETH), made.token("USDC")
    codeless = "0x" + "77" * 20
    if by_address:
        factory.send("announceAlone", codeless)
        factory.send("announceAlone", made.maker.address)
    else:
        factory.send("announce", weth, usdc, ZERO_ADDRESS)
        factory.send("announce", weth, weth, codeless)
        factory.send("announceBytes", bytes(96))
        factory.send("announceBytes", b"\xff" * 128)
    pools = []
    for base, quote in ((weth, usdc), (usdc, weth)):
        (address,) = factory.call("create", base, quote)
        factory.send("create", base, quote)
        made.trader.world.give(WETH, address, 1_000 * 10**18)
        made.trader.world.give("USDC", address, 2_600_000 * 10**6)
        pools.append((address.lower(), (base, quote)))
    network = made.market.network._replace(quoters=(announced(factory.address, by_address=by_address),))
    with store_at(tmp_path / "store", network) as store:
        for _ in sync(store, node, SyncFilter(protocols=frozenset({PROTOCOL})), SYSTEM_CLOCK):
            pass
        stored = [pool for pool in store.read_market().pools.values() if pool.is_sampled]
        assert sorted((pool.address, pool.tokens) for pool in stored) == sorted(pools)
        skipped = list(store.inventory.all_skipped())
        assert len(skipped) == (2 if by_address else 4)
        assert all(entry.reason for entry in skipped)
        answer = LiveSource(StoreSource(store, SYSTEM_CLOCK), node, SYSTEM_CLOCK).quote(request(made))
    assert set(answer.quote.sampled_pools) <= {address for address, _ in pools}
    assert answer.quote.sampled_pools
    assert not answer.quote.estimated_pools
    for step in answer.quote.steps:
        made.trader.world.give(WETH, step.pool, step.amount_in)
        pool = made.trader.chain.at(step.pool, contracts["AnnouncedPool"])
        assert pool.call("sell", step.token_in, step.token_out, step.amount_in, DEPLOYER) == (step.amount_out,)


def test_a_sale_that_is_not_taken_whole_is_no_sample() -> None:
    """Quotes of Metric say by their signs what a pool receives and what it pays."""
    network = find_network("base")
    pool = Sampled(SOME_ADDRESS, "metric", network.stablecoins[:2], (18, 18), 0)
    quoter = parse_quoters(network)["metric"]
    immutables, prices, balance = (
        encode_call(name)[:4] for name in ("getImmutables()", "getBidAndAskPrice()", "balanceOf(address)")
    )

    def answer(call: ContractCall) -> ReturnData:
        if call.calldata[:4] in (immutables, prices):
            return encode(["uint256"] * 4, [9, 8, 7, 6])
        if call.calldata[:4] == balance:
            return encode(["uint256"], [10**30])
        is_forward, amount = (int.from_bytes(call.calldata[at : at + 32]) for at in (36, 68))
        taken = min(amount, 5 * 10**18)
        return encode(["int128", "int128"], (taken, -(taken // 2)) if is_forward else (-(taken // 2), taken))

    def send(calls: Sequence[ContractCall]) -> list[ReturnData]:
        return [answer(call) for call in calls]

    (sampled,) = run_batched([("", read_samples(pool, quoter, CallContext(SOME_ADDRESS, 0)))], send)
    assert isinstance(sampled, Sampled)
    for samples in (sampled.forward_samples, sampled.backward_samples):
        assert samples[-1].amount_in == 3 * 10**18
        assert all(each.amount_out == each.amount_in // 2 for each in samples)


def test_a_contract_announces_pools_of_one_protocol(made: MakerMarket) -> None:
    world = made.trader.world
    quoter = announced(world.manager.address, by_address=False)
    network = made.market.network._replace(quoters=(quoter,))
    skipped = dict(find_factories(network)[1])
    assert "already announce" in skipped[PROTOCOL]
