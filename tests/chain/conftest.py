"""Nodes of the shared chains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.chain import restored

if TYPE_CHECKING:
    from tests.chain.settler_fixture import SettlerTrader


@pytest.fixture(scope="session")
def shared_settler_trader() -> Iterator[SettlerTrader]:
    """A trader of a chain with a model of 0x Settler. Tests take it from `settler_trader`."""
    from tests.chain.settler_fixture import open_settler_trader

    with open_settler_trader() as trader:
        yield trader


@pytest.fixture
def settler_trader(shared_settler_trader: SettlerTrader) -> Iterator[SettlerTrader]:
    """A trader of a chain with a model of 0x Settler, which is reverted after the test."""
    with restored(shared_settler_trader) as trader:
        yield trader
