"""Offers of different routers are simulated together, each by itself, and a hostile one fails alone."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from swapcli.core.errors import SwapcliError, UpstreamRejected
from swapcli.core.model.order import Order
from swapcli.families.reading.calls import ReturnData
from swapcli.payload.evm.simulation import SimulatedCall, SimulationRun, SimulationStatus
from swapcli.payload.simulation.offered_swaps import simulate_offers
from swapcli.state.rpc.node import BlockId, HypotheticalCall
from swapcli.state.rpc.rpc_node import RpcNode
from tests.chain.test_disguised_tokens import SOURCES as DISGUISES
from tests.chain.test_disguised_tokens import TRICKS, start_fees
from tests.chain.trader import USER, Trader
from tests.support.old_node import OldNode

POOR = "0x" + "90" * 20
BURNER, INVALID = "0x" + "66" * 20, "0xfe"
"""An instruction that takes all gas."""


def offers_of(trader: Trader, order: Order, recipient: str) -> tuple[list[SimulatedCall], list[int]]:
    """Return payloads of one order on different pools, and what each of them pays."""
    trades = [
        trader.quote_trade(order._replace(excluded_protocols=frozenset(each)), recipient=recipient)
        for each in ((), ("uniswapV3",), ("uniswapV3", "uniswapV4"))
    ]
    return [SimulatedCall.from_payload(each.payload) for each in trades], [each.amount_due for each in trades]


def received(found: Sequence[SimulationRun | SwapcliError]) -> list[int]:
    return [each.received for each in found if isinstance(each, SimulationRun)]


@pytest.mark.parametrize(("sold", "bought"), [("ETH", "USDC"), ("USDC", "ETH"), ("USDT", "DAI")])
@pytest.mark.parametrize("sender", [USER, POOR])
def test_each_offer_pays_its_quote_to_rich_and_poor(
    trader: Trader, node: RpcNode, sold: str, bought: str, sender: str
) -> None:
    tokens = {**trader.world.tokens, "ETH": trader.world.network.native}
    order = Order(tokens[sold], tokens[bought], 10 ** (tokens[sold].decimals))
    offers, due = offers_of(trader, order, sender)
    found = simulate_offers(node, node.read_head().block, offers, sender)
    assert received(found) == due
    assert len(set(due)) > 1 or sold != "ETH"


def test_offers_may_need_different_approvals_and_values(trader: Trader, node: RpcNode) -> None:
    order = Order(trader.world.tokens["USDC"], trader.world.tokens["DAI"], 10**9)
    offers, due = offers_of(trader, order, POOR)
    without = offers[0]._replace(approvals=())
    paid = offers[0]._replace(value_wei=10**18)
    found = simulate_offers(node, node.read_head().block, [*offers, without, paid], POOR)
    assert received(found[:3]) == due
    assert [each.status for each in found[3:] if isinstance(each, SimulationRun)] == [SimulationStatus.REVERTED] * 2


def test_a_hostile_offer_fails_alone(trader: Trader, node: RpcNode) -> None:
    order = Order(trader.world.network.native, trader.world.tokens["USDC"], 10**18)
    offers, due = offers_of(trader, order, POOR)
    trader.chain.node.ask("anvil_setCode", BURNER, INVALID)
    hostile = [
        offers[0]._replace(router=BURNER),
        offers[0]._replace(router="0x" + "77" * 20),
        offers[0]._replace(calldata=b"\xff" * 100_000),
        offers[0]._replace(calldata=b""),
    ]
    found = simulate_offers(node, node.read_head().block, [*hostile, *offers], POOR)
    assert received(found[4:]) == due
    for each in found[:4]:
        assert not isinstance(each, SimulationRun) or each.status is not SimulationStatus.DONE or each.received <= 0


class RefusingNode(OldNode):
    """A node that refuses a batch, and one call of it."""

    def __init__(self, node: RpcNode, refused: bytes) -> None:
        super().__init__(node)
        self._refused = refused

    def simulate(self, calls: Sequence[HypotheticalCall], at: BlockId) -> list[ReturnData]:
        if len(calls) > 1 and any(self._refused in each.call.calldata for each in calls):
            raise UpstreamRejected("the batch is too large")
        if any(self._refused in each.call.calldata for each in calls):
            raise UpstreamRejected("this call is too large")
        return self._node.simulate(calls, at)


def test_a_refused_batch_is_simulated_one_by_one(trader: Trader, node: RpcNode) -> None:
    order = Order(trader.world.network.native, trader.world.tokens["USDC"], 10**18)
    offers, due = offers_of(trader, order, POOR)
    mark = b"\xde\xad\xbe\xef" * 8
    refusing = RefusingNode(node, mark)
    found = simulate_offers(refusing, node.read_head().block, [offers[0]._replace(calldata=mark), *offers], POOR)
    assert isinstance(found[0], UpstreamRejected)
    assert found[0].message == "this call is too large"
    assert received(found) == due


@pytest.mark.parametrize("is_old", [False, True], ids=["blocks", "no blocks"])
@pytest.mark.parametrize("paid_ppm", [600_000, 1_000_000], ids=["skims", "honest"])
def test_a_router_that_notices_simulations_is_not_believed(
    trader: Trader, node: RpcNode, is_old: bool, paid_ppm: int
) -> None:
    """Its honest twin, which looks at the same, is."""
    order = Order(trader.world.tokens["USDC"], trader.world.tokens["DAI"], 10**9)
    (honest, *_), (due, *_) = offers_of(trader, order, USER)
    offers = [honest]
    for trick in TRICKS.values():
        router = trader.chain.deploy(DISGUISES()["DisguisedSkimmer"], trick, paid_ppm)
        trader.world.give("DAI", router.address, due)
        approvals = tuple(each._replace(spender=router.address) for each in honest.approvals)
        offers.append(honest._replace(router=router.address, approvals=approvals))
    start_fees(trader)
    simulating = OldNode(node) if is_old else node
    believed, *others = simulate_offers(simulating, node.read_head().block, offers, USER)
    assert received([believed]) == [due]
    for name, run in zip(TRICKS, others, strict=True):
        if isinstance(run, SwapcliError):
            assert (is_old, paid_ppm) == (True, 600_000), (name, run)
        else:
            assert run.received == due * paid_ppm // 1_000_000, name
