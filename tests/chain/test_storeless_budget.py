"""Look-ups for quotes keep to the requests that public nodes take, and continue where these have ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from swapcli.core.errors import NoRoute
from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.network import PublicNode
from swapcli.core.model.order import Order
from swapcli.core.model.quote_request import QuoteRequest
from swapcli.quoting.sources.found_pools import FoundPoolSource
from swapcli.quoting.sources.live import LiveSource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.found_pools_file import FoundPoolsFile
from swapcli.state.rpc.public_nodes import PublicEndpoint, PublicRpcNode, open_public_node
from tests.chain.contract_fixture import WETH
from tests.chain.file_world import ETHEREUM, FileWorld, open_file_world
from tests.chain.proxy import Proxy, open_proxy
from tests.quoting.proving.proof_run import renew_blocks


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FileWorld]:
    with open_file_world(ETHEREUM, tmp_path_factory.mktemp("budget")) as world:
        renew_blocks(world.trader)
        yield world


@contextmanager
def open_source(world: FileWorld, folder: Path, proxy: Proxy, quote_requests: int | None) -> Iterator[LiveSource]:
    """Open what a command opens that has only a public node with this limit."""
    network = world.fixture.network
    url = f"http://127.0.0.1:{proxy.server_port}"
    node = open_public_node(
        [PublicEndpoint(PublicNode(url, quote_requests=quote_requests), url)],
        kind=network.kind,
        chain_id=network.chain_id,
        block_time_s=60.0,
    )
    assert isinstance(node, PublicRpcNode)
    file = FoundPoolsFile(folder, network, SYSTEM_CLOCK.now_s)
    source = FoundPoolSource(network, file, SYSTEM_CLOCK, why_no_node=lambda: ("no node is read", "set one"))
    live = LiveSource(source, node, SYSTEM_CLOCK, close_node=node.close)
    try:
        yield live
    finally:
        live.close()


def quote(source: LiveSource, world: FileWorld) -> tuple[int, str]:
    """Return the output and the description of the state of a quote."""
    order = Order(world.tokens[WETH], world.tokens["USDC"], 10**18)
    answer = source.quote(QuoteRequest(order, ApiVersion.V2))
    return answer.result.output_amount, answer.state_source.description


def test_a_first_quote_takes_few_requests(world: FileWorld, tmp_path: Path) -> None:
    with open_proxy(world.chain.node.port) as proxy:
        with open_source(world, tmp_path, proxy, None) as source:
            unlimited = quote(source, world)
        first = len(proxy.exchanges)
        assert first <= 12
        with open_source(world, tmp_path, proxy, None) as source:
            assert quote(source, world)[0] == unlimited[0]
        assert len(proxy.exchanges) - first <= 4


@pytest.mark.parametrize("limit", [6, 8, 12])
def test_a_small_limit_is_kept_and_the_next_quotes_continue(world: FileWorld, tmp_path: Path, limit: int) -> None:
    """Each quote sends no more than it may; after some, the amount is that of a quote without a limit."""
    with open_proxy(world.chain.node.port) as proxy:
        with open_source(world, tmp_path / "unlimited", proxy, None) as source:
            expected = quote(source, world)[0]
        for _ in range(8):
            before = len(proxy.exchanges)
            with open_source(world, tmp_path, proxy, limit) as source:
                try:
                    amount, description = quote(source, world)
                except NoRoute:
                    amount, description = 0, ""
            assert len(proxy.exchanges) - before <= limit
            if amount == expected and "ended early" not in description:
                return
    pytest.fail(f"after 8 quotes, {amount} instead of {expected}: {description}")
