"""The benchmark of comparisons with aggregators: what counts as ranked right, and one run on a chain."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.chain.aggregators import DEAD, Compared, compare_orders, opened, rank, table
from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.alternatives import (
    Alternative,
    AlternativeKind,
    AlternativeSimulation,
    Comparison,
    SimulationOutcome,
)
from tests.chain.trader import Trader
from tests.support.chain import restored

BASE = find_network("base")
ORDER = Order(BASE.native, BASE.tokens[0], 1)


def row(name: str, says: int | None, paid: int | None) -> Alternative:
    outcome = SimulationOutcome.NOT_SIMULATED if paid is None else SimulationOutcome.PAID
    kind = AlternativeKind.AGGREGATOR if name else AlternativeKind.SPLIT
    return Alternative(kind, name, says, simulation=AlternativeSimulation(outcome, amount_out=paid))


OWN, HONEST, LIAR, SILENT = row("", 100, 100), row("Honest", 98, 98), row("Liar", 120, 90), row("Dead", None, None)


@pytest.mark.parametrize(
    ("rows", "ranks"),
    [
        ([OWN, HONEST, LIAR, SILENT], (True, False)),
        ([OWN, LIAR, HONEST, SILENT], (False, False)),
        ([SILENT, OWN, HONEST, LIAR], (False, False)),
        ([OWN, HONEST, row("Liar", 120, 91), SILENT], (False, False)),
        ([OWN, HONEST, row("Liar", 97, 90), SILENT], (True, True)),
        ([row("", 100, 99), HONEST, LIAR], (False, False)),
    ],
)
def test_only_what_is_mined_ranks_right(rows: Sequence[Alternative], ranks: tuple[bool, bool]) -> None:
    found = Comparison(BASE, ORDER, tuple(rows), None)
    assert rank(found, {"honest": 98, "liar": 90}) == ranks


def test_the_table_counts_and_compares_times() -> None:
    compared = [
        Compared(True, False, has_late, total_s, 0.4, own_s, 0.02)
        for has_late, total_s, own_s in ((False, 0.5, 0.03), (False, 0.6, 0.02), (True, 1.0, 0.02))
    ]
    text = "\n".join(table(compared))
    assert "| ranked right by simulated output | 3 of 3 |" in text
    assert "| right by what the aggregators say | 0 of 3 |" in text
    assert "1.38 x; 150 / " in text
    assert "2.50 x; 600 / " in text
    assert "20.0, 20.0 ms" in text


@pytest.mark.slow
def test_orders_on_a_chain_are_ranked_right(shared_trader: Trader, tmp_path: Path) -> None:
    with restored(shared_trader) as trader, opened(trader, tmp_path, timeout_s=5.0) as (market, fake):
        compared = list(compare_orders(trader, market, fake, orders=3, seed=1, timeout_s=5.0, late_every=100))
    assert [each.is_right for each in compared] == [True] * 3
    assert all(each.after_slowest_s > 0.0 < each.alone_s for each in compared)
    assert DEAD in fake.characters
