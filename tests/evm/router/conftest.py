"""Deploy one set of contracts for all router tests and revert its chain after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.model.market import MarketState
from tests.chain.contract_fixture import ContractFixture
from tests.chain.market_reader import read_market
from tests.contracts.evm import Chain


@pytest.fixture(scope="package")
def shared() -> ContractFixture:
    return ContractFixture(Chain())


@pytest.fixture(scope="package")
def market(shared: ContractFixture) -> MarketState:
    return read_market(shared)


@pytest.fixture
def fixture(shared: ContractFixture) -> Iterator[ContractFixture]:
    with shared.chain.revert_after():
        yield shared
