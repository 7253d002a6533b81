"""A proxy on this machine that the settings do not name is reported, and its clients take turns."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from swapcli.faces.service.key_file import ApiKey, KeyLookup
from swapcli.faces.service.request_io import RequestContext
from swapcli.faces.service.trusted_proxies import TrustedProxies
from swapcli.faces.service.unnamed_proxy import UNNAMED_PROXY
from swapcli.quoting.config.settings import ServiceSettings
from tests.faces.service.test_client_timeouts import accepts_connections
from tests.support.redis_server import free_ports
from tests.support.service import InProcessService, build_order_query, in_process_service
from tests.support.service_process import TIMEOUT_S, ServiceProcess, run_service, run_testnet_service
from tests.support.topic_examples import topic_example
from tests.support.waiting import until

EXAMPLES = Path(__file__).parents[3] / "examples"
USER, OTHER_USER = "203.0.113.9", "198.51.100.7"
FORWARDED = [("X-Forwarded-For", USER), ("Forwarded", f"for={USER}"), ("X-Forwarded-For", f"10.0.0.1, {USER}")]


class OneKey(KeyLookup):
    def find(self, key: str) -> ApiKey | None:
        return ApiKey("000acce5", "Acme", 0) if key == "good" else None


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("header", FORWARDED)
def test_loopback_that_forwards_unnamed_is_found(peer: str, header: tuple[str, str]) -> None:
    headers = [(header[0].lower().encode(), header[1].encode())]
    assert TrustedProxies().is_unnamed_proxy(peer, headers)
    assert TrustedProxies(("10.0.0.0/8",)).is_unnamed_proxy(peer, headers)
    assert not TrustedProxies(("127.0.0.0/8", "::1/128")).is_unnamed_proxy(peer, headers)
    assert not TrustedProxies().is_unnamed_proxy(peer, [(headers[0][0], b" ")])
    assert not TrustedProxies().is_unnamed_proxy(peer, [(b"x-real-ip", b"203.0.113.9")])


@given(peer=st.one_of(st.none(), st.just("unix"), st.ip_addresses(v=4, network="192.0.2.0/24").map(str)))
def test_other_peers_are_no_proxy_on_this_machine(peer: str | None) -> None:
    assert not TrustedProxies().is_unnamed_proxy(peer, [(b"x-forwarded-for", b"203.0.113.9")])


def metric(served: InProcessService) -> float:
    families = text_string_to_metric_families(served.get("/metrics").text)
    return next(s.value for f in families for s in f.samples if s.name == "swapcli_unnamed_proxy_requests_total")


def test_it_is_logged_once_counted_and_shown() -> None:
    with in_process_service("testnet") as served:
        assert "warnings" not in served.get("/readyz").json()
        for name, value in FORWARDED * 3:
            assert served.get("/testnet/tokens", headers={name: value}).status_code == 200
        assert served.get("/readyz").json() == {"ready": True, "missing": [], "warnings": [UNNAMED_PROXY]}
        assert metric(served) == 3 * len(FORWARDED)
        lines = [line for line in served.log_lines() if "proxy" in line]
        assert [line["proxy"] for line in lines] == ["unnamed"]
        assert "service.trusted_proxies" in lines[0]["message"]
        assert USER not in served.log.getvalue()


def test_naming_it_ends_the_warning() -> None:
    with in_process_service("testnet") as served:
        served.get("/testnet/tokens", headers=dict(FORWARDED[:1]))
        assert served.get("/readyz").json()["warnings"] == [UNNAMED_PROXY]
        served.app.policy.replace(ServiceSettings(trusted_proxies=("127.0.0.1/32",)), OneKey())
        served.get("/testnet/tokens", headers=dict(FORWARDED[:1]))
        assert "warnings" not in served.get("/readyz").json()
        served.app.policy.replace(ServiceSettings(), OneKey())
        served.get("/testnet/tokens", headers=dict(FORWARDED[:1]))
        assert served.get("/readyz").json()["warnings"] == [UNNAMED_PROXY]
        assert len([line for line in served.log_lines() if "proxy" in line]) == 2


@pytest.mark.slow
def test_workers_log_it_once_and_all_of_them_show_it(tmp_path: Path) -> None:
    settings = tmp_path / "config.yaml"
    settings.write_text("{}")
    words = ("--networks", "base", "--offline", "--workers", "3", "--config", str(settings))
    with run_service(*words) as service:

        def warnings() -> list[object]:
            """Ask twelve times, each time on a new connection, which any worker may accept."""
            return [httpx.get(service.url + "/readyz").json().get("warnings") for _ in range(12)]

        assert warnings() == [None] * 12
        httpx.get(service.url + "/base/tokens", headers={"X-Forwarded-For": USER})
        assert warnings() == [[UNNAMED_PROXY]] * 12
        for _ in range(12):
            httpx.get(service.url + "/base/tokens", headers={"X-Forwarded-For": USER})
        assert len([line for line in service.log_lines() if "proxy" in line]) == 1
        settings.write_text("service: {trusted_proxies: [127.0.0.1]}")
        service.send_signal(signal.SIGHUP)
        until(lambda: warnings() == [None] * 12)


def test_no_limit_counts_by_a_forwarded_address() -> None:
    """Clients of this machine have no limits, and where they have, they share one: the header may be forged."""
    with in_process_service("testnet", settings=ServiceSettings(requests_per_minute=2)) as served:
        statuses = {served.get("/testnet/tokens", headers={"X-Forwarded-For": USER}).status_code for _ in range(9)}
        assert statuses == {200}
    limited = ServiceSettings(requests_per_minute=2, limit_loopback=True)
    with in_process_service("testnet", settings=limited) as served:
        users = [f"203.0.113.{number}" for number in range(4)]
        statuses_of = [served.get("/testnet/tokens", headers={"X-Forwarded-For": each}).status_code for each in users]
        assert statuses_of == [200, 200, 429, 429]


def test_a_key_takes_its_own_turns() -> None:
    context = RequestContext("id", "/", "127.0.0.1")
    assert context.queue_client == context.client == "127.0.0.1"
    context.forwarded = f"forwarded {USER}"
    assert (context.client, context.queue_client) == ("127.0.0.1", f"forwarded {USER}")
    context.api_key = ApiKey("000acce5", "Acme", 0)
    assert context.client == context.queue_client == "key 000acce5"


_CHANGES = (
    ("listen 443 ssl;", "listen 127.0.0.1:{port};"),
    ("server 127.0.0.1:8000;", "server {address};"),
    ("ssl_certificate /etc/ssl/quotes.example.pem;", ""),
    ("ssl_certificate_key /etc/ssl/quotes.example.key;", ""),
)
"""What a test changes in the configuration in `examples`: no TLS, and free ports."""


@contextmanager
def deployed_nginx(service: ServiceProcess, folder: Path) -> Iterator[str]:
    """Run nginx as `examples` configures it in front of a service; yield its URL."""
    (port,) = free_ports(1)
    site = (EXAMPLES / "nginx.conf").read_text()
    for documented, changed in _CHANGES:
        assert site.count(documented) == 1, documented
        site = site.replace(documented, changed.format(port=port, address=service.url.removeprefix("http://")))
    folders = " ".join(
        f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    file = folder / "nginx.conf"
    file.write_text(f"events {{}}\nhttp {{\naccess_log off; {folders}\n{site}\n}}\n")
    options = ("-p", str(folder), "-e", str(folder / "log"), "-c", str(file))
    with subprocess.Popen(["nginx", *options, "-g", f"daemon off; pid {folder}/nginx.pid;"]) as proxy:
        try:
            until(lambda: accepts_connections(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            proxy.terminate()


def test_the_documented_proxy_and_settings_limit_each_client(tmp_path: Path) -> None:
    settings = tmp_path / "config.yaml"
    settings.write_text(topic_example("deploy", "service:").replace("base:", "monad:"))
    env = {"SWAPCLI_CONFIG": str(settings), "SWAPCLI_SERVICE_REQUESTS_PER_MINUTE": "2"}
    with (
        run_service("--networks", "base", "--offline", env=env) as service,
        deployed_nginx(service, tmp_path) as url,
    ):
        # nginx sees the test at 127.0.0.1, appends that, and the service reads on to the left of trusted hops.
        def status(client: str, path: str = "/base/tokens") -> int:
            return httpx.get(url + path, headers={"X-Forwarded-For": client}, timeout=TIMEOUT_S).status_code

        assert [status(USER) for _ in range(3)] == [200, 200, 429]
        assert status(OTHER_USER) == 200
        assert status(USER, "/metrics") == 404
        assert "warnings" not in httpx.get(service.url + "/readyz").json()


@pytest.mark.slow
def test_behind_an_unnamed_proxy_clients_take_turns(tmp_path: Path) -> None:
    """One client asks for more than the queue holds; another one takes a place of it, and is answered."""
    order = build_order_query("testnet")
    with run_testnet_service(slow_s=2.0) as service, deployed_nginx(service, tmp_path) as url:

        async def statuses() -> tuple[list[int], int]:
            limits = httpx.Limits(max_connections=300)
            async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, limits=limits) as client:

                async def status(user: str) -> int:
                    answer = await client.get("/testnet/route", params=order, headers={"X-Forwarded-For": user})
                    return answer.status_code

                heavy = [asyncio.create_task(status(USER)) for _ in range(200)]
                await asyncio.sleep(1.0)
                light = await status(OTHER_USER)
                return [await each for each in heavy], light

        heavy, light = asyncio.run(statuses())
        assert light == 200
        assert heavy.count(503) >= len(heavy) - ServiceSettings().max_queue - 1
        assert httpx.get(service.url + "/readyz").json()["warnings"] == [UNNAMED_PROXY]
        assert [line["proxy"] for line in service.log_lines() if "proxy" in line] == ["unnamed"]
        assert USER not in service.read_log()
