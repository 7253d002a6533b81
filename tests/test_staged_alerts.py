"""Each alert rule fires in its failure and none before it: real services, failures and Prometheus.

Durations of the rules are divided by `SCALE`; `SCALE = 1` takes seven minutes.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.state.store import create_store
from tests.chain.node.server import says
from tests.chain.proxy import stale
from tests.chain.test_serving_nodes import scene_of
from tests.faces.service.test_stream_replicas import MARKET, NETWORK, Chain, order_queries
from tests.support.command import run_swapcli
from tests.support.redis_server import free_ports, run_redis
from tests.support.service_process import ServiceProcess, child_ids, run_service
from tests.support.waiting import until
from tests.test_alert_rules import ALERTS, RULES

pytestmark = pytest.mark.slow

SCALE = 5
QUIET_S = 60 / SCALE
TIMEOUT_S = 60 + 240 / SCALE
STREAMS = 600
BLOCK_S = 4.0
LAG = 9
"""Blocks that the node is behind: more than the rule allows."""
ORDERS_AT_ONCE = 12


class Monitor:
    """A Prometheus that scrapes services every second, each under the name of its stage."""

    def __init__(self, folder: Path) -> None:
        (self._port,) = free_ports(1)
        self._targets, self._stages = folder / "targets.json", dict[str, str]()
        self.fired = set[tuple[str, str]]()
        rules = re.sub(
            r"(\[|for: )(\d+)(s|m)\b",
            lambda each: f"{each[1]}{int(each[2]) * (60 if each[3] == 'm' else 1) // SCALE}s",
            RULES.read_text(),
        )
        (folder / "rules.yaml").write_text(rules)
        self._targets.write_text("[]")
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(folder / "rules.yaml")],
            "scrape_configs": [
                {
                    "job_name": "swapcli",
                    "file_sd_configs": [{"files": [str(self._targets)], "refresh_interval": "1s"}],
                }
            ],
        }
        (folder / "prometheus.yaml").write_text(json.dumps(config))
        self.command = [
            "prometheus",
            f"--config.file={folder / 'prometheus.yaml'}",
            f"--storage.tsdb.path={folder / 'series'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        ]

    def watch(self, stage: str, service: ServiceProcess) -> None:
        """Scrape a service from now on."""
        self._stages[service.url.removeprefix("http://")] = stage
        targets = [{"targets": [each]} for each in self._stages]
        part = self._targets.with_suffix(".part")
        part.write_text(json.dumps(targets))
        part.replace(self._targets)

    def scraped(self) -> int:
        """Return the number of services that are scraped."""
        with suppress(URLError):
            return len(self._get("query?query=up==1")["result"])
        return 0

    def look(self) -> set[tuple[str, str]]:
        """Return the alerts that have fired so far, each with its stage."""
        for each in self._get("alerts")["alerts"]:
            if each["state"] == "firing":
                self.fired.add((each["labels"]["alertname"], self._stages[each["labels"]["instance"]]))
        return self.fired

    def _get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/api/v1/{path}") as response:
            return json.load(response)["data"]


class Stage(NamedTuple):
    """A failure of a service, by name: the alert that it causes, and what causes it, again and again if need be."""

    alert: str
    name: str
    fail: Callable[[], object]


@contextmanager
def monitoring(folder: Path) -> Iterator[Monitor]:
    monitor = Monitor(folder)
    with (
        (folder / "prometheus.log").open("wb") as log,
        subprocess.Popen(monitor.command, stdout=log, stderr=log) as process,
    ):
        try:
            yield monitor
        finally:
            process.terminate()


def test_each_alert_fires_in_its_failure(tmp_path: Path) -> None:
    with ExitStack() as stack:
        monitor = stack.enter_context(monitoring(tmp_path))
        stages = list(open_stages(stack, monitor, tmp_path))
        assert {each.alert for each in stages} == {each["alert"] for each in ALERTS}
        until(lambda: monitor.scraped() == len({each.name for each in stages}))
        ends_s = time.monotonic() + QUIET_S
        while time.monotonic() < ends_s:
            assert monitor.look() == set()
            time.sleep(0.5)
        expected, causes = {(each.alert, each.name) for each in stages}, list(stages)
        ends_s = time.monotonic() + TIMEOUT_S
        while not expected <= monitor.look():
            assert time.monotonic() < ends_s, expected - monitor.fired
            causes = [each for each in causes if (each.alert, each.name) not in monitor.fired]
            for each in causes:
                each.fail()
            time.sleep(0.5)
        assert monitor.fired == expected, "in each stage its alert alone"


def open_stages(stack: ExitStack, monitor: Monitor, folder: Path) -> Iterator[Stage]:
    """Start the services, and yield their failures."""

    def serve(name: str, *options: str, **env: str) -> ServiceProcess:
        service = stack.enter_context(run_service(*options, env={f"SWAPCLI_{key}": env[key] for key in env}))
        monitor.watch(name, service)
        return service

    offline = ("--networks", NETWORK, "--offline")

    shared = stack.enter_context(run_redis())
    serve("Redis is killed", *offline, SERVICE_STATE_URL=shared.url)
    yield Stage("SwapcliSharedStateDown", "Redis is killed", once(shared.kill))

    keys = folder / "keys.json"
    assert run_swapcli("keys", "create", "Acme", env={"SWAPCLI_SERVICE_KEYS_FILE": str(keys)}).exit_code == 0
    serve("the key file is cut", *offline, SERVICE_KEYS_FILE=str(keys))
    yield Stage("SwapcliKeyFileInvalid", "the key file is cut", once(lambda: os.truncate(keys, 20)))

    grouped = serve("workers are killed", *offline, "--workers", "2")
    yield Stage("SwapcliWorkersReplaced", "workers are killed", lambda: kill_worker(grouped))

    busy = serve("too many orders", *offline, SERVICE_MAX_QUEUE="2")
    yield Stage("SwapcliOverloaded", "too many orders", lambda: send_at_once(busy))

    dead = serve("the process is killed", *offline)
    yield Stage("SwapcliDown", "the process is killed", dead.process.kill)

    yield from open_feed_stages(stack, folder, serve)
    yield from open_node_stages(stack, monitor, folder)


def open_feed_stages(stack: ExitStack, folder: Path, serve: Callable[..., ServiceProcess]) -> Iterator[Stage]:
    """Follow two feeds: one with blocks for more orders than a core can quote, one that will end."""
    for name in ("many streams", "the feeder ends"):
        server = stack.enter_context(run_redis())
        store = stack.enter_context(create_store(str(folder / name), MARKET.network, find_network))
        chain = Chain(store, server)
        chain.mine(list(MARKET.pools.values()))
        limits = {"SERVICE_MAX_CONNECTIONS": "4096", "SERVICE_MAX_QUEUE": "4096"}
        service = serve(name, "--networks", NETWORK, SERVICE_FEED_URL=server.url, **limits)
        mining = stack.enter_context(every(1.0, chain.mine))
        if name == "the feeder ends":
            yield Stage("SwapcliMarketOld", name, mining.set)
        else:
            yield Stage("SwapcliEventsLate", name, once(partial(open_streams, stack, service)))


def open_node_stages(stack: ExitStack, monitor: Monitor, folder: Path) -> Iterator[Stage]:
    """Follow two nodes, of which one will be behind and then down, into a store whose disk will be full."""
    for alert, name in (
        ("SwapcliNodeBehind", "a node is behind"),
        ("SwapcliNodeDown", "a node is down"),
        ("SwapcliStoreNotWritten", "the disk is full"),
    ):
        (folder / alert).mkdir()
        scene = stack.enter_context(scene_of(folder / alert, 1))
        monitor.watch(name, scene.service)
        failure = {"SwapcliNodeBehind": stale(LAG), "SwapcliNodeDown": says(502)}.get(alert)
        if failure is None:
            pid = scene.service.process.pid
            stack.callback(resource.prlimit, pid, resource.RLIMIT_FSIZE, resource.getrlimit(resource.RLIMIT_FSIZE))
            yield Stage(alert, name, partial(resource.prlimit, pid, resource.RLIMIT_FSIZE, (4_096, -1)))
        else:
            yield Stage(alert, name, partial(setattr, scene.spare, "always", failure))


def once(action: Callable[[], object]) -> Callable[[], None]:
    """Return a function that does this when it is first called."""
    results: list[object] = []

    def run() -> None:
        if not results:
            results.append(action())

    return run


@contextmanager
def every(seconds: float, action: Callable[[], object]) -> Iterator[threading.Event]:
    """Repeat an action in a thread, until the event is set."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ended
    finally:
        ended.set()
        thread.join()


def kill_worker(service: ServiceProcess) -> None:
    for pid in child_ids(service.process.pid)[-1:]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def send_at_once(service: ServiceProcess) -> None:
    """Have more clients ask at once than the queue has places."""

    def ask(query: str) -> None:
        with suppress(HTTPError), urllib.request.urlopen(f"{service.url}/{NETWORK}/v2/route?{query}") as response:
            response.read()

    threads = [threading.Thread(target=ask, args=(query,)) for query in order_queries(ORDERS_AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def open_streams(stack: ExitStack, service: ServiceProcess) -> None:
    """Listen to many orders, and read nothing: the first events fit the buffers."""
    for query in order_queries(STREAMS):
        connection = stack.enter_context(service.connect())
        connection.sendall(f"GET /{NETWORK}/v2/route/events?{query} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
