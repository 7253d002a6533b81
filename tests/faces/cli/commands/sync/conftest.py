"""A chain behind a proxy, settings and a store for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chain.proxy import open_proxy
from tests.chain.small_chain import SmallTestChain
from tests.faces.cli.commands.sync.scene import Scene


@pytest.fixture
def scene(small_chain: SmallTestChain, tmp_path: Path) -> Iterator[Scene]:
    with open_proxy(small_chain.chain.node.port) as proxy:
        yield Scene(small_chain, proxy, tmp_path)
