"""A node for each test, with a world of its own: one starts in hundredths of a second, and slows down as it ages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.trader import Trader


@pytest.fixture
def anvil() -> Iterator[AnvilChain]:
    with running_anvil() as chain:
        yield chain


@pytest.fixture
def trader(anvil: AnvilChain) -> Trader:
    world = ContractFixture(anvil)
    made = Trader(world, anvil, read_market(world))
    made.fund_user()
    return made
