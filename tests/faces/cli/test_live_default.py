"""Quotes read public nodes by default. Where none answers, prices are shown with a warning, and no payload is built."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pytest

from swapcli import Market, quote
from swapcli.core.errors import ModelledState, UpstreamError
from tests.examples import but_slow, few
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
def test_prices_that_are_not_real_are_labelled_once(command: str) -> None:
    ran = run(*SHOWING[command], "--json")
    assert ran.exit_code == 0, ran.stderr
    assert ran.json["warnings"][0]["code"] == "LIVE_UNAVAILABLE"
    assert ran.json["state"]["kind"] == "modelled"
    warning, hint = ran.stderr.splitlines()
    assert warning.startswith("warning: no live prices for base: ")
    assert hint == "hint:    give --rpc-url URL, or set SWAPCLI_NETWORKS_BASE_RPC_URL"
    plain = run(*SHOWING[command])
    assert plain.stderr.splitlines() == [warning, hint]
    assert plain.stdout.splitlines()[0].endswith("(modelled, not live prices)")
    assert plain.stdout.count("modelled") == 1
    requested = run(*SHOWING[command], "--offline")
    assert requested.stderr == ""
    assert requested.stdout.count("modelled") == 1


@pytest.mark.parametrize("command", but_slow([each for each in SHOWING if each != "route"], "depth"))
def test_a_csv_says_that_its_prices_are_modelled(command: str) -> None:
    rows = list(csv.DictReader(run(*SHOWING[command], "--format", "csv").stdout.splitlines()))
    assert rows
    assert {row["state"] for row in rows} == {"modelled"}


@pytest.mark.parametrize("required", [("--live",), ("--live", "require"), ("--live=require",)])
def test_live_prices_can_be_required(required: tuple[str, ...]) -> None:
    assert run(*ROUTE, *required).exit_code == 5
    assert run(*ROUTE, env={"SWAPCLI_LIVE": "require"}).exit_code == 5
    assert run(*ROUTE, "--offline", env={"SWAPCLI_LIVE": "require"}).exit_code == 0


@pytest.mark.parametrize("meant", [("--offline",), ()])
def test_no_warning_of_nodes_where_they_are_excluded(meant: tuple[str, ...]) -> None:
    ran = run(*ROUTE, *meant, "--json", env={} if meant else {"SWAPCLI_LIVE": "never"})
    assert [each["code"] for each in ran.json["warnings"]] == ["STATE_MODELLED"]
    assert ran.stderr == "warning: the pool state is modelled: these are not live prices\n"


@pytest.mark.parametrize("alias", ["mainnet", "127.0.0.1:8545/", "${RPC}"])
def test_an_error_names_a_skipped_variable(alias: str) -> None:
    ran = run(*ROUTE, "--get", "outputAmount", env={"ETH_RPC_URL": alias})
    assert ran.exit_code == 5
    assert "ETH_RPC_URL is skipped: " in ran.stderr


def test_only_offline_conflicts_with_a_node() -> None:
    node = ("--rpc-url", "http://127.0.0.1:9")
    assert run(*ROUTE, "--offline", *node, "--json").error["code"] == "INVALID_OPTION"
    ran = run(*ROUTE, *node, "--json", env={"SWAPCLI_LIVE": "never"})
    assert (ran.exit_code, ran.error["code"]) == (5, "UNREACHABLE")


def test_decode_compares_everything_but_modelled_prices() -> None:
    payload = run(*CALLDATA, "--offline", "--json").stdout.encode()
    ran = run("decode", "-", "--json", stdin=payload)
    assert ran.exit_code == 0
    codes = [each["code"] for each in ran.json["warnings"]]
    assert codes[0] == "LIVE_UNAVAILABLE"
    assert "QUOTE_UNKNOWN" in codes
    assert "QUOTE_UNKNOWN" not in run("decode", "-", "--offline", "--json", stdin=payload).stdout


@pytest.mark.parametrize("options", [(), ("--simulate",)])
def test_the_repeated_part_of_a_plan_names_the_unreachable_node(options: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    assert run("plan", *ROUTE[1:-1], "30", "--over", "4h", "--save", str(file), "--offline").exit_code == 0
    build = ("plan", "--next", str(file), *WALLET, "--json")
    built = run(*build, "--offline")
    before = file.read_bytes()
    ran = run(*build, *options)
    assert (ran.exit_code, ran.error["code"], ran.error["retryable"]) == (5, "MODELLED_STATE", True), ran.stderr
    assert "no live prices for base" in ran.error["message"]
    assert "new plan" not in ran.stderr
    assert file.read_bytes() == before
    again = run(*build, "--offline")
    assert again.json["planPart"]["repeated"]
    assert again.json["calldata"] == built.json["calldata"]


def test_the_library_repeats_no_part_on_modelled_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_NETWORK.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/dev/null")
    file = str(tmp_path / "plan.json")
    with Market.open("base", offline=True) as market:
        market.plan("ETH", "USDC", "30", over="4h").write(file)
        market.build_part(file, destination=WALLET[1])
        assert market.build_part(file, destination=WALLET[1]).is_repeated
    with Market.open("base") as market, pytest.raises(ModelledState, match="no live prices for base") as caught:
        market.build_part(file, destination=WALLET[1])
    assert caught.value.is_retryable


def test_the_library_builds_nothing_on_modelled_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_NETWORK.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", "/dev/null")
    found = quote("base", "ETH", "USDC", "1.5")
    assert [(each.code, each.level) for each in found.warnings] == [
        ("LIVE_UNAVAILABLE", "warn"),
        ("STATE_MODELLED", "warn"),
    ]
    with pytest.raises(ModelledState):
        found.transaction(destination=WALLET[1])
    with Market.embedded("base") as market:
        assert market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])["data"]
    with Market.open("base", offline=True) as market:
        assert market.quote("ETH", "USDC", "1.5").transaction(destination=WALLET[1])["data"]
    with Market.live("base") as market, pytest.raises(UpstreamError):
        market.quote("ETH", "USDC", "1.5")
