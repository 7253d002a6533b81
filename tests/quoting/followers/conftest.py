"""A store with a first block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from swapcli.state.store import Store
from tests.quoting.followers.build import NETWORK, START, write_block
from tests.state.store.build import create


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with create(path, NETWORK) as store:
        write_block(store, 1, START)
        yield store
