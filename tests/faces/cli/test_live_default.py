"""Quotes read public nodes by default. Where none answers, prices are shown with a warning, and no payload is built."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping

import pytest

from swapcli import Market, quote
from swapcli.core.errors import ModelledState, UpstreamError
from tests.examples import few
from tests.support.command import CommandResult, run_swapcli

NO_NETWORK = {"SWAPCLI_LIVE": "auto", "HTTPS_PROXY": "http://127.0.0.1:9"}
"""Nothing listens at that port, so that no public node is reached."""

WALLET = ("--destination", "0x1111111111111111111111111111111111111111")
ROUTE = ("route", "base", "ETH", "USDC", "1.5")
CALLDATA = ("calldata", "base", "ETH", "USDC", "1.5", *WALLET)
SHOWING = {
    "route": ROUTE,
    "depth": ("depth", "base", "ETH", "USDC", "--amounts", "1,2"),
    "compare": ("compare", "base", "ETH", "USDC", "1.5"),
    "price": ("price", "base", "ETH"),
    "pools": ("pools", "base", "ETH", "USDC"),
}


def run(*words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> CommandResult:
    return run_swapcli(*words, stdin=stdin, env={**NO_NETWORK, **(env or {})})


@pytest.mark.parametrize("command", few(sorted(SHOWING), 2))
def test_prices_are_shown_with_the_warning_first(command: str) -> None:
    ran = run(*SHOWING[command], "--json")
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["warnings"][0]["code"] == "LIVE_UNAVAILABLE"
    assert "--rpc-url" in ran.json["warnings"][0]["message"]
    assert ran.json["state"]["kind"] == "modelled"
    assert ran.stderr.startswith("warning: no live prices of base")
    plain = run(*SHOWING[command])
    assert plain.stderr.startswith("warning: no live prices of base")
    assert plain.stderr.count("no live prices") == 1
    assert plain.stdout.splitlines()[-1].startswith(f"Live prices: swapcli {command} base ")


@pytest.mark.parametrize("command", few([each for each in SHOWING if each != "route"], 2))
def test_a_csv_says_that_its_prices_are_modelled(command: str) -> None:
    rows = list(csv.DictReader(run(*SHOWING[command], "--format", "csv").stdout.splitlines()))
    assert rows
    assert {row["state"] for row in rows} == {"modelled"}


def test_a_single_field_is_printed_with_the_warning() -> None:
    ran = run(*ROUTE, "--get", "outputAmount")
    assert ran.stdout.strip().isdecimal()
    assert ran.stderr.startswith("warning: no live prices of base")


@pytest.mark.parametrize("required", [("--live",), ("--live", "require"), ("--live=require",)])
def test_live_prices_can_be_required(required: tuple[str, ...]) -> None:
    assert run(*ROUTE, *required).exit_code == 5
    assert run(*ROUTE, env={"SWAPCLI_LIVE": "require"}).exit_code == 5
    assert run(*ROUTE, "--offline", env={"SWAPCLI_LIVE": "require"}).exit_code == 0


@pytest.mark.parametrize("meant", [("--offline",), ("--live", "never")])
def test_no_warning_of_nodes_where_they_are_excluded(meant: tuple[str, ...]) -> None:
    ran = run(*ROUTE, *meant, "--json")
    assert [each["code"] for each in ran.json["warnings"]] == ["STATE_MODELLED"]
    assert ran.stderr == "warning: the state of the pools is modelled: these are not live prices\n"


def test_only_offline_conflicts_with_a_node() -> None:
    node = ("--rpc-url", "http://127.0.0.1:9")
    assert run(*ROUTE, "--offline", *node, "--json").error["code"] == "INVALID_OPTION"
    ran = run(*ROUTE, *node, "--json", env={"SWAPCLI_LIVE": "never"})
    assert (ran.exit_code, ran.error["code"]) == (5, "UNREACHABLE")


def test_a_payload_on_modelled_prices_has_to_be_meant() -> None:
    refused = run(*CALLDATA, "--json")
    assert (refused.exit_code, refused.error["code"]) == (5, "MODELLED_STATE")
    assert "--offline" in refused.error["hint"]
    assert run(*CALLDATA, "--offline", "--json").exit_code == 0
    assert run(*CALLDATA, "--json", env={"SWAPCLI_LIVE": "never"}).exit_code == 0
    route = run(*ROUTE, "--offline", "--json").stdout.encode()
    execute = ("execute", "-", *WALLET, "--json")
    assert run(*execute, stdin=route).error["code"] == "MODELLED_STATE"
    assert run(*execute, "--offline", stdin=route).exit_code == 0


def test_decode_compares_everything_but_modelled_prices() -> None:
    payload = run(*CALLDATA, "--offline", "--json").stdout.encode()
    ran = run("decode", "-", "--json", stdin=payload)
    assert ran.exit_code == 0
    codes = [each["code"] for each in ran.json["warnings"]]
    assert codes[0] == "LIVE_UNAVAILABLE"
    assert "QUOTE_UNKNOWN" in codes
    assert "QUOTE_UNKNOWN" not in run("decode", "-", "--offline", "--json", stdin=payload).stdout


def test_a_batch_warns_once_and_in_each_result() -> None:
    orders = [
        {"id": number, "token_in": "ETH", "token_out": "USDC", "amount_in": str(number * 10**17)} for number in (1, 2)
    ]
    lines = "\n".join(map(json.dumps, orders)).encode()
    ran = run("route", "base", "--batch", "-", stdin=lines)
    results = [json.loads(line)["result"] for line in ran.stdout.splitlines()]
    assert [each["warnings"][0]["code"] for each in results] == ["LIVE_UNAVAILABLE"] * 2
    assert ran.stderr.count("no live prices") == 1
    rows = csv.DictReader(run("route", "base", "--batch", "-", "--format", "csv", stdin=lines).stdout.splitlines())
    assert [row["state"] for row in rows] == ["modelled"] * 2


def test_the_library_builds_nothing_on_modelled_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_NETWORK.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/dev/null")
    found = quote("base", "ETH", "USDC", "1.5")
    assert found.warnings[0].code == "LIVE_UNAVAILABLE"
    with pytest.raises(ModelledState):
        found.transaction(destination=WALLET[1])
    with Market.embedded("base") as market:
        assert market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])["data"]
    with Market.open("base", offline=True) as market:
        assert market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])["data"]
    with Market.live("base") as market, pytest.raises(UpstreamError):
        market.quote("ETH", "USDC", "1.5")
