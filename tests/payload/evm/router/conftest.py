"""Deploy one set of contracts for all router tests and revert its chain after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.core.model.market import MarketState
from swapcli.testing.evm import Chain
from tests.chain.market_reader import read_market
from tests.payload.evm.router.vault_pools import VaultPools


@pytest.fixture(scope="package")
def shared() -> VaultPools:
    return VaultPools(Chain())


@pytest.fixture(scope="package")
def market(shared: VaultPools) -> MarketState:
    return read_market(shared)


@pytest.fixture
def fixture(shared: VaultPools) -> Iterator[VaultPools]:
    with shared.chain.revert_after():
        yield shared
