"""Each bar of users' orders can be missed."""

from __future__ import annotations

from bench.optimum.net_proof import Proof
from bench.orders.question import answer
from tests.bench.orders.figures import JUDGED, ablation, order_figures, paired, routed
from tests.bench.support import missed_rows


def test_good_figures_miss_nothing() -> None:
    found = order_figures()
    assert missed_rows(answer(found)) == []
    rows = {row.figure: row for row in answer(found).tables[0].rows}
    row = rows["real orders, 1 gwei, to abc: CPU ratios; bps ahead; $"]
    assert (row.bar, row.reached) == ("≤ 1 / – / ≤ 1 / –; ≥ -0.001", "1.00 / 1.00 / 1.00 / 1.00; +0.0000; +0.00")


def test_slower_orders_and_lower_outputs_are_misses() -> None:
    found = order_figures()
    slow = paired("real", 1.0)._replace(rows=[[routed(10**9, ms=1.1)] * 3, [routed(10**9)] * 3])
    low = paired("real", 1.0)._replace(rows=[[routed(10**9 - 10**6)] * 3, [routed(10**9)] * 3])
    figure = "real orders, 1 gwei, to abc: CPU ratios; bps ahead; $"
    assert missed_rows(answer(found._replace(quotes=[slow]))) == [figure]
    assert missed_rows(answer(found._replace(quotes=[low]))) == [
        figure,
        "orders behind by > 0.05 bps and a cent, of 3",
    ]


def test_without_another_revision_there_are_milliseconds() -> None:
    found = order_figures()
    alone = [quotes._replace(rows=quotes.rows[:1]) for quotes in found.quotes]
    rows = answer(found._replace(revisions=["this"], quotes=alone)).tables[0].rows
    assert rows[0].figure == "real orders, 0 gwei: CPU ms, mean / p50 / p95 / maximum"
    assert rows[0].reached == "1.0 / 1.0 / 1.0 / 1.0"


def test_slow_orders_of_pushed_states_loose_proofs_and_idle_mechanisms_are_misses() -> None:
    found = order_figures()
    slowest = paired("pushed", 0.01)._replace(rows=[[routed(5, ms=1.0), routed(5), routed(5, ms=4.1)]] * 2)
    assert missed_rows(answer(found._replace(quotes=[slowest]))) == ["pushed states: slowest order to the median"]
    loose = found.proofs[0]._replace(found=[Proof(0.03, True, 0.1, 1.1)])
    assert missed_rows(answer(found._replace(proofs=[loose]))) == [
        "real orders, 1 gwei: proven gap, bps, p50 / p95; time to a search"
    ]
    assert missed_rows(answer(found._replace(residuals=[0.02, 0.0]))) == [
        "pushed state: main solves with a residual above 1%, of 2"
    ]
    behind = [*found.small_markets, JUDGED._replace(ahead_bps=0.06)]
    assert missed_rows(answer(found._replace(small_markets=behind))) == [
        "small markets: brute force is ahead by > 0.05 bps and two base units, of 4"
    ]
    assert missed_rows(answer(found._replace(ablations=[ablation("detours", 10**9)]))) == [
        "mechanisms of the search that gain in no world, of 1"
    ]
