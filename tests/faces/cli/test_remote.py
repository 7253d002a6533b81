"""`--api-url`: a real service returns the same output as this process."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.networks.catalogue import network_names
from tests.examples import few, few_rows
from tests.support.command import CommandResult, run_swapcli
from tests.support.loopback_server import http_response, loopback_server, respond_with
from tests.support.service import build_app, open_registry, serve_app
from tests.support.service_process import run_service

WALLET = "0x" + "81" * 20
KEY = "swk_a-secret-that-nobody-may-see"


@pytest.fixture(scope="module")
def service_url() -> Iterator[str]:
    """The URL of a service that has no other clients.

    After an order of about the same amount it may start from that search, and split a little differently.
    """
    with run_service() as service:
        yield service.url


@pytest.fixture
def small_service_url() -> Iterator[str]:
    """The URL of a service of two networks."""
    with serve_app(build_app(open_registry(["base", "starknet"]))) as url:
        yield url


def run_with_service(url: str, *words: str, **more: Any) -> CommandResult:
    return run_swapcli(*words, "--api-url", url, **more)


NOT_REPORTED = ("gasUnits", "gasPriceWei", "singlePath", "exact")
"""Figures that a service leaves out of the bodies of the interface."""


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    """Without what differs between two answers to one question. Only this process knows which pools are invented."""
    hidden = {"time", "meta", "market", "state", "expiresAt", "bestQuotesByProtocols", "warnings", *NOT_REPORTED}
    return {
        name: timeless(value) if isinstance(value, dict) else value
        for name, value in document.items()
        if name not in hidden
    }


def codes_of(ran: CommandResult) -> list[str]:
    return [each["code"] for each in ran.json["warnings"]]


WHOLE = ("--shares", "whole")
ORDERS = [
    ("base", "ETH", "USDC", "3"),
    ("base", "USDC", "ETH", "5000"),
    ("base", "AERO", "cbBTC", "100", "--direct"),
    ("base", "ETH", "WETH", "1"),
    ("base", "ETH", "USDC", "3", "--api-version", "v1"),
    ("base", "ETH", "USDC", "3", "--exclude-protocols", "uniswapV3"),
    ("base", "ETH", "USDC", "3", "--only-protocols", "uniswapV3,aerodromeV3"),
    ("starknet", "STRK", "USDC", "100"),
]


precisions = pytest.mark.parametrize("requested", [(), ("--shares", "whole"), ("--shares", "fine")])
"""Without the option a service gives whole percents."""


@precisions
@pytest.mark.parametrize("order", few(ORDERS, 4))
def test_a_service_gives_the_same_route(service_url: str, order: tuple[str, ...], requested: tuple[str, ...]) -> None:
    there = run_with_service(service_url, "route", *order, *requested, "--json")
    here = run_swapcli("route", *order, *(requested or WHOLE), "--json")
    assert there.exit_code == here.exit_code
    if here.exit_code == 0:
        own = {"gasValueSource"}  # a service values gas itself
        if order[1:3] == ("ETH", "WETH"):  # wrapping has no slippage here, and a service may build it with one
            own |= {"minReceived", "slippage"}
        answers = [
            {name: value for name, value in timeless(ran.json).items() if name not in own} for ran in (there, here)
        ]
        assert answers[0] == answers[1]
        assert codes_of(there) == codes_of(here) == ["STATE_MODELLED"]
        assert all(there.json[name] in (None, here.json[name]) for name in NOT_REPORTED)
        assert there.json["state"]["service"] == service_url


@precisions
@pytest.mark.parametrize("order", few(ORDERS, 3))
def test_a_service_gives_the_same_payload(service_url: str, order: tuple[str, ...], requested: tuple[str, ...]) -> None:
    words = ("calldata", *order, "--destination", WALLET, "--with-approval", "--json")
    there, here = run_with_service(service_url, *words, *requested), run_swapcli(*words, *(requested or WHOLE))
    assert there.exit_code == here.exit_code
    if here.exit_code == 0:
        fields = ("to", "calldata", "value", "transactions")
        assert {name: there.json[name] for name in fields} == {name: here.json[name] for name in fields}


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_service_builds_from_a_route(service_url: str, version: str) -> None:
    route = run_swapcli("route", "base", "ETH", "USDC", "3", "--api-version", version, "--json").stdout.encode()
    words = ("execute", "--destination", WALLET, "--get", "calldata")
    assert run_with_service(service_url, *words, stdin=route).stdout == run_swapcli(*words, stdin=route).stdout


def test_people_are_told_who_answered(service_url: str) -> None:
    ran = run_with_service(service_url, "route", "base", "ETH", "USDC", "3")
    assert ran.stdout.splitlines()[0].endswith(f"modelled, not live prices, quoted by {service_url}")
    assert ran.stderr == ""
    table = run_with_service(service_url, "route", "base", "ETH", "USDC", "3", "--format=table")
    assert "quoted by" in table.stdout


def test_a_batch_can_be_requested_of_a_service(service_url: str) -> None:
    order = {"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": str(10**18)}
    lines = "\n".join(json.dumps(order | {"id": number}) for number in range(3)).encode()
    ran = run_with_service(service_url, "route", "base", "--batch", "-", stdin=lines)
    here = run_swapcli("route", "base", "--batch", "-", *WHOLE, stdin=lines)
    there, local = ([timeless(json.loads(line)["result"]) for line in each.stdout.splitlines()] for each in (ran, here))
    assert {result.pop("gasValueSource") for result in there} == {"service"}
    assert {result.pop("gasValueSource") for result in local} == {"midPrices"}
    assert there == local


def test_the_health_of_a_service_is_its_own(small_service_url: str) -> None:
    ran = run_with_service(small_service_url, "health", "base", "starknet", "--json")
    assert ran.exit_code == 0
    assert [(each["network"], each["healthy"], each["status"]) for each in ran.json] == [
        ("base", True, 200), ("starknet", True, 200),
    ]  # fmt: skip
    assert run_with_service(small_service_url, "health", "base", "monad").exit_code == 8


def test_health_shows_the_state_of_the_service(small_service_url: str) -> None:
    there = run_with_service(small_service_url, "health", "base", "starknet", "--json").json
    here = run_swapcli("health", "base", "starknet", "--json").json
    assert [each["state"]["kind"] for each in there] == [each["state"]["kind"] for each in here] == ["modelled"] * 2
    assert [each["state"]["service"] for each in there] == [small_service_url] * 2
    for form in ("--format=plain", "--format=table"):
        rows = run_with_service(small_service_url, "health", "base", "starknet", form).stdout.splitlines()[1:3]
        assert [row.split()[2] for row in rows] == ["modelled", "modelled"]


@pytest.mark.parametrize(("changed", "exit_code"), few_rows([({}, 0), ({"pools": []}, 8)], 1))
def test_health_shows_the_state_of_any_market(tmp_path: Path, changed: dict[str, Any], exit_code: int) -> None:
    file = tmp_path / "market.json"
    assert run_swapcli("market", "export", "citrea", str(file)).exit_code == 0
    recorded = {"provenance": "recorded", "block": 1234, "timestamp": int(time.time()) - 7_200}
    file.write_text(json.dumps(json.loads(file.read_text()) | recorded | changed))
    with run_service("--market", str(file)) as service:
        ran = run_with_service(service.url, "health", "--json")
    (health,) = ran.json
    assert (ran.exit_code, health["healthy"]) == (exit_code, exit_code == 0)
    assert (health["state"]["kind"], health["state"]["block"]) == ("recorded", 1234)
    assert 7_200 <= health["state"]["ageS"] < 7_300


def test_health_checks_the_networks_of_the_service(small_service_url: str) -> None:
    ran = run_with_service(small_service_url, "health", "--json")
    assert ran.exit_code == 0
    assert [each["network"] for each in ran.json] == ["base", "starknet"]


def test_health_of_a_service_without_a_list_of_networks() -> None:
    with loopback_server(respond_with(http_response(404, "{}"))) as silent:
        ran = run_swapcli("health", "--api-url", silent.url, "--json", "--retries", "0")
    assert [each["network"] for each in ran.json] == list(network_names())
    with loopback_server(respond_with(http_response(500, "{}"))) as failing:
        ran = run_swapcli("health", "--api-url", failing.url, "--json", "--retries", "0")
    assert (ran.exit_code, ran.stdout, ran.error["code"]) == (8, "", "UNHEALTHY")
    with loopback_server(
        respond_with(http_response(200, '[{"chain_id": 1, "chain_name": "else\\u001bwhere"}]'))
    ) as foreign:
        ran = run_swapcli("health", "--api-url", foreign.url, "--json", "--retries", "0")
    assert (ran.exit_code, ran.error["code"]) == (2, "UNKNOWN_NETWORK")
    assert "\x1b" not in ran.stderr


def test_a_setting_names_the_service_too(service_url: str) -> None:
    env = {"SWAPCLI_API_URL": service_url}
    assert run_swapcli("route", "base", "ETH", "USDC", "3", "--json", env=env).json["state"]["service"] == service_url


# What does not fit.


def test_a_market_does_not_fit_a_service(service_url: str, market_file: str) -> None:
    ran = run_with_service(service_url, "route", "testnet", "ETH", "USDC", "1", "--market", market_file, "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "INVALID_OPTION")


def test_options_override_the_settings(service_url: str, market_file: str) -> None:
    here = run_swapcli(
        "route", "testnet", "ETH", "USDC", "1", "--market", market_file, "--json", env={"SWAPCLI_API_URL": service_url}
    )
    assert here.json["state"]["service"] is None
    there = run_with_service(
        service_url, "route", "base", "ETH", "USDC", "1", "--json", env={"SWAPCLI_MARKET": market_file}
    )
    assert there.json["state"]["service"] == service_url
    both = {"SWAPCLI_API_URL": service_url, "SWAPCLI_MARKET": market_file}
    assert run_swapcli("route", "base", "ETH", "USDC", "1", env=both).exit_code == 2


@pytest.mark.parametrize("option", [["--certify"], ["--gas-price", "1"], ["--max-hops", "2"], ["--reverse"]])
def test_what_a_service_cannot_be_requested_is_refused(service_url: str, option: list[str]) -> None:
    ran = run_with_service(service_url, "route", "base", "ETH", "USDC", "1", *option, "--json")
    assert (ran.exit_code, ran.stdout) == (2, "")


@pytest.mark.parametrize("url", ["ftp://x", "nowhere", "http://user:word@x", "http://x/?a=b"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    ran = run_swapcli("route", "base", "ETH", "USDC", "1", "--api-url", url)
    assert ran.exit_code == 2
    assert ran.stderr.startswith("error: --api-url: expected")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.mark.parametrize("command", ["route", "calldata"])
def test_a_service_that_is_not_there_is_status_5(command: str) -> None:
    words = [command, "base", "ETH", "USDC", "1", "--destination", WALLET]
    ran = run_swapcli(*words, "--api-url", f"http://127.0.0.1:{free_port()}", "--json")
    assert (ran.exit_code, ran.error["code"]) == (5, "UNREACHABLE")


def test_a_service_that_says_nothing_is_given_up_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ran = run_swapcli("health", "base", "--api-url", url, "--timeout", "0.3", "--retries", "0", "--json")
    assert (ran.exit_code, ran.error["code"]) == (8, "UNHEALTHY")
    assert ran.json[0]["healthy"] is False


@pytest.mark.parametrize("retries", ["-1", "x", "101", "", "1.5"])
def test_retries_are_a_small_number(retries: str) -> None:
    assert run_swapcli("health", "base", f"--retries={retries}").exit_code == 2


def test_keys_are_sent_and_never_shown(tmp_path: Path) -> None:
    keys = ("--keys-file", str(tmp_path / "keys.json"))
    key = run_swapcli("keys", "create", "acme", *keys).stdout.strip()
    (tmp_path / "key").write_text(key)
    (tmp_path / "wrong").write_text(KEY)
    earning = ("--integrator-address", "0x" + "9" * 40, "--integrator-fee-bps", "10", "--json")
    words = ("route", "base", "ETH", "USDC", "1", *earning)
    with run_service("--networks", "base", *keys) as service:
        fine = run_with_service(service.url, *words, "--api-key-file", str(tmp_path / "key"))
        assert fine.json["integratorFeePercentageBps"] == 10
        refused = run_with_service(service.url, *words, env={"SWAPCLI_API_KEY": KEY})
        assert (refused.exit_code, refused.error["code"]) == (4, "UNAUTHORIZED")
        service.stop()
        for text in (fine.stdout, fine.stderr, refused.stdout, refused.stderr, service.stderr):
            assert key not in text
            assert KEY not in text
