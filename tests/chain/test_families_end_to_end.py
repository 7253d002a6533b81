"""Random routes through the further families too pay what was quoted, to the unit, on a local chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

from tests.chain.families_fixture import FURTHER_PROTOCOLS, families_of, open_families_trader
from tests.chain.trader import Trade, Trader, check_outcome

SAMPLE, ALL = 25, 600


@pytest.fixture(scope="module")
def trader_of_families() -> Iterator[Trader]:
    with open_families_trader() as trader:
        yield trader


@pytest.mark.parametrize("count", [SAMPLE, pytest.param(ALL, marks=pytest.mark.slow)])
def test_mixed_routes_pay_what_was_quoted(trader_of_families: Trader, count: int) -> None:
    seen: Counter[str] = Counter()
    for trade in trader_of_families.trades(Random(f"families {count}"), count):
        check_outcome(trade, trader_of_families.execute(trade))
        check_state(trader_of_families, trade)
        found = families_of(iter(trade.replay.pools_after.values()))
        seen.update(found)
        seen["several"] += len(found) > 1
        seen["routes"] += 1
    assert seen["routes"] == count
    assert all(seen[protocol.family or ""] > count // 10 for protocol in FURTHER_PROTOCOLS)
    assert seen["several"] > count // 10


def check_state(trader: Trader, trade: Trade) -> None:
    """Compare the pools with the replay; the totals of a vault are beyond what its pool knows."""
    after = trade.replay.pools_after
    read = {key: pool for key, pool in trader.pools_of(trade).items() if pool.family != "vault"}
    assert read == {key: pool for key, pool in after.items() if pool.family != "vault"}
