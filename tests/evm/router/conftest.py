"""One world for all tests of the router; each test begins with the world as it was."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from swapcli.model.market import Market
from tests.chain.reading import read_market
from tests.chain.world import World
from tests.contracts.evm import Chain


@pytest.fixture(scope="package")
def shared() -> World:
    return World(Chain())


@pytest.fixture(scope="package")
def market(shared: World) -> Market:
    return read_market(shared)


@pytest.fixture
def world(shared: World) -> Iterator[World]:
    with shared.chain.undone():
        yield shared
