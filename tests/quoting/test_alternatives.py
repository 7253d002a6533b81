"""What an alternative pays is what its simulation showed, else what it says."""

from __future__ import annotations

import pytest

from swapcli.core.model.order import Order
from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.alternatives import (
    Alternative,
    AlternativeKind,
    AlternativeSimulation,
    Comparison,
    SimulationOutcome,
)

BASE = find_network("base")
SAYS = Alternative(AlternativeKind.AGGREGATOR, "A", 1_000, 10, 0.1, 990)
PAID = AlternativeSimulation(SimulationOutcome.PAID, "", 7, 900, 20, 0.2, 880)


@pytest.mark.parametrize(
    ("simulation", "paid", "net", "gas"),
    [
        (None, 1_000, 990, (10, 0.1)),
        (AlternativeSimulation(SimulationOutcome.NOT_SIMULATED, "no node"), 1_000, 990, (10, 0.1)),
        (PAID, 900, 880, (20, 0.2)),
        (PAID._replace(outcome=SimulationOutcome.REPLAYED), 900, 880, (20, 0.2)),
        (AlternativeSimulation(SimulationOutcome.FAILED, "it reverts", 7), None, None, (None, None)),
    ],
)
def test_what_it_pays(
    simulation: AlternativeSimulation | None, paid: int | None, net: int | None, gas: tuple[object, object]
) -> None:
    alternative = SAYS._replace(simulation=simulation)
    assert (alternative.amount_paid, alternative.paid_after_gas, alternative.gas_paid) == (paid, net, gas)


def test_differences_are_of_what_is_paid() -> None:
    split = Alternative(AlternativeKind.SPLIT, "", 1_000, 10, 0.1, 990, simulation=PAID._replace(amount_out=1_000))
    rows = (split, SAYS._replace(simulation=PAID))
    found = Comparison(BASE, Order(BASE.native, BASE.tokens[0], 1), rows, None)
    assert found.split == split
    assert found.is_simulated
    assert found.versus_split_bps(rows[1]) == -1_000
    assert found.versus_best_bps(rows[1]) == 0
    assert not found._replace(alternatives=(SAYS,)).is_simulated
