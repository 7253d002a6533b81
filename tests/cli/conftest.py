"""The small market as a file, once for all tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.build import CommandResult, swapcli, write_market


@pytest.fixture(scope="session")
def market_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_market(tmp_path_factory.mktemp("market"))


@pytest.fixture(scope="session")
def route(market_file: str) -> Callable[..., CommandResult]:
    """`swapcli route testnet ...` on the small market."""
    return lambda *arguments, **more: swapcli("route", "testnet", *arguments, "--market", market_file, **more)
