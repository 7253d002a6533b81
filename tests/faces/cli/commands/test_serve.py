"""`swapcli serve`: fit for scripts. Every service here is a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

from swapcli.core.networks.catalogue import network_names
from swapcli.faces.service.keys import KeyStore
from tests.examples import few, few_rows
from tests.support.command import clean_environment, run_swapcli
from tests.support.service import build_order_query
from tests.support.service_process import SWAPCLI_COMMAND, TIMEOUT_S, ServiceProcess, ready_file_option, run_service
from tests.support.testnet import USDC, WETH
from tests.support.waiting import until


def get(url: str, **headers: str) -> tuple[int, object]:
    """Return the status and the JSON of a response, also of an error."""
    try:
        with urlopen(Request(url, headers=headers), timeout=TIMEOUT_S) as reply:
            return reply.status, json.loads(reply.read())
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


ORDER = f"/testnet/v2/route?amount=1000000000000000000&tokenInAddress={WETH}&tokenOutAddress={USDC}"


def test_one_line_says_where_it_is_and_once_is_one_request(market_file: str, tmp_path: Path) -> None:
    file, option = ready_file_option(tmp_path)
    with run_service("--max-requests", "1", "--market", market_file, *option) as service:
        ready = {"url": service.url, "pid": service.process.pid, "networks": ["testnet"], "modelled": ["testnet"]}
        assert service.ready_message == ready
        assert json.loads(file.read_text()) == service.ready_message
        status, document = get(service.url + ORDER)
        assert service.wait() == 0
    printed = run_swapcli("route", "testnet", WETH, USDC, "1", "--market", market_file, "--json").json
    assert status == 200
    assert isinstance(document, dict)
    assert document["outputAmount"] == printed["outputAmount"]
    assert service.stdout == ""
    (logged,) = [json.loads(line) for line in service.stderr.splitlines()]
    assert (logged["status"], logged["network"]) == (200, "testnet")


@pytest.mark.slow
def test_a_full_disk_under_its_output_does_not_end_it(market_file: str, tmp_path: Path) -> None:
    file, option = ready_file_option(tmp_path)
    command = [*SWAPCLI_COMMAND, "serve", "--port", "0", "--market", market_file, *option]
    with open("/dev/full", "w") as full, subprocess.Popen(command, stdout=full, stderr=full) as process:
        try:
            until(file.exists)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1.0)
            assert get(json.loads(file.read_text())["url"] + ORDER)[0] == 200
        finally:
            process.kill()


@pytest.mark.slow
def test_a_request_that_is_refused_is_one_too(market_file: str) -> None:
    with run_service("--max-requests", "1", "--market", market_file) as service:
        assert get(service.url + "/testnet/v2/route")[0] == 400
        assert service.wait() == 0


@pytest.mark.slow
def test_it_ends_after_as_many_requests_as_it_was_told(market_file: str) -> None:
    with run_service("--max-requests", "3", "--market", market_file) as service:
        assert [get(service.url + "/testnet/healthcheck")[0] for _ in range(3)] == [200] * 3
        assert service.wait() == 0


@pytest.mark.parametrize("how", few([signal.SIGTERM, signal.SIGINT], 1))
def test_told_to_stop_it_ends_well(market_file: str, how: signal.Signals) -> None:
    with run_service("--market", market_file) as service:
        assert service.stop(how) == 0
        assert service.stderr == ""


@pytest.mark.slow
def test_all_networks_are_served_unless_some_are_named() -> None:
    with run_service("--networks", "monad,base") as service:
        assert service.ready_message["networks"] == ["monad", "base"]
        assert get(service.url + "/starknet/healthcheck")[0] == 404
    with run_service() as service:
        assert service.ready_message["networks"] == list(network_names())


def test_a_service_beyond_this_machine_is_warned_of_loudly(market_file: str) -> None:
    with run_service("--host", "0.0.0.0", "--market", market_file) as service:
        assert service.stop() == 0
    assert service.stderr.startswith("WARNING: listening on 0.0.0.0: anyone who can reach this machine")


@pytest.mark.parametrize(("block", "is_warned"), few_rows([("safe", True), ("latest", False)], 1))
def test_a_block_that_is_not_followed_is_named_at_start(market_file: str, block: str, is_warned: bool) -> None:
    with run_service("--market", market_file, env={"SWAPCLI_BLOCK": block}) as service:
        assert service.stop() == 0
    warning = "WARNING: the setting `block` is `safe`, but a service follows and quotes the latest block\n"
    assert service.stderr == warning * is_warned


def test_settings_say_where_to_listen_and_options_go_before_them(market_file: str) -> None:
    env = {"SWAPCLI_SERVICE_PORT": "1", "SWAPCLI_SERVICE_HOST": "::1", "SWAPCLI_MARKET": market_file}
    with run_service("--host", "127.0.0.1", env=env) as service:
        assert service.url.startswith("http://127.0.0.1:")


def test_a_revoked_key_stops_working_at_once(market_file: str, tmp_path: Path) -> None:
    keys = ("--keys-file", str(tmp_path / "keys.json"))
    key = run_swapcli("keys", "create", "acme", *keys).stdout.strip()
    earning = f"{ORDER}&integratorAddress=0x{'9' * 40}&integratorFeePercentageBps=10"
    with run_service("--market", market_file, *keys) as service:
        assert get(service.url + earning)[0] == 401
        status, document = get(service.url + earning, **{"X-API-Key": key})
        assert isinstance(document, dict)
        assert (status, document["integratorName"]) == (200, "acme")
        run_swapcli("keys", "revoke", "acme", *keys)
        assert get(service.url + earning, **{"X-API-Key": key})[0] == 401
        service.stop()
        assert key not in service.stderr


REFUSED = [
    (["--port", "65536"], "--port: expected"),
    (["--port", "x"], "--port: expected"),
    (["--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
    (["--max-requests", "0"], "--max-requests: expected a whole number above 0"),
    (["--max-requests", "-1"], "--max-requests: expected"),
    (["--workers", "2", "--max-requests", "1"], "cannot be combined with"),
    (["--networks", "nowhere"], 'no network "nowhere"'),
    (["--market", "/nonexistent"], "cannot read /nonexistent"),
    (["--ready-file", "/nonexistent/folder/file"], "cannot write /nonexistent/folder/file"),
    (["--max-age", "soon"], "--max-age: expected"),
]


@pytest.mark.parametrize(("options", "message"), few_rows(REFUSED, 4))
def test_invalid_options_fail_before_anything_is_printed(options: list[str], message: str) -> None:
    command = [*SWAPCLI_COMMAND, "serve", "--port", "0", *options, "--json"]
    ran = subprocess.run(
        command, capture_output=True, text=True, env=clean_environment(), timeout=TIMEOUT_S, check=False
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert message in json.loads(ran.stderr)["message"]


def test_a_market_file_is_served_for_its_network_alone(market_file: str) -> None:
    ran = run_swapcli("serve", "--market", market_file, "--networks", "base")
    assert (ran.exit_code, ran.stderr.splitlines()[0]) == (2, "error: the market file is only for testnet")


def test_a_broken_file_of_keys_stops_the_start(market_file: str, tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    file.write_text("[]")
    ran = run_swapcli("serve", "--market", market_file, "--keys-file", str(file), "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "CONFIG_ERROR")


def test_a_port_that_is_taken_is_said_so(market_file: str) -> None:
    with run_service("--market", market_file) as service:
        port = service.url.rpartition(":")[2]
        ran = run_swapcli("serve", "--market", market_file, "--port", port)
        assert ran.exit_code == 2
        assert f"port {port}" in ran.stderr


@pytest.mark.slow
def test_the_ready_file_is_never_half_there(market_file: str, tmp_path: Path) -> None:
    file, option = ready_file_option(tmp_path)
    file.write_text("an older one")
    inode = file.stat().st_ino
    with run_service("--market", market_file, *option) as service:
        assert json.loads(file.read_text())["url"] == service.url
        assert file.stat().st_ino != inode
        assert os.listdir(tmp_path) == [file.name]


OWN_NETWORK = """
networks:
  mine:
    chain_id: 31337
    native: {symbol: ETH, name: Ether, decimals: 18}
    tokens: [{address: 0x7878787878787878787878787878787878787878, symbol: MINE, name: My Token, decimals: 18}]
"""


@pytest.mark.slow
def test_a_network_without_a_market_is_listed_but_not_quoted(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(OWN_NETWORK)
    with run_service("--config", str(config), "--networks", "mine,monad") as service:
        status, tokens = get(service.url + "/mine/tokens")
        assert isinstance(tokens, list)
        assert (status, [token["symbol"] for token in tokens]) == (200, ["ETH", "MINE"])
        assert (
            get(service.url + f"/mine/route?amount=1&tokenInAddress={'0x' + '78' * 20}&tokenOutAddress={WETH}")[0]
            == 503
        )
        status, message = get(service.url + "/mine/healthcheck")
        assert status == 503
        assert isinstance(message, dict)
        assert message["message"] == "mine has no pools"
        assert get(service.url + "/monad/healthcheck")[0] == 200
        assert get(service.url + "/readyz") == (200, {"ready": True, "missing": ["mine"]})
        assert service.stop() == 0
    assert "set a node with SWAPCLI_NETWORKS_MINE_RPC_URL" in service.stderr
    with run_service("--config", str(config), "--networks", "mine") as service:
        assert get(service.url + "/readyz") == (503, {"ready": False, "missing": ["mine"]})
        assert service.stop() == 0


# --- clients and probes


@pytest.mark.slow
def test_health_pages_mind_no_foreign_credentials(market_file: str) -> None:
    paths = ("/livez", "/readyz", "/readyz?network=testnet", "/testnet/healthcheck", "/testnet/v2/healthcheck")
    with run_service("--market", market_file) as service:
        assert get(service.url + ORDER)[0] == 200
        for credentials in ("Bearer of-an-ingress", "Basic dXNlcjpwYXNz"):
            for path in paths:
                assert get(service.url + path, Authorization=credentials)[0] == 200, path
            with urlopen(Request(service.url + "/metrics", headers={"Authorization": credentials})) as reply:
                assert reply.status == 200
        assert get(service.url + "/livez") == (200, {"live": True})
        assert get(service.url + ORDER, Authorization="Bearer of-an-ingress")[0] == 401


def reloads(service: ServiceProcess, count: int) -> list[dict[str, object]]:
    """The log's lines about reloading, once there are so many."""
    until_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < until_s:
        found = [json.loads(line) for line in service.whole_lines() if '"reload"' in line]
        if len(found) >= count:
            return found
        time.sleep(0.02)
    raise AssertionError("it was not reloaded")


def test_sighup_reloads_valid_settings_only(market_file: str, tmp_path: Path) -> None:
    config, keys = tmp_path / "config.yaml", tmp_path / "other-keys.json"
    key = run_swapcli("keys", "create", "acme", "--keys-file", str(keys)).stdout.strip()
    config.write_text("service: {limit_loopback: true}\n")
    with run_service("--config", str(config), "--market", market_file) as service:

        def sent(**headers: str) -> tuple[int, str | None, str | None]:
            """Status, limit and the site that may call."""
            try:
                with urlopen(Request(service.url + "/testnet/tokens", headers=headers), timeout=TIMEOUT_S) as reply:
                    status, reported = reply.status, reply.headers
            except HTTPError as error:
                with error:
                    status, reported = error.code, error.headers
            return status, reported["RateLimit-Limit"], reported["Access-Control-Allow-Origin"]

        origin = {"Origin": "https://app.example"}
        assert sent(**origin) == (200, "200", None)
        assert sent(**{"X-API-Key": key})[0] == 401
        config.write_text(
            f"service: {{limit_loopback: true, requests_per_minute: 77, cors_origins: [https://app.example],"
            f" keys_file: {keys}}}\n"
        )
        service.process.send_signal(signal.SIGHUP)
        assert reloads(service, 1)[0]["reload"] == "done"
        assert sent(**origin) == (200, "77", "https://app.example")
        assert sent(**{"X-API-Key": key})[:2] == (200, "1000")
        broken = tmp_path / "broken.json"
        broken.write_text("[]")
        texts = ("service: {requests_per_minute: 0}", "service: {requests", f"service: {{keys_file: {broken}}}")
        for number, text in enumerate(texts):
            config.write_text(text)
            service.process.send_signal(signal.SIGHUP)
            line = reloads(service, number + 2)[-1]
            assert (line["reload"], bool(line["message"])) == ("failed", True)
            assert sent(**origin) == (200, "77", "https://app.example")
        assert service.stop() == 0


@pytest.mark.parametrize("plan", [None, "revoked", "--expires"])
def test_a_service_that_could_serve_nobody_does_not_start(market_file: str, tmp_path: Path, plan: str | None) -> None:
    file = tmp_path / "keys.json"
    if plan:
        store = KeyStore(file, now_s=lambda: 0.0)
        store.create("a", expires="1970-01-02" if plan == "--expires" else None)
        if plan == "revoked":
            store.revoke("a")
    result = run_swapcli("serve", "--port", "0", "--require-keys", "--keys-file", str(file), "--market", market_file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        f"error: service.require_keys is set, but {file} has no valid API key",
        f"hint:  swapcli keys create NAME --keys-file {file}",
    ]


def test_the_command_serves_only_clients_with_a_key(market_file: str, tmp_path: Path) -> None:
    file, config = tmp_path / "keys.json", tmp_path / "config.yaml"
    key = run_swapcli("keys", "create", "acme", "--keys-file", str(file)).stdout.strip()
    config.write_text(f"service: {{keys_file: {file}}}\n")
    options = ("--config", str(config), "--market", market_file)

    def status(url: str, **headers: str) -> int:
        return get(url + "/supported-chains", **headers)[0]

    with run_service("--config", str(config), "--networks", "base", "--offline", "--require-keys") as service:
        assert (status(service.url), status(service.url, **{"X-API-Key": key})) == (401, 200)
        order = ("route", "base", "ETH", "USDC", "1", "--api-url", service.url, "--json")
        refused = run_swapcli(*order)
        assert refused.exit_code == 4
        assert "this service requires an API key" in refused.stderr
        assert run_swapcli(*order, env={"SWAPCLI_API_KEY": key}).exit_code == 0
        assert service.stop() == 0
    with run_service(*options) as service:
        assert status(service.url) == 200
        config.write_text(f"service: {{keys_file: {file}, require_keys: true}}\n")
        service.process.send_signal(signal.SIGHUP)
        until(lambda: status(service.url) == 401)
        config.write_text(f"service: {{keys_file: {tmp_path / 'none.json'}, require_keys: true}}\n")
        service.process.send_signal(signal.SIGHUP)
        failed = reloads(service, 2)[-1]
        assert "has no valid API key" in str(failed["message"])
        assert status(service.url, **{"X-API-Key": key}) == 200
        assert service.stop() == 0


@pytest.mark.slow
def test_hangups_under_load_lose_no_request(market_file: str) -> None:
    with run_service("--market", market_file) as service, ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(lambda: [get(service.url + ORDER)[0] for _ in range(40)]) for _ in range(4)]
        while not all(each.done() for each in clients):
            service.process.send_signal(signal.SIGHUP)
            time.sleep(0.01)
        assert [status for each in clients for status in each.result()] == [200] * 160
        assert service.stop() == 0


@pytest.mark.slow
def test_an_unread_log_does_not_block_the_service(market_file: str) -> None:
    command = [*SWAPCLI_COMMAND, "serve", "--port", "0", "--market", market_file, "--host", "0.0.0.0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment())
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        url = json.loads(process.stdout.readline())["url"].replace("0.0.0.0", "127.0.0.1")
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda _: get(url + "/livez")[0], range(1_000)))
        assert done == [200] * 1_000
        assert get(url + ORDER)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
        lines = process.stderr.read().splitlines()
        assert lines[0].startswith(b"WARNING: listening on 0.0.0.0")
        assert 100 < len(lines) < 1_000
    finally:
        process.kill()
        process.communicate()


# --- stores and nodes


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    """A folder with an imported store of base."""
    exported = run_swapcli("market", "export", "base")
    imported = run_swapcli("market", "import", "-", "--store", str(tmp_path), stdin=exported.stdout.encode())
    assert (exported.exit_code, imported.exit_code) == (0, 0)
    return tmp_path


def health(service: ServiceProcess, name: str = "base") -> tuple[int, str]:
    status, document = get(f"{service.url}/{name}/v2/healthcheck")
    assert isinstance(document, dict)
    return status, document["message"]


def test_the_store_of_a_network_goes_before_the_embedded_market(stores: Path) -> None:
    pool = json.loads(run_swapcli("market", "export", "base").stdout)
    few = {**pool, "pools": pool["pools"][:3]}
    run_swapcli("market", "import", "-", "--replace", "--store", str(stores), stdin=json.dumps(few).encode())
    with run_service("--max-requests", "1", "--networks", "base", "--store", str(stores)) as service:
        assert health(service)[1] == "Base router is alive and well: 3 pools, modelled state"
        assert service.wait() == 0
    with run_service("--max-requests", "1", "--networks", "8453", env={"SWAPCLI_STORE_DIR": str(stores)}) as service:
        assert service.ready_message["networks"] == ["base"]
        assert "3 pools" in health(service)[1]


def test_state_of_no_moment_is_never_young_enough() -> None:
    with run_service("--max-requests", "1", "--networks", "base", "--max-age", "60") as service:
        message = (
            "base is quoted on modelled state, which has no timestamp, so a maximum age of 60 seconds cannot be met"
        )
        assert health(service) == (503, message)


def test_a_store_that_cannot_be_used_stops_the_start(stores: Path) -> None:
    (stores / "base.sqlite").write_bytes(b"no store" * 100)
    ran = run_swapcli("serve", "--networks", "base", "--store", str(stores), "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "MARKET_ERROR")
    assert "is not a swapcli store" in ran.error["message"]


@pytest.mark.slow
def test_a_network_that_only_its_store_knows_is_served_by_name(market_file: str, tmp_path: Path) -> None:
    assert run_swapcli("market", "import", market_file, "--store", str(tmp_path)).exit_code == 0
    with run_service("--max-requests", "2", "--networks", "testnet", "--store", str(tmp_path)) as service:
        assert service.ready_message["networks"] == ["testnet"]
        assert get(service.url + ORDER)[0] == 200
        assert "5 pools" in health(service, "testnet")[1]
    assert run_swapcli("serve", "--networks", "testnet", "--store", str(tmp_path / "none")).exit_code == 2


def test_offline_contacts_no_node() -> None:
    env = {"SWAPCLI_NETWORKS_BASE_RPC_URL": "http://127.0.0.1:1"}
    with run_service("--max-requests", "1", "--networks", "base", "--offline", env=env) as service:
        assert health(service)[0] == 200
        assert service.wait() == 0
        assert "market_updates" not in service.stderr


def test_a_network_with_a_silent_node_is_not_quoted() -> None:
    env = {"SWAPCLI_NETWORKS_BASE_RPC_URL": "http://user:secret@127.0.0.1:1/secret", "SWAPCLI_LIVE": "auto"}
    env |= {"HTTPS_PROXY": "http://127.0.0.1:9"}  # no public node of the other network responds
    with run_service("--max-requests", "6", "--networks", "base,monad", env=env) as service:
        assert service.ready_message["modelled"] == ["monad"]
        assert health(service) == (503, "the pools of base could not be read yet")
        assert "the prices of monad are modelled" in health(service, "monad")[1]
        assert get(service.url + "/readyz") == (503, {"ready": False, "missing": ["base", "monad"]})
        assert get(service.url + "/readyz?network=base") == (503, {"ready": False, "missing": ["base"]})
        assert get(f"{service.url}/monad/v2/route?{urlencode(build_order_query('monad'))}")[0] == 200
        assert get(service.url + "/readyz?network=nowhere")[0] == 404
        assert service.wait() == 0
    failing = [json.loads(line) for line in service.stderr.splitlines() if "market_updates" in line]
    assert ("base", "failing") in [(line["network"], line["market_updates"]) for line in failing]
    assert "secret" not in service.stderr
