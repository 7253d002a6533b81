"""The measurement of streams, small: every subscriber has every block, and each order is searched once a block."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.events import order_queries, state_at
from bench.service_requests import NETWORK
from tests.support.markets import embedded_market


def test_orders_are_distinct() -> None:
    queries = order_queries(50)
    assert len(set(queries)) == 50


def test_each_block_has_other_pools() -> None:
    market = embedded_market(NETWORK)
    states = [state_at(market, number) for number in range(3)]
    assert len({frozenset(each.pools) for each in states}) == 3
    assert [each.block for each in states] == [0, 1, 2]


@pytest.mark.slow
def test_a_small_measurement_runs() -> None:
    command = [sys.executable, "-m", "bench.events", "--subscribers", "6", "--orders", "3", "--blocks", "3"]
    ran = subprocess.run([*command, "--stalled", "1"], capture_output=True, text=True, check=True, timeout=120)
    found = json.loads(ran.stdout)
    assert found["events"] == 18
    assert found["searches_an_order_and_block"] == 1.0
