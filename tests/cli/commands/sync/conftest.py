"""One chain for all tests of the package; settings and a store for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.anvil import running_anvil
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.small_chain import SmallTestChain
from tests.cli.commands.sync.scene import Scene


@pytest.fixture(scope="package")
def small_chain() -> Iterator[tuple[SmallTestChain, Proxy]]:
    with running_anvil() as chain, open_proxy(chain.node.port) as proxy:
        yield SmallTestChain(chain), proxy


@pytest.fixture
def scene(small_chain: tuple[SmallTestChain, Proxy], tmp_path: Path) -> Iterator[Scene]:
    made = Scene(*small_chain, tmp_path)
    yield made
    made.proxy.failures, made.proxy.always = [], None
