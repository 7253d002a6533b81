"""Default fixtures of the sync tests; some modules override them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.chain.rpc_node import RpcNode
from swapcli.store import Store
from tests.chain.anvil import running_anvil
from tests.chain.sync.expected_state import connected, store_at, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain


@pytest.fixture
def local_chain() -> Iterator[TestChain]:
    """With a pool of every kind."""
    rng = Random("town")
    with running_anvil() as chain:
        made = TestChain(chain)
        for name in EVERY_PROTOCOL:
            made.create_pool(rng, name)
        yield made


@pytest.fixture
def node(local_chain: TestChain) -> Iterator[RpcNode]:
    with connected(local_chain.chain) as made:
        yield made


@pytest.fixture
def store(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", local_chain.network) as made:
        synced(made, node)
        yield made
