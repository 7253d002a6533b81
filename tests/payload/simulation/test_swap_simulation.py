"""A simulation agrees to the unit with the same swap signed and mined, for any sender."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from swapcli.core.errors import ChainReorganized, InvalidUpstreamResponse, SimulationError, UpstreamRejected
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.swap_type import SwapType
from swapcli.core.model.transaction import Approval, UnsignedTransaction
from swapcli.families.reading.calls import ContractCall
from swapcli.payload.evm import build_approval
from swapcli.payload.evm.simulation import SimulatedCall, SimulationStatus
from swapcli.payload.simulation.revert_reason import describe_revert
from swapcli.payload.simulation.sender_balances import SenderBalances, read_sender_balances
from swapcli.payload.simulation.swap_simulation import SimulationGrant, SwapSimulation, simulate_swap
from swapcli.state.rpc.node import Account, HypotheticalCall, StateOverride
from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.transfers.token_slots import find_balance_slot
from swapcli.testing.evm import Contract
from tests.chain.anvil import AnvilChain
from tests.chain.node.server import Refused, node_of, says, serving
from tests.chain.trader import USER, Trader, with_calldata, with_unreachable_minimum
from tests.contracts.evm import load_artifact, solidity
from tests.examples import few, seeds
from tests.support.chain import connected

POOR = "0x" + "90" * 20
"""Holds nothing."""
BOB = "0x" + "b0" * 20
SOURCES = solidity("simulated.sol", "world.sol")
NAMESPACED = 0x52C63247E1F47DB19D5CE0460030C497F067CA4CEBF71BA98EEADABE20BACE00
PLENTY = 10**24
TRADES_A_SEED = 50
MOST_REFUNDED = 0.2
"""Of the gas that was used."""


def simulated(node: RpcNode, swap: SimulatedCall, sender: str) -> SwapSimulation:
    at = node.read_head().block
    return simulate_swap(node, at, swap, sender, read_sender_balances(node, at, sender, swap))


def simulated_payload(node: RpcNode, payload: UnsignedTransaction, sender: str) -> SwapSimulation:
    return simulated(node, SimulatedCall.from_payload(payload), sender)


# Real pools.


@pytest.mark.parametrize("seed", seeds(1, full=3))
def test_what_is_simulated_is_what_is_mined(trader: Trader, node: RpcNode, seed: int) -> None:
    seen: Counter[str] = Counter()
    for trade in trader.trades(Random(f"simulated {seed}"), TRADES_A_SEED):
        rich, poor = (simulated_payload(node, trade.payload, sender) for sender in (USER, POOR))
        outcome = trader.execute(trade)
        for run in (rich.run, poor.run):
            assert (run.status, run.received) == (SimulationStatus.DONE, outcome.received)
            assert 1 <= run.gas_used / outcome.receipt.gas_used <= 1.01 / (1 - MOST_REFUNDED)
        route = trade.payload.call.route
        native = route.swap_type is SwapType.NATIVE_TO_TOKEN
        assert rich.grants == (() if native else (SimulationGrant.ALLOWANCE,))
        assert poor.grants == (
            (SimulationGrant.NATIVE,) if native else (SimulationGrant.TOKEN, SimulationGrant.ALLOWANCE)
        )
        seen.update([route.swap_type.name, "fee" if trade.amount_due < trade.result.output_amount else "no fee"])
        seen.update(["to himself" if route.recipient == USER else "to another"])
    assert {*SwapType.__members__, "fee", "no fee", "to himself", "to another"} <= set(seen)


def test_a_unit_more_than_there_is_reverts_and_says_both_figures(trader: Trader, node: RpcNode) -> None:
    for trade in trader.trades(Random("too much"), 20):
        for sender in (USER, POOR):
            run = simulated_payload(node, with_calldata(with_unreachable_minimum(trade), trader.world), sender).run
            assert (run.status, run.received) == (SimulationStatus.REVERTED, 0)
            assert (
                describe_revert(run.return_data)
                == f"ReceivedTooLittle (received {trade.amount_due}, least {trade.amount_due + 1})"
            )


def test_nothing_that_is_simulated_happens(trader: Trader, node: RpcNode) -> None:
    trade = next(trader.trades(Random("nothing happens"), 1))
    before = node.read_head().block
    first, again = (simulated_payload(node, trade.payload, POOR) for _ in range(2))
    assert first == again
    assert node.read_head().block == before
    assert node.read_account(POOR, before) == Account(0, b"")


def test_with_the_allowance_in_place_nothing_is_assumed(trader: Trader, node: RpcNode) -> None:
    tokens = trader.world.tokens
    trade = trader.quote_trade(Order(tokens["USDT"], tokens["DAI"], 10**9))
    route = trade.payload.call.route
    for allowed, assumed in ((10**9 - 1, (SimulationGrant.ALLOWANCE,)), (10**9, ()), (0, (SimulationGrant.ALLOWANCE,))):
        for amount in (0, allowed):
            assert trader.send(build_approval(route.token_in, trade.payload.to, amount)).succeeded
        holdings = read_sender_balances(node, node.read_head().block, USER, SimulatedCall.from_payload(trade.payload))
        assert holdings.allowance == allowed
        simulation = simulated_payload(node, trade.payload, USER)
        assert (simulation.run.status, simulation.run.received, simulation.grants) == (
            SimulationStatus.DONE,
            trade.amount_due,
            assumed,
        )


def test_the_router_refuses_a_token_that_takes_a_cut(trader: Trader, node: RpcNode) -> None:
    taxed = trader.chain.deploy(SOURCES()["Taxed"])
    trade = trader.quote_trade(Order(trader.world.tokens["USDC"], trader.world.tokens["DAI"], 10**9))
    call = trade.payload.router_call
    swaps = tuple(swap._replace(token_in=taxed.address) for swap in call.swaps)
    cut = call._replace(route=call.route._replace(token_in=taxed.address), swaps=swaps)
    simulation = simulated_payload(node, with_calldata(trade.payload._replace(call=cut), trader.world), POOR)
    assert simulation.grants == (SimulationGrant.TOKEN, SimulationGrant.ALLOWANCE)
    assert simulation.run.status is SimulationStatus.REVERTED
    assert (
        describe_revert(simulation.run.return_data) == f"InputFallsShort (received {10**9 - 10**7}, expected {10**9})"
    )


# Tokens and senders of every kind, and a router whose behaviour a test sets.


class Scene:
    """A chain with a router that has plenty of everything."""

    def __init__(self, chain: AnvilChain, node: RpcNode) -> None:
        self.chain, self.node = chain, node
        self.router = chain.deploy(SOURCES()["Obedient"])
        chain.fund(self.router.address, PLENTY)

    def token(self, name: str, *arguments: object) -> Contract:
        token = self.chain.deploy(SOURCES()[name], *arguments)
        token.send("mint", self.router.address, PLENTY)
        return token

    def trade(self, sold: str, bought: str, paid: int = 900, recipient: str = BOB) -> SimulatedCall:
        """A thousand units for `paid`."""
        calldata = self.router.calldata("trade", sold, 1_000, bought, paid, recipient)
        value = 0 if sold != ZERO_ADDRESS else 1_000
        approvals = () if value else (Approval(sold, self.router.address, 1_000),)
        return SimulatedCall(self.router.address, sold, bought, recipient, 1_000, value, calldata, approvals)

    def set_code(self, address: str, code: bytes) -> None:
        self.chain.node.ask("anvil_setCode", address, f"0x{code.hex()}")

    def runtime(self, contract: Contract) -> bytes:
        return bytes.fromhex(self.chain.node.ask("eth_getCode", contract.address, "latest")[2:])


@pytest.fixture(scope="module")
def scene(shared_trader: Trader) -> Iterator[Scene]:
    chain = shared_trader.chain
    with chain.revert_after(), connected(chain) as node:
        yield Scene(chain, node)


def slot(place: int) -> bytes:
    return place.to_bytes(32)


BALANCE_LAYOUTS: list[tuple[str, tuple[Any, ...]]] = [
    *(("SolidityKept", (slot(place),)) for place in (0, 2, 9, 51, 63, 101, 351, NAMESPACED)),
    *(("VyperKept", (slot(place),)) for place in (0, 3, 63)),
    ("SoladyKept", ()),
    ("Rebasing", ()),
    ("Flagged", ()),
    ("Tether", ()),
    ("Coin", ("COIN", 6)),
    ("Taxed", ()),
]


@pytest.mark.parametrize(("name", "arguments"), BALANCE_LAYOUTS)
@pytest.mark.parametrize("balance_before", few([0, 999], 1))
def test_missing_balances_are_granted_in_any_storage_layout(
    scene: Scene, name: str, arguments: tuple[Any, ...], balance_before: int
) -> None:
    token = scene.token(name, *arguments)
    sender = f"0x{balance_before:040x}" if balance_before else POOR
    if balance_before:
        token.send("mint", sender, balance_before * 10 // 11 if name == "Rebasing" else balance_before)
    simulation = simulated(scene.node, scene.trade(token.address, ZERO_ADDRESS), sender)
    assert simulation.grants == (SimulationGrant.TOKEN, SimulationGrant.ALLOWANCE)
    assert (simulation.run.status, simulation.run.received) == (SimulationStatus.DONE, 900)


def test_the_wrapped_native_token_is_given_too(scene: Scene) -> None:
    weth = scene.chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json"))
    simulation = simulated(scene.node, scene.trade(weth.address, ZERO_ADDRESS), POOR)
    assert (simulation.run.status, simulation.run.received) == (SimulationStatus.DONE, 900)
    at = scene.node.read_head().block
    assert find_balance_slot(scene.node, at, weth.address, POOR, 0, 5) is not None


@pytest.mark.parametrize(("name", "trips"), [("SolidityKept", 1), ("Rebasing", 2), ("SecretlyKept", 1)])
def test_places_are_tried_in_few_round_trips(scene: Scene, name: str, trips: int) -> None:
    token = scene.token(name, *([slot(7)] if name == "SolidityKept" else []))
    at = scene.node.read_head().block
    before = scene.node.round_trips
    found = find_balance_slot(scene.node, at, token.address, POOR, 0, 1_000)
    assert (found is None) == (name == "SecretlyKept")
    assert scene.node.round_trips == before + trips


def test_a_token_with_a_secret_takes_a_sender_who_holds_it(scene: Scene) -> None:
    token = scene.token("SecretlyKept")
    swap = scene.trade(token.address, ZERO_ADDRESS)
    with pytest.raises(SimulationError, match=r"^a simulation needs a sender who holds the input: ") as caught:
        simulated(scene.node, swap, POOR)
    assert caught.value.hint == "set a sender who holds it"
    holder = "0x" + "91" * 20
    token.send("mint", holder, 1_000)
    simulation = simulated(scene.node, swap, holder)
    assert (simulation.run.status, simulation.run.received, simulation.grants) == (
        SimulationStatus.DONE,
        900,
        (SimulationGrant.ALLOWANCE,),
    )


def test_a_holder_who_may_not_trade_is_found_out(scene: Scene) -> None:
    token, holder = scene.token("Flagged"), "0x" + "92" * 20
    token.send("mint", holder, 1_000)
    swap = scene.trade(token.address, ZERO_ADDRESS)
    assert simulated(scene.node, swap, holder).run.status is SimulationStatus.DONE
    token.send("block_", holder)
    run = simulated(scene.node, swap, holder).run
    assert (run.status, describe_revert(run.return_data)) == (SimulationStatus.REVERTED, '"may not trade"')


@pytest.mark.parametrize("paid", [0, 899, 901])
def test_a_router_that_misreports_its_payment_is_detected(scene: Scene, paid: int) -> None:
    sold, bought = scene.token("Coin", "A", 18), scene.token("Coin", "B", 18)
    swap = scene.trade(sold.address, bought.address, paid)
    assert simulated(scene.node, swap, POOR).run.received == paid
    elsewhere = scene.router.calldata("trade", sold.address, 1_000, bought.address, 900, POOR)
    assert simulated(scene.node, swap._replace(calldata=elsewhere), POOR).run.received == 0


def test_a_bought_token_that_takes_a_cut_arrives_without_it(scene: Scene) -> None:
    taxed = scene.token("Taxed")
    assert simulated(scene.node, scene.trade(ZERO_ADDRESS, taxed.address), POOR).run.received == 891


def test_a_wallet_with_code_receives_as_it_does(scene: Scene) -> None:
    coin, wallet = scene.token("Coin", "C", 18), scene.chain.deploy(SOURCES()["Wallet"], 800)
    delegating = "0x" + "93" * 20
    scene.set_code(delegating, bytes.fromhex("ef0100" + wallet.address[2:]))
    for sender in (wallet.address, delegating):
        accepted = scene.trade(coin.address, ZERO_ADDRESS, 800, recipient=sender)
        simulation = simulated(scene.node, accepted, sender)
        assert (simulation.run.status, simulation.run.received) == (SimulationStatus.DONE, 800)
        refused = scene.trade(coin.address, ZERO_ADDRESS, 799, recipient=sender)
        run = simulated(scene.node, refused, sender).run
        assert (run.status, describe_revert(run.return_data)) == (SimulationStatus.REVERTED, '"receiver refuses"')


def test_even_a_pool_or_a_token_can_be_the_sender(scene: Scene) -> None:
    """What is called of it while it stands for the sender, its own code answers."""
    coin = scene.token("Coin", "D", 18)
    simulation = simulated(scene.node, scene.trade(coin.address, ZERO_ADDRESS), coin.address)
    assert (simulation.run.status, simulation.run.received) == (SimulationStatus.DONE, 900)


def test_the_router_is_called_by_the_sender_who_signed_too(scene: Scene) -> None:
    simulation = simulated(scene.node, scene.trade(ZERO_ADDRESS, ZERO_ADDRESS)._replace(
        calldata=scene.router.calldata("whoIs")
    ), POOR)  # fmt: skip
    assert simulation.run.return_data == bytes.fromhex(f"{POOR[2:]:0>64}" * 2)


def test_where_no_router_is_nothing_is_called(scene: Scene) -> None:
    swap = scene.trade(ZERO_ADDRESS, ZERO_ADDRESS)._replace(router="0x" + "94" * 20)
    assert simulated(scene.node, swap, POOR).run.status is SimulationStatus.NO_ROUTER


def test_a_token_that_does_not_tell_balances_is_none(scene: Scene) -> None:
    with pytest.raises(SimulationError, match="a token reports no balances"):
        simulated(scene.node, scene.trade(ZERO_ADDRESS, scene.router.address), POOR)
    with pytest.raises(InvalidUpstreamResponse, match=r"^balanceOf\(address\): the contract reverts$"):
        simulated(scene.node, scene.trade(scene.router.address, ZERO_ADDRESS), POOR)


def test_a_call_that_burns_all_gas_is_told_as_a_revert(scene: Scene) -> None:
    swap = scene.trade(ZERO_ADDRESS, ZERO_ADDRESS)._replace(calldata=scene.router.calldata("fail", 4))
    run = simulated(scene.node, swap, POOR).run
    assert (run.status, describe_revert(run.return_data)) == (SimulationStatus.REVERTED, "no reason given")


# Nodes.


def test_the_state_is_that_of_the_block(scene: Scene) -> None:
    bought, swap = scene.token("Coin", "E", 18), scene.trade(ZERO_ADDRESS, ZERO_ADDRESS)
    calldata = scene.router.calldata("trade", ZERO_ADDRESS, 0, bought.address, PLENTY, BOB)
    swap = swap._replace(token_out=bought.address, calldata=calldata)
    then = scene.node.read_head().block
    bought.send("mint", BOB, 1)
    scene.router.send("trade", ZERO_ADDRESS, 0, bought.address, PLENTY, BOB)
    nothing = SenderBalances(Account(0, b""), 0)
    for at in (then, then.number):
        assert simulate_swap(scene.node, at, swap, POOR, nothing).run.received == PLENTY
    assert simulated(scene.node, swap, POOR).run.status is SimulationStatus.REVERTED


def test_a_block_that_the_chain_has_lost_is_no_block(scene: Scene) -> None:
    lost = scene.node.read_head().block._replace(hash="0x" + "12" * 32)
    with pytest.raises(ChainReorganized):
        scene.node.read_account(POOR, lost)
    with pytest.raises(ChainReorganized):
        scene.node.simulate([HypotheticalCall(POOR, ContractCall(POOR, b""), ())], lost)


def test_overrides_change_what_they_name_and_nothing_else(scene: Scene) -> None:
    at = scene.node.read_head().block
    # PUSH1 7 SLOAD SELFBALANCE ADD PUSH0 MSTORE PUSH1 32 PUSH0 RETURN: a word of storage and the balance, summed.
    code = bytes.fromhex("600754" + "47" + "01" + "5f52" + "60205ff3")
    call = ContractCall(POOR, b"")
    calls = [
        HypotheticalCall(BOB, call, ()),
        HypotheticalCall(BOB, call, (StateOverride(POOR, code=code),)),
        HypotheticalCall(BOB, call, (StateOverride(POOR, code=code, balance_wei=3),)),
        HypotheticalCall(
            BOB, call, (StateOverride(POOR, 3, code, ((7, 5), (8, 2**256 - 1))), StateOverride(BOB, 10**30))
        ),
    ]
    assert scene.node.simulate(calls, at) == [b"", slot(0), slot(3), slot(8)]
    assert scene.node.read_account(POOR, at) == Account(0, b"")


SWAP = SimulatedCall("0x" + "71" * 20, ZERO_ADDRESS, "0x" + "72" * 20, BOB, 5, 5, b"")
NOTHING = SenderBalances(Account(0, b""), 0)


@pytest.mark.parametrize(
    ("code", "message"), [(-32602, "too many arguments, want at most 2"), (-32000, "missing trie node 12ab")]
)
def test_a_node_that_cannot_simulate_says_so(code: int, message: str) -> None:
    def answering(_: dict[str, Any]) -> object:
        raise Refused(code, message)

    with serving(answering) as server, node_of(server) as node, pytest.raises(UpstreamRejected) as caught:
        simulate_swap(node, 7, SWAP, POOR, NOTHING)
    assert caught.value.message.endswith(f"rejected eth_call: {message}")
    assert caught.value.hint == "simulating needs a node that supports state overrides and still has the block"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        ("0x", UpstreamRejected, "ignores state overrides, so it cannot simulate"),
        ("0x" + "00" * 32, InvalidUpstreamResponse, "returned an invalid simulation result: "),
        ("0x" + "ff" * 320, InvalidUpstreamResponse, "returned an invalid simulation result: "),
    ],
)
def test_a_node_without_overrides_or_valid_answers_is_refused(
    answer: str, error: type[Exception], message: str
) -> None:
    with serving(lambda _: answer) as server, node_of(server) as node, pytest.raises(error, match=message):
        simulate_swap(node, 7, SWAP, POOR, NOTHING)


def test_a_rate_limit_is_not_a_lack_of_simulation() -> None:
    with serving(lambda _: "0x") as server, node_of(server) as node:
        server.always = says(429)
        with pytest.raises(UpstreamRejected) as caught:
            simulate_swap(node, 7, SWAP, POOR, NOTHING)
    assert caught.value.hint == "try again later, or set a different node"


@pytest.mark.parametrize(("balance", "code"), [("0x", "0x"), ("0x1", "0x1"), (None, "0x"), ("0x1", None), (1, "0x")])
def test_an_account_that_is_told_wrong_is_nonsense(balance: object, code: object) -> None:
    simulation = {"eth_getBalance": balance, "eth_getCode": code}
    invalid = pytest.raises(InvalidUpstreamResponse, match=r"(responded to|returned nothing for) eth_get")
    with serving(lambda calls: simulation[calls["method"]]) as server, node_of(server) as node, invalid:
        node.read_account(POOR, 7)
