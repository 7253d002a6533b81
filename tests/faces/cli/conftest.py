"""The small market as a file, once for all tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.command import CommandResult, run_swapcli
from tests.support.testnet import write_market_file


@pytest.fixture(scope="session")
def market_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_market_file(tmp_path_factory.mktemp("market"))


@pytest.fixture(scope="session")
def route(market_file: str) -> Callable[..., CommandResult]:
    """`swapcli route testnet ...` on the small market."""
    return lambda *arguments, **more: run_swapcli("route", "testnet", *arguments, "--market", market_file, **more)
