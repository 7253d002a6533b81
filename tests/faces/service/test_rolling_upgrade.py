"""Replicas behind nginx, as `examples/region` configures it, are restarted in turn without a lost request."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from bench.scale.cluster import nginx_command
from tests.support.command import clean_environment
from tests.support.redis_server import free_ports
from tests.support.service import build_order_query, build_swap_terms
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S
from tests.support.waiting import until

REPLICAS, CLIENTS, REQUESTS = 3, 6, 5_000
ORDER = build_order_query("base")


def start(port: int) -> subprocess.Popen[str]:
    """Start a replica, and return it once it accepts connections."""
    command = [*SWAPCLI_COMMAND, "serve", "--offline", "--networks", "base", "--port", str(port)]
    process = subprocess.Popen(
        command, env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["url"].endswith(f":{port}")
    return process


def end_all(processes: list[subprocess.Popen[str]]) -> None:
    for each in processes:
        each.kill()
        each.communicate()


@pytest.mark.slow
def test_replicas_upgraded_in_turn_lose_none_of_5000_requests(tmp_path: Path) -> None:
    port, *replica_ports = free_ports(1 + REPLICAS)
    outcomes: Counter[str] = Counter()
    done = threading.Event()

    def ask(number: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=TIMEOUT_S) as client:
            posted = {"route": client.get("/base/v2/route", params=ORDER).json(), **build_swap_terms("base")}
            while not done.is_set():
                try:
                    if number == 0:
                        answer = client.post("/base/v2/calldata", json=posted)
                    elif number == 1:
                        answer = client.get("/base/v2/route", params=ORDER)
                    else:
                        answer = client.get("/base/protocols", headers={"Connection": "close"} if number % 2 else {})
                    outcomes[f"{answer.request.method} {answer.status_code}"] += 1
                except httpx.HTTPError as error:
                    outcomes[repr(error)] += 1

    with ExitStack() as stack:
        replicas = [start(each) for each in replica_ports]
        stack.callback(end_all, replicas)
        proxy = stack.enter_context(subprocess.Popen(nginx_command(tmp_path, port, replica_ports)))
        stack.callback(proxy.terminate)
        until(lambda: answers(port))
        stack.callback(done.set)
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while outcomes.total() < REQUESTS:
            for index, replica_port in enumerate(replica_ports):
                replicas[index].terminate()
                assert replicas[index].wait(TIMEOUT_S) == 0
                replicas[index].communicate()
                replicas[index] = start(replica_port)
                time.sleep(0.3)
        done.set()
        for thread in threads:
            thread.join()
    assert outcomes.keys() == {"GET 200", "POST 200"}, outcomes


def answers(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/livez").status_code == 200
    except httpx.HTTPError:
        return False
