"""A service that follows a chain over WebSocket and IPC: every pool is right through cuts and reorganizations."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from urllib.request import urlopen

import pytest

from swapcli.faces.service.market_followers import FollowerThreads
from swapcli.faces.service.market_registry import MarketRegistry
from swapcli.quoting.followers.market_follower import FollowedStore
from swapcli.state.rpc.head_source import POLLING_HINT, FollowMode, SubscribedHeads
from swapcli.state.rpc.rpc_node import NodePolicy, RpcEndpoint, RpcNode
from swapcli.state.rpc.subscribed_connection import LiveConnection
from tests.chain.anvil import CHAIN_ID, running_anvil
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import SECRET
from tests.chain.settings import url_of, websocket_url, write_settings
from tests.chain.small_chain import SmallTestChain, open_small_chain
from tests.chain.sync.expected_state import fresh, store_at, synced
from tests.examples import few
from tests.state.store.build import only
from tests.support.chain import connected
from tests.support.command import clean_environment
from tests.support.service_process import SWAPCLI_COMMAND, ServiceProcess, run_service
from tests.support.tcp_proxy import ProxyState, TcpProxy, open_tcp_proxy
from tests.support.waiting import until

PATIENCE_S = 30.0
POLL_S = 1.0
NAME = "anvil"
FAST_BLOCK_S = 0.3
WARMUP_BLOCKS, FAST_BLOCKS = 6, 20
"""Blocks before the time between them is known, and then."""


class LiveService:
    """The followed market of a service whose node is reached through `proxy`."""

    def __init__(self, small_chain: SmallTestChain, proxy: TcpProxy, path: Path, *, reads_http: bool) -> None:
        self.small_chain, self.proxy = small_chain, proxy
        network = small_chain.network
        self.heads = SubscribedHeads(POLL_S)
        connection = LiveConnection(
            websocket_url(proxy.port), "the node", chain_id=CHAIN_ID, timeout_s=2.0, heads=self.heads
        )
        url = url_of(small_chain.chain)
        self.node = RpcNode(
            [RpcEndpoint(url, url, connection=None if reads_http else connection)], CHAIN_ID, NodePolicy(timeout_s=2.0)
        )
        followed = FollowedStore(network, only(network), path, self.node, self.heads)
        self.registry = MarketRegistry([network], {}, followed=[network.name])
        self.threads = FollowerThreads([followed], self.registry)

    def count_wrong(self, node: RpcNode) -> int | None:
        """Return how many published pools differ from a fresh read; None unless they are of the latest block."""
        source = self.registry.sources.get(self.small_chain.network.name)
        head = self.small_chain.head()
        if source is None or source.market.block != head:
            return None
        expected = fresh(node, source.market.pools.values(), head)
        return sum(expected.get(key) != pool for key, pool in source.market.pools.items())

    def check_right(self, node: RpcNode) -> None:
        """Wait until the latest block is published, and fail unless every pool of it is right."""
        until(lambda: self.count_wrong(node) == 0)


@contextmanager
def live_service(small_chain: SmallTestChain, folder: Path, *, reads_http: bool) -> Iterator[LiveService]:
    with connected(small_chain.chain) as node, store_at(folder / "store", small_chain.network) as store:
        synced(store, node)
    with open_tcp_proxy(small_chain.chain.node.port) as proxy:
        service = LiveService(small_chain, proxy, folder / "store", reads_http=reads_http)
        with service.threads:
            yield service


def follow_through_failures(
    small_chain: SmallTestChain, folder: Path, *, blocks: int, cuts: int, reads_http: bool
) -> None:
    """Make `blocks` blocks, reorganize some, and cut the connection `cuts` times. Check the pools now and then."""
    rng = Random(f"{blocks} blocks")
    cut_count = 0
    with (
        connected(small_chain.chain) as node,
        live_service(small_chain, folder, reads_http=reads_http) as service,
    ):
        service.check_right(node)
        start = small_chain.head()
        while (done := small_chain.head() - start) < blocks:
            if rng.random() < 0.1:
                turn = small_chain.prepare_reorg(rng)
                replaced = small_chain.head()
                if rng.random() < 0.5:
                    time.sleep(0.1)
                turn()
                # A shorter chain replaces none.
                small_chain.chain.node.ask("anvil_mine", hex(max(6, replaced + 1 - small_chain.head())))
            else:
                small_chain.run_random_activity(rng, 2)
            if cut_count * blocks < cuts * done:
                cut_count += service.proxy.cut()
            if rng.random() < 0.2:
                service.check_right(node)
        while cut_count < cuts:
            cut_count += service.proxy.cut()
            small_chain.run_random_activity(rng, 1)
            service.check_right(node)
        service.check_right(node)
        until(lambda: small_chain.chain.node.ask("evm_mine") and service.heads.mode is FollowMode.SUBSCRIPTION)
        service.check_right(node)


@pytest.mark.parametrize("reads_http", few([True, False], 1))
def test_pools_are_right_through_cuts_and_reorgs(small_chain: SmallTestChain, tmp_path: Path, reads_http: bool) -> None:
    follow_through_failures(small_chain, tmp_path, blocks=40, cuts=4, reads_http=reads_http)


@pytest.mark.slow
@pytest.mark.parametrize("reads_http", [True, False])
def test_1000_blocks_with_50_cuts_have_no_wrong_pool(tmp_path: Path, reads_http: bool) -> None:
    with open_small_chain() as chain:
        follow_through_failures(chain, tmp_path, blocks=1_000, cuts=50, reads_http=reads_http)


def test_blocks_are_polled_while_the_connection_is_away(small_chain: SmallTestChain, tmp_path: Path) -> None:
    with (
        connected(small_chain.chain) as node,
        live_service(small_chain, tmp_path, reads_http=True) as service,
    ):
        service.check_right(node)
        service.proxy.state = ProxyState.REFUSING
        service.proxy.cut()
        until(lambda: service.heads.problem)
        small_chain.run_random_activity(Random("away"))
        service.check_right(node)
        assert service.threads.modes() == {small_chain.network.name: FollowMode.POLLING}
        service.proxy.state = ProxyState.FORWARDING
        until(lambda: small_chain.chain.node.ask("evm_mine") and service.heads.mode is FollowMode.SUBSCRIPTION)
        service.check_right(node)
        assert service.threads.figures()[small_chain.network.name].failures == 0


def is_subscribed(service: ServiceProcess) -> bool | None:
    """Return what the metrics of the service say; None before its first state."""
    with urlopen(f"{service.url}/metrics") as response:
        lines = response.read().decode().splitlines()
    figures = [line.split()[-1] for line in lines if line.startswith("swapcli_market_subscribed{")]
    return {"1.0": True, "0.0": False}[figures[0]] if figures else None


@pytest.mark.slow
def test_a_service_reports_how_it_follows(small_chain: SmallTestChain, tmp_path: Path) -> None:
    chain = small_chain.chain
    with open_tcp_proxy(chain.node.port) as proxy:
        url = websocket_url(proxy.port).replace("//", f"//user:{SECRET}@")
        settings = write_settings(tmp_path, small_chain.network, url, timeout_s=1.0)
        (tmp_path / "stores").mkdir()
        with (
            connected(chain) as node,
            store_at(tmp_path / "stores" / f"{NAME}.sqlite", small_chain.network) as store,
        ):
            synced(store, node)
        port = proxy.port
        with run_service("--networks", NAME, env={"SWAPCLI_CONFIG": str(settings)}) as service:

            def becomes_subscribed() -> bool:
                chain.node.ask("evm_mine")
                return bool(is_subscribed(service))

            until(becomes_subscribed)
            proxy.state = ProxyState.REFUSING
            proxy.cut()
            until(lambda: is_subscribed(service) is False)
            until(lambda: any("following" in line for line in service.log_lines()))
            proxy.state = ProxyState.FORWARDING
            until(becomes_subscribed)
            until(lambda: sum("following" in line for line in service.log_lines()) == 2)
            started_s = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - started_s < 4
    lines = [json.loads(line) for line in service.stderr.splitlines()]
    modes = [line for line in lines if "following" in line]
    assert [line["following"] for line in modes] == ["polling", "subscription"]
    assert modes[0]["message"] == f"no connection to {websocket_url(port)}"
    check_secrets_hidden(service.stderr)
    assert not any("defect" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", few([signal.SIGINT, signal.SIGTERM], 1))
def test_a_watch_over_ipc_sees_every_block(number: signal.Signals, tmp_path: Path) -> None:
    ipc_path = tmp_path / "anvil.ipc"
    with running_anvil(ipc_path=ipc_path) as chain:
        small_chain = SmallTestChain(chain)
        settings = write_settings(tmp_path, small_chain.network, str(ipc_path), timeout_s=2.0)
        command = [*SWAPCLI_COMMAND, "sync", NAME, "--watch", "--json"]
        environment = clean_environment({"SWAPCLI_CONFIG": str(settings)})
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            assert process.stdout
            first = json.loads(process.stdout.readline())["state"]["block"]
            blocks = []
            for _ in range(20):
                chain.node.ask("evm_mine")
                blocks.append(json.loads(process.stdout.readline())["block"])
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, out, err) == (0, "", "")
        assert blocks == list(range(first + 1, first + 21))


@pytest.mark.slow
def test_a_watch_over_http_keeps_up_with_fast_blocks(tmp_path: Path) -> None:
    """The network says that a block takes a second."""
    with running_anvil() as chain:
        settings = write_settings(tmp_path, SmallTestChain(chain).network, url_of(chain), timeout_s=2.0)
        command = [*SWAPCLI_COMMAND, "sync", NAME, "--watch", "--json"]
        environment = clean_environment({"SWAPCLI_CONFIG": str(settings)})
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            assert process.stdout
            first = json.loads(process.stdout.readline())["state"]["block"]
            due_s = time.monotonic()
            for _ in range(WARMUP_BLOCKS + FAST_BLOCKS):
                chain.node.ask("evm_mine")
                due_s += FAST_BLOCK_S
                time.sleep(max(due_s - time.monotonic(), 0.0))
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=PATIENCE_S)
    blocks = [json.loads(line)["block"] for line in out.splitlines()]
    seen = [block for block in blocks if block > first + WARMUP_BLOCKS]
    assert len(seen) >= 0.8 * FAST_BLOCKS
    assert err.count(POLLING_HINT) == 1
