"""The deployment under kills: its configuration is the documented one, and its checks find what is wrong."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from bench.scale.__main__ import redis_lives
from bench.scale.checks import Failure, Limit, check_answers, check_limit, measure_availability
from bench.scale.cluster import CLIENT_HEADER, nginx_config
from bench.scale.load import Answer, LimitedRequest
from swapcli.quoting.config.settings import ServiceSettings
from tests.chain.anvil import running_anvil
from tests.chain.trader import USER
from tests.contracts.evm import load_artifact
from tests.faces.service.test_quote_stream import serving
from tests.support.redis_server import free_ports
from tests.support.service import build_order_query
from tests.support.waiting import until

ROOT = Path(__file__).parents[3]
PER_MINUTE = 300


def test_nginx_accepts_the_documented_configuration(tmp_path: Path) -> None:
    file = tmp_path / "nginx.conf"
    file.write_text(nginx_config(tmp_path, 8080, (8001, 8002)))
    command = ["nginx", "-t", "-p", str(tmp_path), "-e", str(tmp_path / "log"), "-c", str(file)]
    ran = subprocess.run([*command, "-g", f"pid {tmp_path}/nginx.pid;"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@contextmanager
def nginx_before(url: str, folder: Path) -> Iterator[str]:
    """Run nginx with the documented configuration in front of a service; yield its URL."""
    (port,) = free_ports(1)
    file = folder / "nginx.conf"
    file.write_text(nginx_config(folder, port, [int(url.rpartition(":")[2])]))
    command = ["nginx", "-p", str(folder), "-e", str(folder / "log"), "-c", str(file)]
    with subprocess.Popen([*command, "-g", f"daemon off; pid {folder}/nginx.pid;"]) as process:
        try:
            until(lambda: is_listening(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def is_listening(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.slow
def test_nginx_passes_requests_clients_and_events_on(tmp_path: Path) -> None:
    settings = ServiceSettings(trusted_proxies=("127.0.0.1",), requests_per_minute=2)
    with serving(settings) as service, nginx_before(service.url, tmp_path) as service.url:
        order = build_order_query("testnet")

        def status(client: str, path: str = "/testnet/v2/route") -> int:
            answer = httpx.get(service.url + path, params=order, headers={CLIENT_HEADER: client}, timeout=60)
            return answer.status_code

        assert [status("203.0.113.1") for _ in range(3)] == [200, 200, 429]
        assert status("203.0.113.2") == 200
        assert status("203.0.113.3", "/metrics") == 404
        with service.listening() as events:
            assert next(events).name == "quote"
            for number in range(1, 4):
                service.mine(stride=1 + number % 2)
                assert next(events).data["state"]["block"] == 101 + number


def requests(allowed_per_s: float, seconds: float) -> list[LimitedRequest]:
    """Twenty requests a second, some of them allowed."""
    found, due = [], 0.0
    for number in range(round(20 * seconds)):
        due += allowed_per_s / 20
        found.append(LimitedRequest(number / 20, due >= 1))
        due -= due >= 1
    return found


@pytest.mark.parametrize(("allowed_per_s", "is_exact"), [(5.0, True), (5.2, False), (4.8, False), (10.0, False)])
def test_a_limit_that_is_missed_is_found(allowed_per_s: float, is_exact: bool) -> None:
    found = check_limit(requests(allowed_per_s, 100), [(0.0, 50.0), (60.0, 100.0)], PER_MINUTE, settle_s=2.0)
    assert found.due == pytest.approx(found.seconds * 5) == pytest.approx(85 * 5, rel=0.02)
    assert (abs(found.allowed - found.due) <= 0.02 * found.due) is is_exact


def test_a_bucket_that_is_never_empty_says_nothing() -> None:
    always = [each._replace(is_allowed=True) for each in requests(5, 10)]
    assert check_limit(always, [(0.0, 10.0)], PER_MINUTE, settle_s=0.0) == Limit(0.0, 0, 0.0)


def test_wrong_and_old_answers_are_found() -> None:
    with running_anvil() as chain:
        weth = chain.deploy(load_artifact("canonical-weth/build/contracts/WETH9.json"))
        chain.fund(USER, 10**18)
        weth.send("deposit", value=7, sender=USER)
        head = chain.node.ask("eth_getBlockByNumber", "latest", False)
        block, mined_s = int(head["number"], 16), int(head["timestamp"], 16)
        right = Answer(block, 7, weth.address, f"0x{weth.calldata('balanceOf', USER).hex()}", 0, mined_s + 6.9, 0.0)
        before = right._replace(block=block - 1)
        reverting = right._replace(calldata="0xa9059cbb")
        old = right._replace(requested_s=mined_s + 7.0)
        answers = [right, right._replace(amount_out=6), before, reverting, old]
        found = check_answers(chain.node, answers, max_age_s=6)
        assert (found.checked, found.wrong, found.stale) == (5, 3, 2)  # the block before is 12 seconds older
        assert found.timestamps_s == {block: mined_s, block - 1: mined_s - 12}


def test_outages_and_recoveries_are_measured() -> None:
    """Ten seconds; Unix time is a thousand seconds ahead. Replica and second outage do not end the first one's."""
    timestamps_s = {1: 1_000, 2: 1_003, 3: 1_006}
    quoted = ((1, 0.5), (1, 1.5), (1, 2.6), (2, 4.5), (2, 4.6), (3, 9.5), (3, 11.0))
    answers = [Answer(block, 1, "", "", 0, 0.0, at_s) for block, at_s in quoted]
    failures = [
        Failure("writer", 1.6, 2.5, 1_002.5),
        Failure("replica", 2.7, 2.8, 1_002.8),
        Failure("redis", 4.7, 4.8, 1_004.8),
        Failure("writer", 5.0, 5.5, 1_005.5),
    ]
    found = measure_availability(answers, timestamps_s, failures, started_s=0.0, ended_s=10.0)
    assert (found.good_share, found.blocks_quoted) == (0.5, 3)
    assert found.recoveries_s == {"writer": [2.0, 4.0]}


def test_redis_lives_between_its_kills() -> None:
    failures = [Failure("redis", 3.0, 4.0, 0.0), Failure("writer", 5.0, 6.0, 0.0), Failure("redis", 7.0, 8.5, 0.0)]
    assert redis_lives(failures, 1.0, 9.0) == [(1.0, 3.0), (4.0, 7.0), (8.5, 9.0)]


@pytest.mark.slow
def test_a_few_kills_harm_no_client() -> None:
    """Without the soak at the end, which `make scale` runs for an hour."""
    counts = {"--kills": 2, "--soak-minutes": 0, "--replicas": 2, "--clients": 3}
    command = [sys.executable, "-m", "bench.scale", *(str(word) for pair in counts.items() for word in pair)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
