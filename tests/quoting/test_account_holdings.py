"""What an account holds, read from a node."""

from __future__ import annotations

from swapcli.core.model.token import Token
from swapcli.quoting.account_holdings import read_holdings
from tests.chain.trader import USER, Trader
from tests.support.chain import connected


def test_a_token_that_does_not_answer_is_unknown(trader: Trader) -> None:
    weth = trader.world.network.to_wrapped_token(trader.world.network.native)
    lost = Token("0x" + "ab" * 20, "LOST", "Lost", 18)
    with connected(trader.chain) as node:
        found = read_holdings(node, trader.world.network, USER, [trader.world.network.native, weth, lost])
        assert found.block.number == node.read_head().block.number
    native, wrapped, unknown = found.balances
    assert native.amount
    assert native.amount > 0
    assert wrapped.amount is not None
    assert unknown.amount is None
