"""One chain for all tests here, and settings and stores for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.anvil import running_anvil
from tests.chain.living import Village
from tests.chain.proxy import Proxy, proxying
from tests.cli.commands.sync.scene import Scene


@pytest.fixture(scope="package")
def village() -> Iterator[tuple[Village, Proxy]]:
    with running_anvil() as chain, proxying(chain.node.port) as proxy:
        yield Village(chain), proxy


@pytest.fixture
def scene(village: tuple[Village, Proxy], tmp_path: Path) -> Iterator[Scene]:
    made = Scene(*village, tmp_path)
    yield made
    made.proxy.faults, made.proxy.always = [], None
