"""A sender without code is simulated where a node simulates no blocks."""

from __future__ import annotations

import pytest

from swapcli.core.model.order import Order
from swapcli.core.model.transaction import Transaction
from swapcli.core.networks.permit2 import PERMIT2
from swapcli.payload.evm.simulation import SimulatedCall, Trial, Watch
from swapcli.payload.simulation.plain_sender import PlainSwap, are_near
from tests.chain.trader import USER, Trader

BOB, TOKEN = "0x" + "b0" * 20, "0x" + "70" * 20
WATCHED = (Watch(TOKEN, USER), Watch(TOKEN, BOB))
TRANSFER = Transaction(TOKEN, f"0xa9059cbb{int(BOB, 16):064x}{5:064x}")


def swap_of(trader: Trader, sold: str) -> SimulatedCall:
    token = trader.world.network.native if sold == "ETH" else trader.world.tokens[sold]
    trade = trader.quote_trade(Order(token, trader.world.tokens["USDC"], 10**18), recipient=USER)
    return SimulatedCall.from_payload(trade.payload)


def test_transfers_are_pulled_and_sales_are_made_by_the_router(trader: Trader) -> None:
    swap = swap_of(trader, "DAI")
    sale = Transaction(swap.router, "0x12345678")
    trials = (Trial(USER, WATCHED, (sale,)), Trial(BOB, WATCHED, (sale,)), Trial(BOB, WATCHED, (TRANSFER,)))
    plain = PlainSwap.of(swap, USER, trials)
    assert [position for position, _ in plain.made] == [0, 2], "nobody else can sell for the recipient"
    assert all(trial.account == swap.router for _, trial in plain.made)
    (pulled,) = plain.made[1][1].calls
    assert pulled == Transaction(TOKEN, f"0x23b872dd{int(BOB, 16):064x}{int(BOB, 16):064x}{5:064x}")


def test_a_swap_with_value_is_followed_by_no_sale(trader: Trader) -> None:
    swap = swap_of(trader, "ETH")
    sale = Trial(USER, WATCHED, (Transaction(swap.router, "0x12345678"),))
    assert PlainSwap.of(swap, USER, (sale,)).made == ()


def test_allowances_are_searched_once_and_that_of_permit2_never(trader: Trader) -> None:
    swap = swap_of(trader, "DAI")
    (approval,) = swap.approvals
    twice = swap._replace(approvals=(approval, approval, approval._replace(expiration_s=2_000_000_000)))
    assert len(next(PlainSwap.of(twice, USER, ()).read_grants())) == 2, "the two calls of one search"
    only_permit2 = PlainSwap.of(twice._replace(approvals=twice.approvals[2:]), USER, ())
    with pytest.raises(StopIteration) as end:
        next(only_permit2.read_grants())
    assert [each.address for each in end.value.value] == [PERMIT2]


def test_an_allowance_without_a_slot_has_no_grant(trader: Trader) -> None:
    read = PlainSwap.of(swap_of(trader, "DAI"), USER, ()).read_grants()
    next(read)
    with pytest.raises(StopIteration) as end:
        read.send([b"", b""])
    assert end.value.value is None


@pytest.mark.parametrize(
    ("amount", "other", "expected"),
    [(0, 3, True), (0, 4, False), (10**9, 10**9 - 10**5, True), (10**9, 10**9 - 2 * 10**5, False)],
)
def test_amounts_are_near_that_differ_by_rounding(amount: int, other: int, expected: bool) -> None:
    assert are_near(amount, other) == are_near(other, amount) == expected
