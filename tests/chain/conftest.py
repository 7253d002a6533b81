"""A node for each test, with a world of its own: one starts in hundredths of a second, and slows down as it ages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.chain.anvil import AnvilChain, running_anvil
from tests.chain.reading import read_market
from tests.chain.trading import Desk
from tests.chain.world import World


@pytest.fixture
def anvil() -> Iterator[AnvilChain]:
    with running_anvil() as chain:
        yield chain


@pytest.fixture
def desk(anvil: AnvilChain) -> Desk:
    world = World(anvil)
    made = Desk(world, anvil, read_market(world))
    made.endow()
    return made
