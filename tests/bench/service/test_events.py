"""The measurement of streams, small: every subscriber has every block, and each order is searched once a block."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bench.service.events import order_queries


def test_orders_are_distinct() -> None:
    queries = order_queries(50)
    assert len(set(queries)) == 50


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_small_measurement_runs(workers: int) -> None:
    command = [sys.executable, "-m", "bench.service.events", "--subscribers", "6", "--orders", "3", "--blocks", "3"]
    ran = subprocess.run(
        [*command, "--stalled", "1", "--workers", str(workers)], capture_output=True, text=True, check=True, timeout=120
    )
    found = json.loads(ran.stdout)
    assert found["events"] == 18
    assert 1.0 <= found["searches_an_order_and_block"] <= workers
