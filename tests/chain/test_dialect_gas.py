"""The gas of most transactions is estimated within ten percent, for every router."""

from __future__ import annotations

from tests.chain.gas import measure, share_within
from tests.chain.settler_fixture import SettlerTrader
from tests.chain.universal_fixture import open_universal_trader
from tests.examples import examples

ROUTES = examples(24, full=200)
"""Of 24 routes, the share within the tolerance has a standard error of 5%."""


def test_the_gas_of_the_universal_router_is_estimated() -> None:
    with open_universal_trader() as trader:
        samples = list(measure(trader, 1_000, ROUTES))
    assert share_within(samples) >= examples(80, full=90) / 100


def test_the_gas_of_settler_is_estimated(settler_trader: SettlerTrader) -> None:
    samples = list(measure(settler_trader, 1_000, ROUTES))
    assert share_within(samples) >= examples(85, full=95) / 100
