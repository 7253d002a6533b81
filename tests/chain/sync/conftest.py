"""What most tests of syncing begin with; some have a town, or a store, of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.store import Store
from tests.chain.anvil import running_anvil
from tests.chain.sync.town import EVERY_PROTOCOL, Town
from tests.chain.sync.truth import connected, store_at, synced


@pytest.fixture
def town() -> Iterator[Town]:
    """With a pool of every kind."""
    rng = Random("town")
    with running_anvil() as chain:
        made = Town(chain)
        for name in EVERY_PROTOCOL:
            made.make(rng, name)
        yield made


@pytest.fixture
def node(town: Town) -> Iterator[RpcNode]:
    with connected(town.chain) as made:
        yield made


@pytest.fixture
def store(town: Town, node: RpcNode, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", town.network) as made:
        synced(made, node)
        yield made
