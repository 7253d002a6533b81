"""A decoded payload is simulated: it must pay its recipient the minimum that it shows."""

from __future__ import annotations

from contextlib import closing
from itertools import permutations
from random import Random
from typing import Any

import pytest

from swapcli.core.model.block_tag import BlockTag
from swapcli.core.model.decoded_call import DecodedCall
from swapcli.core.model.finding import Finding, FindingCode, Level
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import Order
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.transaction import UnsignedTransaction
from swapcli.payload.decode.decode_payload import decode_payload
from swapcli.payload.decode.given_transaction import GivenTransaction
from swapcli.payload.evm import build_transaction
from swapcli.payload.review.reviewed_payload import PayloadReview, Signing
from swapcli.quoting.review.payload_rehearsal import rehearse_decoded
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from tests.chain.test_disguised_tokens import SOURCES as DISGUISES
from tests.chain.test_disguised_tokens import TRICKS
from tests.chain.trader import USER, Trader
from tests.support.old_node import OldNode

POOR, BOB = "0x" + "90" * 20, "0x" + "b0" * 20
REAL = StateSource(Provenance.LIVE, "the node", 1, tag=BlockTag.LATEST)


def rehearsed(
    trader: Trader, node: Any, payload: UnsignedTransaction, *, sender: str | None = USER, fresh: int | None = None
) -> tuple[Finding, ...]:
    """The warnings of the simulation alone."""
    given = GivenTransaction(payload.calldata, to=payload.to, value=payload.value)
    call = decode_payload(given, trader.world.network.wrapped_native_address)
    return warnings_of(trader, node, payload, call, sender=sender, fresh=fresh)


def warnings_of(
    trader: Trader,
    node: Any,
    payload: UnsignedTransaction,
    call: DecodedCall,
    *,
    sender: str | None = USER,
    fresh: int | None = None,
) -> tuple[Finding, ...]:
    """The warnings of the simulation of a payload that was decoded as `call`."""
    network = trader.world.network
    assert call.order is not None
    tokens = {address: token for token in trader.world.tokens.values() for address in [token.address]}
    signing = Signing(payload.to, payload.value, sender)
    review = PayloadReview(call, network, signing, tokens, (), fresh, REAL, ())
    return rehearse_decoded(review, payload.calldata, node).warnings


def check_decoded(trader: Trader, node: Any, rng: Random) -> None:
    """Honest payloads of a dialect have no warning, and each of them was simulated."""
    for trade in trader.trades(rng, 6):
        assert rehearsed(trader, node, trade.payload, fresh=trade.amount_due) == ()
        (worse,) = rehearsed(trader, node, trade.payload, fresh=trade.amount_due * 1_002 // 1_000 + 1)
        assert worse.code == FindingCode.SIMULATION_DIFFERS


@pytest.mark.parametrize("is_old", [False, True], ids=["blocks", "no blocks"])
@pytest.mark.parametrize("sender", [USER, POOR, None])
def test_an_honest_payload_has_no_warning(trader: Trader, node: RpcNode, sender: str | None, is_old: bool) -> None:
    tokens = [*trader.world.tokens.values(), trader.world.network.native]
    simulating = OldNode(node) if is_old else node
    for sold, bought in list(permutations(tokens, 2))[::7]:
        trade = trader.quote_trade(Order(sold, bought, 10**sold.decimals), recipient=BOB)
        assert rehearsed(trader, simulating, trade.payload, sender=sender, fresh=trade.amount_due) == ()
        (worse,) = rehearsed(trader, simulating, trade.payload, sender=sender, fresh=trade.amount_due * 1_002 // 1_000)
        assert worse.code == FindingCode.SIMULATION_DIFFERS


def test_a_payload_that_pays_less_than_its_minimum_is_dangerous(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDC"], 10**18), recipient=USER)
    skimmer = trader.chain.deploy(DISGUISES()["DisguisedSkimmer"], TRICKS["no gas price"], 900_000)
    trader.world.give("USDC", skimmer.address, 10**15)
    (warning,) = rehearsed(trader, node, trade.payload._replace(to=skimmer.address))
    assert warning.code == FindingCode.SIMULATION_BELOW_MINIMUM
    assert warning.message.startswith("simulated at block ")
    assert warning.level is Level.BLOCK


def test_a_payload_that_pays_less_than_a_fresh_quote_says_so(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDC"], 10**18), recipient=USER)
    fresh = trade.amount_due * 1_002 // 1_000
    (warning,) = rehearsed(trader, node, trade.payload, fresh=fresh)
    assert warning.code == FindingCode.SIMULATION_DIFFERS
    assert warning.message.endswith(", 0.20% less than a fresh quote")
    assert warning.level is Level.WARN


def test_a_payload_that_reverts_now_says_why(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["DAI"], tokens["USDC"], 10**18), recipient=USER)
    call = trade.payload.router_call
    greedy = call._replace(route=call.route._replace(min_received=2 * trade.amount_due))
    payload = build_transaction(greedy, trader.world.network, trade.payload.to)
    (warning,) = rehearsed(trader, node, payload)
    assert warning.code == FindingCode.SIMULATION_FAILS
    assert "the payload reverts: ReceivedTooLittle" in warning.message
    assert rehearsed(trader, node, payload, sender=None) == ()


def test_a_node_that_cannot_simulate_adds_nothing(trader: Trader) -> None:
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDC"], 10**18), recipient=USER)
    with closing(
        RpcNode([RpcEndpoint("http://127.0.0.1:9", "a dead node")], 1, NodePolicy(pause=lambda _: None))
    ) as dead:
        assert rehearsed(trader, dead, trade.payload) == ()
