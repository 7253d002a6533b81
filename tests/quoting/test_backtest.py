"""Figures of a backtest."""

from __future__ import annotations

import pytest

from swapcli import Market
from swapcli.quoting.backtest import BacktestOrder, BacktestQuote, summarize_backtest


@pytest.fixture
def order() -> BacktestOrder:
    with Market.embedded("base", settings={"live": "never"}) as market:
        return BacktestOrder("a", market.token("ETH"), market.token("USDC"), 2 * 10**18)


def test_gains_are_after_gas_where_that_is_known() -> None:
    quote = BacktestQuote(1, 1, "a", 1, 10_200, 10_100, 1, 10_000, 10_000)
    assert quote.gain_bps == 100
    assert quote._replace(output_after_gas=None).gain_bps == 200
    assert quote._replace(single_path_after_gas=-5).gain_bps == 200, "gas costs more than the path pays"
    assert quote._replace(single_out=None, single_path_after_gas=None).gain_bps is None
    assert quote._replace(amount_out=None, output_after_gas=None).gain_bps is None


def test_a_summary_counts_wins_and_failures(order: BacktestOrder) -> None:
    def quote(block: int, amount_out: int | None, single: int = 6_000) -> BacktestQuote:
        return BacktestQuote(block, block, "a", order.amount_in, amount_out, amount_out, 1, single, single)

    quotes = [quote(1, 6_000), quote(2, 6_006), quote(3, 6_060), quote(4, None)._replace(error="no route")]
    other = order._replace(id="b")
    summary = summarize_backtest([order, other], quotes)
    assert (summary.quoted, summary.failed) == (3, 1)
    assert summary.win_share == pytest.approx(2 / 3)
    assert summary.gains is not None
    assert summary.gains.median == pytest.approx(10)
    first, second = summary.orders
    assert first.rates is not None
    assert first.rates.median == pytest.approx(6_006 / 10**6 / 2)
    assert (second.quoted, second.rates, second.gains, second.win_share) == (0, None, None, None)
