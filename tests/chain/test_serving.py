"""`swapcli serve` beside a chain that goes on: what it quotes is paid to the unit, and it says when it cannot know.

The service is a process of its own; its node is a real one, behind a proxy where it has to fail.
"""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from swapcli.core.model.api_version import ApiVersion
from swapcli.core.model.market import Provenance
from swapcli.core.model.order import ZERO_ADDRESS, Order
from swapcli.core.model.quote_request import QuoteRequest, SharePrecision
from swapcli.quoting.sources.in_memory import InMemorySource
from swapcli.state.clock import SYSTEM_CLOCK
from swapcli.state.store import create_store
from swapcli.state.sync import import_pools
from tests.chain.anvil import AnvilChain, Node, running_anvil
from tests.chain.contract_fixture import DECIMALS, WETH, ContractFixture
from tests.chain.market_reader import read_market
from tests.chain.node.evm_node import deploy_multicall
from tests.chain.node.server import SECRET, hangs_up, stays_silent
from tests.chain.proxy import Proxy, open_proxy
from tests.chain.settings import describe_network, url_of, write_settings
from tests.chain.trader import USER, Trader, random_amount
from tests.examples import examples
from tests.state.store.build import only
from tests.support.chain import connected
from tests.support.service_process import ServiceProcess, child_ids, run_service
from tests.support.waiting import until

TICK_S = 1.0
MAX_AGE_S = 8
TRADES = examples(3, full=5)
MUCH = 1_000 * 10**18
STORED, TAKEN = "anvil", "twin"
"""The first has a synced store, the second only recorded pools."""


class Scene:
    """A chain that mines on, with settings that describe it as two networks."""

    def __init__(self, chain: AnvilChain, proxy: Proxy, folder: Path) -> None:
        self.chain, self.proxy = chain, proxy
        world = ContractFixture(chain)
        self.trader = Trader(world, chain, read_market(world))
        self.trader.fund_user()
        self.network = world.network = world.network._replace(multicall=deploy_multicall(chain), block_time_s=TICK_S)
        self.chain.node.ask("anvil_removeBlockTimestampInterval")
        self.live_now()
        for symbol in DECIMALS:
            world.contracts[symbol].send("approve", world.router.address, 2**255, sender=USER)
        networks = {
            STORED: describe_network(self.network, proxy.url),
            TAKEN: describe_network(self.network._replace(name=TAKEN), url_of(chain)),
        }
        settings = write_settings(folder, self.network, None, networks=networks, timeout_s=0.5)
        self.env = {"SWAPCLI_CONFIG": str(settings)}
        self._fill_stores(folder / "stores")

    def live_now(self) -> None:
        """From the next block on, what is read at one is as old as that block is to the clock."""
        self.chain.node.ask("evm_setNextBlockTimestamp", int(time.time()) + 1)

    def _fill_stores(self, folder: Path) -> None:
        folder.mkdir()
        market = read_market(self.trader.world)._replace(network=self.network)
        with (
            create_store(str(folder / f"{STORED}.sqlite"), self.network, only(self.network)) as store,
            connected(self.chain) as node,
        ):
            assert [progress.done for progress in import_pools(store, node, market)] == [len(market.pools)]
        twin = self.network._replace(name=TAKEN)
        noted = market._replace(network=twin, provenance=Provenance.RECORDED)
        with create_store(str(folder / f"{TAKEN}.sqlite"), twin, only(twin)) as store:
            store.write_market(noted)

    def head(self) -> int:
        return int(self.chain.node.ask("eth_blockNumber"), 16)

    def out(self) -> int:
        """What a quote for much WETH says on pools that are read as they are now."""
        market, tokens = read_market(self.trader.world), self.trader.world.tokens
        order = Order(tokens[WETH], tokens["USDC"], MUCH)
        gas_price_wei = int(self.chain.node.ask("eth_gasPrice"), 16)
        ask = QuoteRequest(order, ApiVersion.V2, gas_price_wei=gas_price_wei, shares=SharePrecision.WHOLE)
        return InMemorySource(market, SYSTEM_CLOCK).quote(ask).result.output_amount

    def swap(self, call: Any) -> None:
        """Has a call mined for the user."""
        self.chain.send(call["to"], bytes.fromhex(call["calldata"][2:]), value=int(call["value"]), sender=USER)


class Client:
    """A client of the service."""

    def __init__(self, service: ServiceProcess) -> None:
        self.url = service.url
        self.responses: list[str] = []

    def ask(self, path: str, body: object = None) -> tuple[int, Any]:
        """Status and document."""
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(self.url + path, data, {"Content-Type": "application/json"})) as reply:
                status, text = reply.status, reply.read().decode()
        except HTTPError as error:
            with error:
                status, text = error.code, error.read().decode()
        self.responses.append(text)
        return status, text if path == "/metrics" else json.loads(text)

    def health(self, name: str) -> tuple[int, str]:
        status, document = self.ask(f"/{name}/v2/healthcheck")
        assert status == document["status"]
        return status, str(document["message"])

    def figure(self, name: str, network: str) -> float:
        """Of the metrics."""
        lines = self.ask("/metrics")[1].splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(f'{name}{{network="{network}"}}'))

    def out(self, name: str, scene: Scene) -> int:
        """What is quoted for much WETH."""
        world = scene.trader.world
        order = {
            "amount": MUCH,
            "tokenInAddress": world.address(WETH),
            "tokenOutAddress": world.address("USDC"),
        }
        status, route = self.ask(f"/{name}/v2/route?{urlencode(order)}")
        assert status == 200, route
        return int(route["outputAmount"])

    def call(self, scene: Scene, rng: Random, recipient: str) -> tuple[Any, str]:
        """A random order with the transaction that carries it out, and the token that is bought."""
        bought, sold = rng.sample(sorted(DECIMALS), 2)
        tokens = scene.trader.world.tokens
        ends = [
            ZERO_ADDRESS if symbol == WETH and rng.random() < 0.5 else tokens[symbol].address
            for symbol in (sold, bought)
        ]
        order = {"amount": str(random_amount(rng, tokens[sold])), "tokenInAddress": ends[0], "tokenOutAddress": ends[1]}
        status, call = self.ask(f"/{STORED}/calldata", {**order, "slippage": 0.1, "destination": recipient})
        assert status == 200, call
        return call, ends[1]


@contextmanager
def ticking(chain: AnvilChain) -> Iterator[None]:
    """A block every now and then."""
    ended = Event()

    def mine() -> None:
        node = Node(chain.node.port)
        while not ended.wait(TICK_S):
            node.ask("evm_mine")
        node.close()

    thread = Thread(target=mine, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def has_reached(client: Client, block: int) -> Callable[[], bool]:
    """Are both networks at the block?"""
    return lambda: all(client.figure("swapcli_market_block", name) >= block for name in (STORED, TAKEN))


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with running_anvil() as chain, open_proxy(chain.node.port) as proxy:
        made = Scene(chain, proxy, tmp_path_factory.mktemp("scene"))
        with ticking(chain):
            yield made


@pytest.fixture(scope="module")
def service(scene: Scene) -> Iterator[ServiceProcess]:
    with run_service("--networks", f"{STORED},{TAKEN}", "--max-age", str(MAX_AGE_S), env=scene.env) as running:
        yield running


@pytest.fixture(scope="module")
def client(service: ServiceProcess) -> Client:
    made = Client(service)
    until(lambda: made.ask("/readyz")[0] == 200)
    return made


def test_quotes_are_paid_and_the_next_quotes_reflect_it(scene: Scene, client: Client) -> None:
    rng, world = Random("served"), scene.trader.world
    for number in range(TRADES):
        recipient = f"0xcc{number + 1:038x}"
        call, bought = client.call(scene, rng, recipient)
        scene.swap(call)
        assert world.balance(bought, recipient) == int(call["route"]["outputAmount"])
        until(has_reached(client, scene.head()), timeout_s=MAX_AGE_S)
        assert client.out(STORED, scene) == client.out(TAKEN, scene) == scene.out()


def test_a_large_swap_moves_the_quote_and_a_reorg_undoes_it(scene: Scene, client: Client) -> None:
    before, head_before, mark = client.out(STORED, scene), scene.head(), scene.chain.snapshot()
    world = scene.trader.world
    ends = {"tokenInAddress": world.address(WETH), "tokenOutAddress": world.address("USDC")}
    order = {"amount": str(5_000 * 10**18), **ends, "slippage": 0.5, "destination": USER}
    scene.swap(client.ask(f"/{STORED}/calldata", order)[1])
    until(has_reached(client, scene.head()))
    assert client.out(STORED, scene) == client.out(TAKEN, scene) < before
    lost = scene.head() - head_before
    scene.chain.revert(mark)
    scene.chain.node.ask("anvil_mine", hex(lost + 1))
    scene.live_now()
    until(lambda: client.out(STORED, scene) == client.out(TAKEN, scene) == before)


@pytest.mark.slow
def test_a_network_without_its_node_goes_stale_and_recovers(scene: Scene, client: Client) -> None:
    status, message = client.health(STORED)
    assert status == 200
    found = re.search(r" pools, synced state, block (\d+), (\d+) s old, followed by polling$", message)
    assert found
    block, age = found.groups()
    assert scene.head() - MAX_AGE_S / TICK_S <= int(block) <= scene.head()
    assert 0 <= int(age) <= MAX_AGE_S
    failures = client.figure("swapcli_market_update_failures_total", STORED)
    scene.proxy.always = hangs_up
    until(lambda: client.figure("swapcli_market_update_failures_total", STORED) > failures)
    until(lambda: client.health(STORED)[0] == 503)
    status, message = client.health(STORED)
    age_s = int(message.removeprefix(f"the state of the pools of {STORED} is ").partition(" ")[0])
    assert age_s > MAX_AGE_S
    problem = f"the state of the pools of {STORED} is {age_s} seconds old"
    assert message == f"{problem}, so a maximum age of {MAX_AGE_S} seconds cannot be met"
    order = urlencode(
        {"amount": 1, "tokenInAddress": ZERO_ADDRESS, "tokenOutAddress": scene.trader.world.address("USDC")}
    )
    for path in (f"/{STORED}/v2/route?{order}", f"/{STORED}/route?{order}", f"/{STORED}/healthcheck"):
        assert client.ask(path)[0] == 503
    assert client.health(TAKEN)[0] == 200
    assert client.figure("swapcli_market_age_seconds", STORED) > MAX_AGE_S
    assert client.figure("swapcli_market_update_failures_total", TAKEN) == 0
    assert client.ask(f"/{STORED}/tokens")[0] == 200
    scene.proxy.always = None
    until(lambda: client.health(STORED)[0] == 200)
    assert client.out(STORED, scene) == client.out(TAKEN, scene)


def test_it_ends_well_and_told_what_failed_without_a_secret(
    scene: Scene, service: ServiceProcess, client: Client
) -> None:
    failures = client.figure("swapcli_market_update_failures_total", STORED)
    scene.proxy.always = hangs_up
    until(lambda: client.figure("swapcli_market_update_failures_total", STORED) > failures)
    scene.proxy.always = None
    until(lambda: "recovered" in service.read_log())
    scene.proxy.always = stays_silent
    time.sleep(0.2)
    started_s = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - started_s < 4
    scene.proxy.always = None
    lines = [json.loads(line) for line in service.stderr.splitlines()]
    data = [(line["network"], line["market_updates"]) for line in lines if "market_updates" in line]
    assert data[:2] == [(STORED, "failing"), (STORED, "recovered")]
    assert SECRET not in service.stderr + "".join(client.responses)
    assert not any("defect" in line for line in lines)


def connections_to_nodes(pid: int, scene: Scene) -> int:
    """The number of TCP connections that a process has to the nodes of the scene."""
    nodes = {f"{int(url.rpartition(':')[2].partition('/')[0]):04X}" for url in (scene.proxy.url, url_of(scene.chain))}
    lines = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    inodes = {line[9] for line in lines if line[2].partition(":")[2] in nodes}
    found = {os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir() if file.is_symlink()}
    return sum(f"socket:[{inode}]" in found for inode in inodes)


@pytest.mark.slow
def test_workers_read_the_stores_that_one_process_writes(scene: Scene) -> None:
    options = ("--workers", "2", "--networks", f"{STORED},{TAKEN}", "--max-age", str(MAX_AGE_S))
    with run_service(*options, env=scene.env) as service:
        client = Client(service)
        os.kill(child_ids(service.process.pid)[-1], signal.SIGKILL)  # perhaps while it fills a private store
        until(lambda: client.ask("/metrics")[1].count("swapcli_market_block{") == 2)
        until(has_reached(client, scene.head()))
        assert client.out(STORED, scene) == client.out(TAKEN, scene) == scene.out()
        *workers, writer = child_ids(service.process.pid)
        # A connection is opened again after a failure of the node, and for a moment there is none.
        until(lambda: connections_to_nodes(writer, scene) == 2)
        assert [connections_to_nodes(pid, scene) for pid in workers] == [0, 0]
        os.kill(writer, signal.SIGKILL)
        until(has_reached(client, scene.head() + 1))
        assert client.out(STORED, scene) == client.out(TAKEN, scene) == scene.out()
        assert service.stop() == 0
    assert not [line for line in service.stderr.splitlines() if "market_updates" in line]


@pytest.mark.slow
def test_one_request_waits_for_the_first_state(scene: Scene) -> None:
    with run_service("--max-requests", "1", "--networks", TAKEN, env=scene.env) as once:
        assert Client(once).out(TAKEN, scene) > 0
        assert once.wait() == 0


def test_a_node_of_another_chain_gives_no_quotes(scene: Scene, tmp_path: Path) -> None:
    """The pools of base that are built in stand for modelled numbers."""
    networks = {"base": {"rpc_url": scene.proxy.url}}
    env = {"SWAPCLI_CONFIG": str(write_settings(tmp_path, scene.network, None, networks=networks))}
    with run_service("--networks", "base", "--max-requests", "3", env=env) as service:
        client = Client(service)
        assert client.health("base") == (503, "the pools of base could not be read yet")
        assert client.ask("/readyz") == (503, {"ready": False, "missing": ["base"]})
        assert client.ask("/base/tokens")[0] == 503
        assert service.wait() == 0
    failed = next(json.loads(line) for line in service.stderr.splitlines() if "market_updates" in line)
    assert "is a node of chain 31337, not of chain 8453" in failed["message"]
    with run_service("--networks", "base", "--offline", "--max-requests", "1", env=env) as service:
        status, message = Client(service).health("base")
        assert (status, "modelled" in message) == (200, True)
        assert service.wait() == 0
