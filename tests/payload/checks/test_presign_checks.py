"""`--simulate` and `--from` against a real node: the report before signing matches the mined result."""

from __future__ import annotations

from random import Random

import pytest

from swapcli.core.errors import InsufficientBalance, InvalidUpstreamResponse, SimulationError
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.state_source import StateSource
from swapcli.core.model.swap_terms import Integrator
from swapcli.payload.checks.presign_checks import CheckOptions, check_payload
from swapcli.payload.checks.simulated_variants import TradedTokens
from swapcli.payload.evm import build_transaction
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.contract_fixture import WETH
from tests.chain.failure_modes import connect_without_pauses
from tests.chain.proxy import ignores_block_numbers, open_proxy
from tests.chain.test_disguised_tokens import SOURCES as DISGUISES
from tests.chain.test_disguised_tokens import TRICKS, start_fees
from tests.chain.trader import INTEGRATOR, USER, Trade, Trader
from tests.contracts.evm import solidity
from tests.examples import examples, few, seeds

POOR = "0x" + "90" * 20
BOB = "0x" + "b0" * 20
SOURCES = solidity("simulated.sol", "world.sol")
PLENTY = 10**30


def live(node: RpcNode) -> StateSource:
    return StateSource(Provenance.LIVE, "the node", node.read_head().block.number)


NOWHERE = StateSource(None, "http://service.example", service_url="http://service.example")
"""The state source of a service that does not report its own."""


def ends_of(trader: Trader, trade: Trade) -> TradedTokens:
    native, route = trader.world.network.native, trade.payload.call.route
    by_address = {token.address: token for token in trader.world.tokens.values()} | {ZERO_ADDRESS: native}
    sold = ZERO_ADDRESS if trade.payload.value else route.token_in
    return TradedTokens(by_address[sold], by_address[trade.token_out], native)


# The checks themselves.


@pytest.mark.parametrize("seed", seeds(1, full=2))
def test_a_live_quote_is_told_to_match_and_is_mined_so(trader: Trader, node: RpcNode, seed: int) -> None:
    for trade in trader.trades(Random(f"checks {seed}"), examples(8, full=40)):
        for sender in (USER, None):
            checks, ends = CheckOptions(simulate=True, sender=sender), ends_of(trader, trade)
            checked = check_payload(node, checks, trade.payload, live(node), ends)
            assert checked.simulation
            assert checked.simulation.matches
            assert checked.simulation.expected == trade.amount_due
            assert checked.simulation.block == node.read_head().block.number
            assert (checked.holdings is None) == (sender is None)
        assert trader.execute(trade).received == trade.amount_due


def test_who_earns_from_himself_gets_all(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    order = Order(tokens["USDC"], tokens["DAI"], 10**9)
    for recipient, gets_all in ((INTEGRATOR, True), (BOB, False)):
        trade = trader.quote_trade(order, Integrator(INTEGRATOR, fee_bps=100), recipient)
        checked = check_payload(node, CheckOptions(simulate=True), trade.payload, live(node), ends_of(trader, trade))
        assert checked.simulation
        assert checked.simulation.matches
        assert checked.simulation.received == (trade.result.output_amount if gets_all else trade.amount_due)


def test_a_surplus_is_shared_only_where_there_is_one(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(
        Order(tokens["USDC"], tokens["DAI"], 10**9), Integrator(INTEGRATOR, surplus_bps=5_000), BOB
    )
    ends, checks, then = ends_of(trader, trade), CheckOptions(simulate=True), live(node)
    checked = check_payload(node, checks, trade.payload, then, ends)
    assert checked.simulation
    assert checked.simulation.received == trade.payload.call.route.amount_out
    trader.execute(trader.quote_trade(Order(tokens["DAI"], tokens["USDC"], 10**24)))
    gained = check_payload(node, checks, trade.payload, NOWHERE, ends).simulation
    assert gained
    assert gained.received > gained.expected
    with pytest.raises(SimulationError, match="the quote is"):
        check_payload(node, checks, trade.payload, live(node), ends)


def test_a_quote_on_another_state_must_pay_its_minimum(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 10**19))
    then = live(node)
    trader.execute(trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 10**18)))
    ends, checks = ends_of(trader, trade), CheckOptions(simulate=True)
    assert then.block != node.read_head().block.number
    past = check_payload(node, checks, trade.payload, then, ends).simulation
    assert past
    assert (past.block, past.matches) == (then.block, True)
    with pytest.raises(SimulationError, match=r"^the swap reverts at block \d+: ReceivedTooLittle \(received "):
        check_payload(node, checks, trade.payload, NOWHERE, ends)
    generous = trade.payload.router_call
    generous = generous._replace(route=generous.route._replace(min_received=trade.amount_due * 98 // 100))
    payload = build_transaction(generous, trader.world.network, trade.payload.to)
    # What a service says of its block is not proven.
    claimed = then._replace(service_url="http://service.example")
    table, no_block = StateSource(Provenance.MODELLED, "a table", 1), StateSource(Provenance.SYNCED, "no block")
    for origin in (NOWHERE, claimed, table, no_block):
        found = check_payload(node, checks, payload, origin, ends).simulation
        assert found
        assert found.block == node.read_head().block.number
        assert trade.amount_due * 98 // 100 <= found.received < found.expected == trade.amount_due
    assert trader.world.balance(trade.token_out, USER) > 0


def test_a_wrong_quote_on_current_state_shows_both_amounts(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 10**19))
    call = trade.payload.call
    promising = trade.payload._replace(call=call._replace(route=call.route._replace(amount_out=trade.amount_due + 1)))
    with pytest.raises(SimulationError) as caught:
        check_payload(node, CheckOptions(simulate=True), promising, live(node), ends_of(trader, trade))
    block = node.read_head().block.number
    pays, due = (f"{amount // 10**6:,}.{amount % 10**6:06}" for amount in (trade.amount_due, trade.amount_due + 1))
    assert caught.value.message.replace("0 USDC", " USDC") == (
        f"the swap pays {pays} USDC at block {block}, but the quote is {due} USDC".replace("0 USDC", " USDC")
    )
    assert caught.value.details["received"] == str(trade.amount_due)
    assert caught.value.details["expected"] == str(trade.amount_due + 1)
    assert caught.value.details["block"] == block


@pytest.mark.parametrize("skimmed", [1, 10**5])
def test_a_router_that_pays_less_is_caught_whatever_the_slippage(trader: Trader, node: RpcNode, skimmed: int) -> None:
    tokens = trader.world.tokens
    skimmer = trader.chain.deploy(SOURCES()["Skimmer"], skimmed)
    trader.world.give("USDC", skimmer.address, 10**15)
    for sold in (tokens["DAI"], trader.world.network.native):
        trade = trader.quote_trade(Order(sold, tokens["USDC"], 10**18))
        approvals = tuple(each._replace(spender=skimmer.address) for each in trade.payload.approvals)
        elsewhere = trade.payload._replace(to=skimmer.address, approvals=approvals)
        ends = ends_of(trader, trade)
        pays = r"^the swap pays \S+ USDC at block \d+, but "
        with pytest.raises(SimulationError, match=f"{pays}the quote is ") as caught:
            check_payload(node, CheckOptions(simulate=True), elsewhere, live(node), ends)
        assert caught.value.hint == "do not sign: the router may read payloads differently, or a token may take a cut"
        with pytest.raises(SimulationError, match=f"{pays}it promises at least "):
            check_payload(node, CheckOptions(simulate=True), elsewhere, NOWHERE, ends)


@pytest.mark.parametrize("trick", few(TRICKS, 12))
def test_a_router_that_notices_the_simulation_is_caught(trader: Trader, node: RpcNode, trick: str) -> None:
    """Its honest twin passes."""
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDC"], 10**18), recipient=USER)
    checks, ends = CheckOptions(simulate=True), ends_of(trader, trade)
    for paid_ppm in (1_000_000, 600_000):
        skimmer = trader.chain.deploy(DISGUISES()["DisguisedSkimmer"], TRICKS[trick], paid_ppm)
        trader.world.give("USDC", skimmer.address, 10**15)
        approvals = tuple(each._replace(spender=skimmer.address) for each in trade.payload.approvals)
        payload = trade.payload._replace(to=skimmer.address, approvals=approvals)
        start_fees(trader)
        if paid_ppm == 1_000_000:
            found = check_payload(node, checks, payload, live(node), ends).simulation
            assert found
            assert found.matches
        else:
            with pytest.raises(SimulationError, match=r"^the swap pays "):
                check_payload(node, checks, payload, live(node), ends)


def test_what_fails_before_the_swap_is_told_as_what_it_is(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["DAI"], tokens["USDC"], 10**18))
    ends, checks = ends_of(trader, trade), CheckOptions(simulate=True)
    nowhere = trade.payload._replace(to="0x" + "77" * 20)
    with pytest.raises(
        SimulationError,
        match=r"^there is no contract at the router's address 0x(77){20} at block "
        r"\d+$",
    ):
        check_payload(node, checks, nowhere, live(node), ends)
    with pytest.raises(
        SimulationError,
        match=r"^there is no contract at the router's address 0x(77){20} at block "
        r"\d+$",
    ):
        check_payload(node, CheckOptions(sender=POOR), nowhere, live(node), ends)  # who has nothing either
    unwilling = trader.chain.deploy(SOURCES()["Unwilling"])
    (approval,) = trade.payload.approvals
    payload = trade.payload._replace(approvals=(approval._replace(token=unwilling.address),))
    with pytest.raises(SimulationError, match=r"^DAI rejects the approval at block \d+: an error with selector"):
        check_payload(node, checks, payload, live(node), ends)


def test_holdings_are_read_at_the_block_of_the_quote(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["DAI"], tokens["USDC"], 10**18))
    ends, then = ends_of(trader, trade), live(node)
    checks = CheckOptions(sender=POOR)
    trader.world.give("DAI", POOR, 10**18)
    now = live(node)
    with pytest.raises(InsufficientBalance) as caught:
        check_payload(node, checks, trade.payload, then, ends)
    assert caught.value.message == "Insufficient balance: the sender holds 0 DAI, but the swap takes 1 DAI"
    assert caught.value.details == {"token": tokens["DAI"].address, "held": "0", "needed": str(10**18)}
    for origin in (now, NOWHERE):
        checked = check_payload(node, checks, trade.payload, origin, ends)
        assert checked.holdings
        assert (checked.holdings.balance_in, checked.allowances, checked.simulation) == (10**18, (0,), None)


def test_native_currency_needs_no_allowance_and_counts_as_it_is(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.network.native, trader.world.tokens["USDC"], 10**18))
    ends = ends_of(trader, trade)
    trader.chain.fund(POOR, 10**18 - 1)
    with pytest.raises(InsufficientBalance, match=r"holds 0\.9{18} ETH, but the swap takes 1 ETH$"):
        check_payload(node, CheckOptions(sender=POOR), trade.payload, live(node), ends)
    trader.chain.fund(POOR, 10**18)
    checked = check_payload(node, CheckOptions(simulate=True, sender=POOR), trade.payload, live(node), ends)
    assert checked.simulation
    assert (checked.allowances, checked.simulation.assumed) == ((), ())


def test_what_gas_costs_is_the_quotes_or_what_was_simulated(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.network.native, trader.world.tokens["USDC"], 10**18))
    ends, price = ends_of(trader, trade), node.read_head().gas_price_wei
    simulated = check_payload(node, CheckOptions(simulate=True), trade.payload, live(node), ends)
    assert simulated.simulation
    assert simulated.gas_wei == simulated.simulation.gas_used * price
    for checks in (CheckOptions(simulate=True), CheckOptions(sender=USER)):
        assert check_payload(node, checks, trade.payload, live(node), ends, 7).gas_wei == 7
    assert check_payload(node, CheckOptions(sender=USER), trade.payload, live(node), ends).gas_wei is None


def test_a_token_that_is_not_there_is_nonsense(trader: Trader, node: RpcNode) -> None:
    trade = trader.quote_trade(Order(trader.world.tokens["DAI"], trader.world.tokens["USDC"], 10**18))
    call = trade.payload.call
    payload = trade.payload._replace(call=call._replace(route=call.route._replace(token_in="0x" + "66" * 20)))
    with pytest.raises(InvalidUpstreamResponse, match=r"^balanceOf\(address\): returned 0 bytes"):
        check_payload(node, CheckOptions(sender=POOR), payload, live(node), ends_of(trader, trade))


def test_a_node_that_ignores_block_numbers_is_an_upstream_error(trader: Trader) -> None:
    """It simulates on a newer state than the one that was quoted on: there the swap must pay what it promises."""
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 10**19))
    call = trade.payload.router_call
    generous = call._replace(route=call.route._replace(min_received=trade.amount_due * 98 // 100))
    payload = build_transaction(generous, trader.world.network, trade.payload.to)
    with open_proxy(trader.chain.node.port) as proxy, connect_without_pauses(proxy.url) as node:
        then = live(node)
        trader.execute(trader.quote_trade(Order(tokens[WETH], tokens["USDC"], 10**18)))
        ends, checks = ends_of(trader, trade), CheckOptions(simulate=True)
        proxy.always = ignores_block_numbers()
        found = check_payload(node, checks, payload, then, ends).simulation
        assert found
        assert trade.amount_due * 98 // 100 <= found.received < found.expected == trade.amount_due
        with pytest.raises(SimulationError, match="ReceivedTooLittle"):
            check_payload(node, checks, trade.payload, then, ends)
