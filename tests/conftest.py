"""Hypothesis profiles, the recursion limit and the garbage collector, for all tests.

`fixed` draws the same examples on every machine and in every run, so that a failing build means a change. `full` does
the same with more examples, and with the full counts of `tests.examples`. `fuzz` draws new examples each time. The
environment variable `HYPOTHESIS_PROFILE` selects one.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, core, settings
from hypothesis.internal.conjecture import providers
from hypothesis.vendor import pretty

if TYPE_CHECKING:
    from swapcli.state.rpc.rpc_node import RpcNode
    from tests.chain.settler_fixture import SettlerTrader
    from tests.chain.small_chain import SmallTestChain
    from tests.chain.trader import Trader
    from tests.support.redis_server import RedisServer

# Two shared cores: a deadline would test the machine. Sharing one market between examples is intended.
settings.register_profile(
    "fixed",
    max_examples=8,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("full", settings.get_profile("fixed"), max_examples=100)
settings.register_profile(
    "fuzz",
    settings.get_profile("full"),
    derandomize=False,
    database=settings.get_profile("default").database,
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fixed")
settings.load_profile(PROFILE)

if settings.default is not None and settings.default.derandomize:
    # Hypothesis also draws constants from the project's modules, as far as they are imported by then. Which ones these
    # are depends on the tests that ran before in the same worker, and on the path of the checkout.
    providers._get_local_constants = lambda: providers._local_constants

# The collected tests, a million objects, live until the end. Otherwise the garbage collector scans them repeatedly,
# which takes two fifths of the collection time, and a quarter of the time of tests that create many objects.
gc.disable()
_GC_THRESHOLDS = (20_000, 20, 20)

_RECURSION_LIMIT = sys.getrecursionlimit()
_PRINTER = pretty.RepresentationPrinter


def pytest_collection_finish() -> None:
    """Collect garbage from now on, but never scan the tests themselves again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Undo changes made by imported libraries: signing libraries raise the recursion limit a hundredfold, beyond the
    end of the stack, and schemathesis removes values from the examples that hypothesis prints."""
    sys.setrecursionlimit(_RECURSION_LIMIT)
    if type(item) is pytest.Function:
        core.RepresentationPrinter = _PRINTER  # type: ignore[attr-defined]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report comparisons with bytecode that did not run, because this Python has no EVM for them."""
    if sys.version_info < (3, 13):
        return
    from swapcli.testing.evm import NO_EVM

    missing = sum(NO_EVM in str(report.longrepr) for report in terminalreporter.stats.get("skipped", ()))
    if missing:
        terminalreporter.write_line(
            f"not compared with the contracts' bytecode: {missing} tests or files of tests, because {NO_EVM}."
            " Run them with Python 3.11 or 3.12.",
            yellow=True,
        )


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """The URL of a service with all embedded markets in a separate process, shared by the tests of several packages."""
    from tests.support.service_process import run_service  # deferred: few tests need a service

    with run_service() as service:
        yield service.url


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A Redis server shared by the tests of several packages: they use separate keys, and never stop it."""
    from tests.support.redis_server import run_redis

    with run_redis() as server:
        yield server


@pytest.fixture(scope="session")
def shared_trader() -> Iterator[Trader]:
    """The trader of a chain with pools of every family. Tests take it from `trader`, or within `restored`."""
    from tests.chain.trader import open_trader  # deferred: few tests need a chain

    with open_trader() as trader:
        yield trader


@pytest.fixture
def trader(shared_trader: Trader) -> Iterator[Trader]:
    """A funded user of a chain with pools of every family, which is reverted after the test."""
    from tests.support.chain import restored

    with restored(shared_trader) as trader:
        yield trader


@pytest.fixture
def node(trader: Trader) -> Iterator[RpcNode]:
    """A node of the trader's chain."""
    from tests.support.chain import connected

    with connected(trader.chain) as node:
        yield node


@pytest.fixture(scope="session")
def shared_small_chain() -> Iterator[SmallTestChain]:
    """A chain with real factories and few pools. Tests take it from `small_chain`, or within `restored`."""
    from tests.chain.small_chain import open_small_chain

    with open_small_chain() as small_chain:
        yield small_chain


@pytest.fixture
def small_chain(shared_small_chain: SmallTestChain) -> Iterator[SmallTestChain]:
    """A chain with real factories and few pools, which is reverted after the test."""
    from tests.support.chain import restored

    with restored(shared_small_chain) as small_chain:
        yield small_chain


@pytest.fixture(scope="session")
def shared_settler_trader() -> Iterator[SettlerTrader]:
    """A trader of a chain with a model of 0x Settler. Tests take it from `settler_trader`."""
    from tests.chain.settler_fixture import open_settler_trader

    with open_settler_trader() as trader:
        yield trader


@pytest.fixture
def settler_trader(shared_settler_trader: SettlerTrader) -> Iterator[SettlerTrader]:
    """A trader of a chain with a model of 0x Settler, which is reverted after the test."""
    from tests.support.chain import restored

    with restored(shared_settler_trader) as trader:
        yield trader
