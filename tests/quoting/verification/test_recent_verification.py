"""What a run over recent swaps concludes: statuses, agreements, and what it says of a node that fails midway."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidOption, SwapDiffers, UnknownProtocol, UpstreamError
from swapcli.core.model.network import Kind, ProtocolInfo, PublicNode
from swapcli.families.row import SwapAmounts
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.quoting.verification.recent_verification import (
    RecentSwap,
    RecentVenue,
    RecentVerification,
    VenueStatus,
    verify_recent_swaps,
)
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.mined.swap_events import SwapEvent
from swapcli.state.mined.swap_verification import Outcome, VerifiedSwap
from swapcli.state.rpc.node import BlockHeader
from swapcli.state.rpc.public_nodes import PublicEndpoint, PublicRpcNode, open_public_node
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.anvil import CHAIN_ID
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import RpcAnswer, RpcRequest, refusal
from tests.chain.proxy import Proxy, open_proxy, rewrites
from tests.chain.settings import url_of
from tests.chain.trader import Trader
from tests.state.mined.test_swap_verification import balancer_deployment, trade_at_random

HEAD = BlockHeader(1_000, "0x01", "0x02", 1_700_000_000, 0)
AMOUNTS = SwapAmounts(0, 1, 5, 7)
OUTCOMES = st.lists(st.lists(st.sampled_from(Outcome), max_size=4), max_size=5)


def recent(outcome: Outcome, block: int) -> RecentSwap:
    event = SwapEvent(f"0x{block:040x}", ("uniswap_v2",), "0x" + "ee" * 20, 1, 1, AMOUNTS)
    return RecentSwap(block, block * 10, "0x" + "aa" * 32, VerifiedSwap(event, outcome, None, reason="why"))


def verification(trader: Trader, outcomes: Sequence[Sequence[Outcome]]) -> RecentVerification:
    """Return a result in which each protocol has swaps with these outcomes, newest first."""
    venues = tuple(
        RecentVenue(
            ProtocolInfo(number, f"venue{number}", f"Venue {number}", "constant_product"),
            tuple(recent(outcome, 900 - place) for place, outcome in enumerate(each)),
            len(each),
            800,
        )
        for number, each in enumerate(outcomes)
    )
    return RecentVerification(trader.world.network, HEAD, 4, venues, MappingProxyType({}), 12)


@given(OUTCOMES)
def test_one_difference_counts_more_than_all_that_is_equal(
    shared_trader: Trader, outcomes: list[list[Outcome]]
) -> None:
    found = verification(shared_trader, outcomes)
    everything = [outcome for each in outcomes for outcome in each]
    for venue, each in zip(found.venues, outcomes, strict=True):
        order = (Outcome.DIFFERENT, Outcome.EQUAL, Outcome.NOT_EXPLAINED)
        expected = next((outcome.value for outcome in order if outcome in each), "noneFound")
        assert venue.status.value == expected
    equal = {f"venue{n}" for n, each in enumerate(outcomes) if Outcome.EQUAL in each and Outcome.DIFFERENT not in each}
    assert found.agreements().keys() == equal
    for name, agreement in found.agreements().items():
        each = outcomes[int(name.removeprefix("venue"))]
        block = 900 - each.index(Outcome.EQUAL)
        assert agreement == (block, block * 10, each.count(Outcome.EQUAL))
    if Outcome.DIFFERENT in everything:
        with pytest.raises(SwapDiffers, match=f"{everything.count(Outcome.DIFFERENT)} of {len(everything)}"):
            found.check()
    elif Outcome.EQUAL in everything:
        found.check()
    else:
        with pytest.raises(UpstreamError, match="could be explained" if everything else "no recent swap"):
            found.check()
    document = found.document()
    assert document["equal"] + document["different"] + document["notExplained"] == len(everything)


@pytest.fixture
def traded(trader: Trader) -> Trader:
    network = trader.world.network
    deployments = (*network.deployments, balancer_deployment(trader))
    trader.world.network = network._replace(multicall=deploy_multicall(trader.chain), deployments=deployments)
    pools = {key: pool for key, pool in trader.market.pools.items() if pool.protocol != "curveFi"}
    trader.market = trader.market._replace(network=trader.world.network, pools=pools)
    trade_at_random(trader, "recently traded", 6)
    return trader


@pytest.fixture
def known(traded: Trader) -> InMemorySource:
    return InMemorySource(traded.market, SYSTEM_CLOCK)


@pytest.fixture
def proxy(traded: Trader) -> Iterator[Proxy]:
    with open_proxy(traded.chain.node.port) as proxy:
        yield proxy


@pytest.fixture
def proxied(proxy: Proxy) -> Iterator[RpcNode]:
    endpoint = RpcEndpoint(f"http://127.0.0.1:{proxy.server_port}", "the node")
    with closing(RpcNode([endpoint], CHAIN_ID, NodePolicy(pause=bool))) as node:
        yield node


def test_a_node_without_old_state_explains_nothing(known: InMemorySource, proxy: Proxy, proxied: RpcNode) -> None:
    def prunes(requests: list[RpcRequest], proxy: Proxy) -> list[RpcAnswer]:
        return [
            refusal(answer, -32000, "missing trie node 01ab (path ) state is not available")
            if request["method"] == "eth_call"
            else answer
            for request, answer in zip(requests, proxy.answer(requests), strict=True)
        ]

    proxy.always = rewrites(prunes)
    found = verify_recent_swaps(proxied, known, 2)
    outcomes = [each.swap for venue in found.venues for each in venue.swaps]
    assert outcomes
    assert {swap.outcome for swap in outcomes} == {Outcome.NOT_EXPLAINED}
    assert all("archive node" in swap.reason for swap in outcomes)
    assert not found.agreements()
    asked = proxy.methods.count("eth_call")
    verify_recent_swaps(proxied, known, 4)
    assert proxy.methods.count("eth_call") <= 2 * asked  # older blocks than a refused one are not asked for
    with pytest.raises(UpstreamError, match="archive node"):
        found.check()


def test_a_node_that_dies_midway_keeps_what_was_verified(known: InMemorySource, proxy: Proxy, proxied: RpcNode) -> None:
    seen: list[RecentSwap] = []

    def dies(_: ProtocolInfo, swap: RecentSwap) -> None:
        seen.append(swap)
        if len(seen) == 5:
            proxy.always = rewrites(lambda requests, _: [refusal(each, -32000, "gone") for each in requests])

    found = verify_recent_swaps(proxied, known, 3, on_swap=dies)
    kept = [each for venue in found.venues for each in venue.swaps]
    assert [each for each in seen if each in kept] == seen
    assert sum(each.swap.outcome is Outcome.EQUAL for each in kept) >= 5
    assert {each.swap.outcome for each in kept} == {Outcome.EQUAL, Outcome.NOT_EXPLAINED}
    found.check()


def test_time_ends_a_run(known: InMemorySource, proxied: RpcNode) -> None:
    found = verify_recent_swaps(proxied, known, 2, max_duration_s=0.0)
    searched = [venue for venue in found.venues if "this run has used all of its" in venue.reason]
    assert searched
    assert {venue.status for venue in searched} == {VenueStatus.NOT_SEARCHED}


def test_what_cannot_be_asked_is_refused(known: InMemorySource, proxied: RpcNode) -> None:
    for count in (0, -1, 51):
        with pytest.raises(InvalidOption, match="from 1 to 50"):
            verify_recent_swaps(proxied, known, count)
    with pytest.raises(UnknownProtocol, match="uniswapV9"):
        verify_recent_swaps(proxied, known, 1, protocols=["uniswapV9"])


@pytest.mark.parametrize("max_requests", [400, 14])
def test_a_public_node_may_take_what_the_run_allows(traded: Trader, known: InMemorySource, max_requests: int) -> None:
    """Its limit for a quote, of five requests, does not count; that of the run does, to the request."""
    traded.chain.node.ask("evm_setNextBlockTimestamp", hex(int(time.time())))
    traded.chain.node.ask("evm_mine")
    public = PublicNode(url_of(traded.chain), quote_requests=5)
    node = open_public_node(
        [PublicEndpoint(public, public.url)], kind=Kind.EVM, chain_id=CHAIN_ID, block_time_s=12.0, is_required=True
    )
    assert isinstance(node, PublicRpcNode)
    with closing(node):
        found = verify_recent_swaps(node, known, 2, max_requests=max_requests)
        assert 5 < node.budget.sent <= max_requests
    assert found.total(Outcome.EQUAL) == sum(len(venue.swaps) for venue in found.venues)
    assert found.total(Outcome.EQUAL) > 0
    assert all(len(venue.swaps) == venue.found for venue in found.venues) == (max_requests == 400)
    assert bool(found.problem) == (max_requests != 400)
