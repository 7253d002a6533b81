"""`swapcli hindsight` on a chain with pools of every family."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.proxy import open_proxy
from tests.chain.trader import Trader
from tests.faces.cli.commands.hindsight.hindsight_command import HindsightCommand
from tests.quoting.verification.test_hindsight import announce_swaps


@pytest.fixture
def command(trader: Trader, tmp_path: Path) -> Iterator[HindsightCommand]:
    announce_swaps(trader)
    with open_proxy(trader.chain.node.port) as proxy:
        yield HindsightCommand(trader, tmp_path, proxy)
