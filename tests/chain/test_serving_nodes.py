"""`swapcli serve` on two nodes of one chain that goes on, of which the first fails and returns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.chain.anvil import Node, running_anvil
from tests.chain.failure_modes import check_secrets_hidden
from tests.chain.node.server import says
from tests.chain.proxy import Proxy, open_proxy, stale
from tests.chain.settings import describe_network, write_settings
from tests.chain.small_chain import SmallTestChain
from tests.chain.sync.expected_state import store_at, synced
from tests.support.chain import connected
from tests.support.service_process import ServiceProcess, run_service
from tests.support.waiting import until

pytestmark = pytest.mark.slow

BLOCK_S = 1.0
SAMPLE_S = 0.05
MAX_AGE_S = 8
LAG = 5
WORKERS = (1, 2)


class Sample(NamedTuple):
    """A response of the service: when it came, its status, its block, and the latest block of the chain then."""

    at_s: float
    status: int
    block: int
    head: int


class Scene:
    """A chain with a block every second, the proxies before its two nodes, and a service that is asked all the time."""

    def __init__(self, small_chain: SmallTestChain, nodes: list[Proxy], service: ServiceProcess) -> None:
        self.first, self.spare = nodes
        self.service, self._node = service, Node(small_chain.chain.node.port)
        self._small_chain = small_chain
        world = small_chain.world
        ends = {"tokenInAddress": world.address("USDC"), "tokenOutAddress": world.address("TKN")}
        self._url = f"{service.url}/anvil/v2/route?{urlencode({'amount': 10**6, **ends})}"
        self.samples: list[Sample] = []
        self.head = small_chain.head()
        self._ended = Event()
        self._threads = [Thread(target=each, daemon=True) for each in (self._mine, self._ask)]

    @contextmanager
    def running(self) -> Iterator[None]:
        for each in self._threads:
            each.start()
        try:
            until(lambda: self.samples and self.samples[-1].status == 200)
            yield
        finally:
            self._ended.set()
            for each in self._threads:
                each.join()
            self._node.close()

    def _mine(self) -> None:
        due_s = time.monotonic()
        while not self._ended.is_set():
            due_s += BLOCK_S
            self._node.ask("evm_mine")
            self.head = int(self._node.ask("eth_blockNumber"), 16)
            self._ended.wait(max(due_s - time.monotonic(), 0.0))

    def _ask(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            try:
                with urlopen(self._url) as response:
                    block = int(response.headers["X-Swap-State"].split("block=")[1].split(";")[0])
                    self.samples.append(Sample(time.monotonic(), response.status, block, self.head))
            except HTTPError as error:
                with error:
                    self.samples.append(Sample(time.monotonic(), error.code, -1, self.head))

    def worst_lag(self, since_s: float) -> int:
        """Return how many blocks the responses since then were behind at most, those of the last half second aside: a
        block takes a moment to be read on a busy machine."""
        earlier = zip(self.samples, self.samples[int(0.5 / SAMPLE_S) :], strict=False)
        return max(before.head - each.block for before, each in earlier if each.at_s >= since_s)

    def check_no_step_back(self) -> None:
        blocks = [each.block for each in self.samples if each.status == 200]
        assert blocks == sorted(blocks)

    def gauge(self, name: str, node: int) -> float:
        with urlopen(f"{self.service.url}/metrics") as response:
            lines = response.read().decode().splitlines()
        label = f'swapcli_node_{name}{{network="anvil",node="{node}"}}'
        return next(float(line.split()[-1]) for line in lines if line.startswith(label))


@contextmanager
def scene_of(folder: Path, workers: int) -> Iterator[Scene]:
    with running_anvil() as chain, open_proxy(chain.node.port) as first, open_proxy(chain.node.port) as spare:
        small_chain = SmallTestChain(chain)
        chain.node.ask("anvil_removeBlockTimestampInterval")
        chain.node.ask("evm_setNextBlockTimestamp", int(time.time()))
        chain.node.ask("evm_mine")
        network = small_chain.network
        described = describe_network(network, first.url) | {"rpc_urls": [spare.url], "block_time_s": BLOCK_S}
        settings = write_settings(folder, network, None, networks={network.name: described}, timeout_s=5.0)
        (folder / "stores").mkdir()
        with connected(chain) as node, store_at(folder / "stores" / f"{network.name}.sqlite", network) as store:
            synced(store, node)
        options = ("--networks", network.name, "--max-age", str(MAX_AGE_S), "--workers", str(workers))
        with run_service(*options, env={"SWAPCLI_CONFIG": str(settings)}) as service:
            scene = Scene(small_chain, [first, spare], service)
            with scene.running():
                yield scene
            assert service.stop() == 0
        check_secrets_hidden(service.stderr)
        assert '"defect"' not in service.stderr


@pytest.mark.parametrize("workers", WORKERS)
def test_a_failure_of_five_seconds_leaves_the_service_at_most_a_block_behind(tmp_path: Path, workers: int) -> None:
    with scene_of(tmp_path, workers) as scene:
        scene.spare.always = stale(LAG)
        time.sleep(6 * BLOCK_S)
        scene.first.always = says(502)
        time.sleep(5.0)
        scene.first.always = None
        returned_s = time.monotonic()
        time.sleep(10.0)
        assert scene.worst_lag(returned_s + 3.0) <= 1
        assert {each.status for each in scene.samples} == {200}
        assert (scene.gauge("read", 1), scene.gauge("up", 2), scene.gauge("read", 2)) == (1.0, 1.0, 0.0)
        assert scene.gauge("lag_blocks", 2) >= LAG - 1
    scene.check_no_step_back()
    assert '"node":"node 1 of 2 (http://127.0.0.1:' in scene.service.stderr
    assert "is used again" in scene.service.stderr


@pytest.mark.parametrize("workers", WORKERS)
def test_nodes_that_were_down_for_16_seconds_are_read_within_two(tmp_path: Path, workers: int) -> None:
    with scene_of(tmp_path, workers) as scene:
        for each in (scene.first, scene.spare):
            each.always = says(502)
        time.sleep(16.0)
        assert scene.samples[-1].status == 503
        scene.first.always = None
        returned_s = time.monotonic()
        until(lambda: scene.samples[-1].status == 200)
        assert time.monotonic() - returned_s < 2.0
    scene.check_no_step_back()


@pytest.mark.parametrize("workers", WORKERS)
def test_a_node_that_lags_is_left_within_three_seconds(tmp_path: Path, workers: int) -> None:
    with scene_of(tmp_path, workers) as scene:
        time.sleep(3 * BLOCK_S)
        scene.first.always = stale(LAG)
        began_s = time.monotonic()
        until(lambda: scene.gauge("read", 2) == 1.0)
        assert time.monotonic() - began_s < 3.0
        time.sleep(6.0)
        assert scene.worst_lag(began_s + 3.0) <= 1
    scene.check_no_step_back()
