"""Default fixtures of the sync tests; some modules override them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from swapcli.state.rpc.rpc_node import RpcNode
from swapcli.state.store import Store
from tests.chain.anvil import running_anvil
from tests.chain.sync.expected_state import store_at, synced
from tests.chain.sync.factory_chain import EVERY_PROTOCOL, TestChain
from tests.support.chain import connected, restored


@pytest.fixture(scope="session")
def factory_chain() -> Iterator[TestChain]:
    """A chain with factories of every kind, and no pools."""
    with running_anvil() as chain:
        yield TestChain(chain)


@pytest.fixture(scope="module")
def prepared_chain(factory_chain: TestChain) -> Iterator[TestChain]:
    """The chain that each test of a module begins with: a pool of every kind."""
    rng = Random("town")
    with restored(factory_chain) as local_chain:
        for name in EVERY_PROTOCOL:
            local_chain.create_pool(rng, name)
        yield local_chain


@pytest.fixture
def local_chain(prepared_chain: TestChain) -> Iterator[TestChain]:
    with restored(prepared_chain) as local_chain:
        yield local_chain


@pytest.fixture
def node(local_chain: TestChain) -> Iterator[RpcNode]:
    with connected(local_chain.chain) as node:
        yield node


@pytest.fixture
def store(local_chain: TestChain, node: RpcNode, tmp_path: Path) -> Iterator[Store]:
    with store_at(tmp_path / "store", local_chain.network) as made:
        synced(made, node)
        yield made
