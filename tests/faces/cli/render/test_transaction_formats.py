"""`--format`: transactions for other tools, each read back by what it is for."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faces.cli.json_commands import WALLET
from tests.support.command import CommandResult, run_swapcli

PAYING = ("--destination", WALLET)
PAYING_ON_STARKNET = ("--destination", "0x" + "1" * 63)

SELL_TOKEN = ("base", "USDC", "ETH", "2000", *PAYING)

SELL_NATIVE = ("base", "ETH", "USDC", "1.5", *PAYING)

EVM_FORMATS = ("cast", "safe", "sh", "wallet-calls", "web3")

Build = Callable[..., CommandResult]


@pytest.fixture(scope="module", params=["calldata", "execute"])
def build(request: pytest.FixtureRequest) -> Build:
    """Build the same swap by either command."""

    def run(order: tuple[str, ...], *more: str) -> CommandResult:
        if request.param == "calldata":
            return run_swapcli("calldata", *order, *more)
        route = run_swapcli("route", *order[: -len(PAYING)], "--json").stdout.encode()
        return run_swapcli("execute", *PAYING, *more, stdin=route)

    return run


def transactions(build: Build, order: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in each.items() if name != "what"}
        for each in build(order, "--json").json["transactions"]
    ]


def bash(script: str, *, folder: Path | None = None, stdin: str = "") -> str:
    path = os.pathsep.join([str(folder)] * bool(folder) + [os.defpath])
    command = ["bash", "-eu", "-c", script]
    ran = subprocess.run(command, env={"PATH": path}, input=stdin, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("order", [SELL_TOKEN, pytest.param(SELL_NATIVE, marks=pytest.mark.slow)])
def test_web3_prints_the_transactions_of_the_json(build: Build, order: tuple[str, ...]) -> None:
    printed = [json.loads(line) for line in build(order, "--format", "web3").stdout.splitlines()]
    assert printed == transactions(build, order)


@pytest.mark.parametrize("order", [SELL_TOKEN, pytest.param(SELL_NATIVE, marks=pytest.mark.slow)])
def test_cast_lines_run_in_a_shell_with_exact_values(build: Build, order: tuple[str, ...], tmp_path: Path) -> None:
    fake = tmp_path / "cast"
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$*"\n')
    fake.chmod(0o755)
    printed = bash(build(order, "--format", "cast").stdout, folder=tmp_path).splitlines()
    assert printed == [
        f"send --chain 8453 --value {int(str(each['value']), 0)} {each['to']} {each['data']}"
        for each in transactions(build, order)
    ]


@pytest.mark.parametrize("order", [SELL_TOKEN, SELL_NATIVE])
def test_shell_variables_are_the_fields_of_the_json(build: Build, order: tuple[str, ...]) -> None:
    document, assignments = build(order, "--json").json, build(order, "--format", "sh").stdout
    names = ("TO", "VALUE", "CALLDATA", "NETWORK", "MIN_RECEIVED", "CHAIN_ID", "APPROVALS", "WARNINGS")
    script = f'eval "$(cat)"; printf "%s\\n" {" ".join(f"$SWAP_{name}" for name in names[:-1])} "$SWAP_WARNINGS"'
    *approvals, _ = document["transactions"]
    assert bash(script, stdin=assignments).splitlines() == [
        *(document[name] for name in ("to", "value", "calldata", "network", "minReceived")),
        "8453",
        str(len(approvals)),
        " ".join(each["code"] for each in document["warnings"]),
    ]
    for number, each in enumerate(approvals, start=1):
        script = f'eval "$(cat)"; echo "$SWAP_APPROVAL_{number}_TO $SWAP_APPROVAL_{number}_CALLDATA"'
        assert bash(script, stdin=assignments) == f"{each['to']} {each['data']}\n"


def test_a_safe_file_has_the_whole_batch(build: Build) -> None:
    document = build(SELL_TOKEN, "--format", "safe").stdout
    file, expected = json.loads(document), transactions(build, SELL_TOKEN)
    assert (file["version"], file["chainId"]) == ("1.0", "8453")
    assert [(each["to"], each["value"]) for each in file["transactions"]] == [
        (each["to"], str(int(str(each["value"]), 0))) for each in expected
    ]
    approve, swap = file["transactions"]
    assert (approve["data"], swap["data"]) == (None, None)
    assert approve["contractInputsValues"] == {"spender": swap["to"], "value": "2000000000"}
    assert (approve["contractMethod"]["name"], swap["contractMethod"]["name"]) == ("approve", "swap")
    assert swap["contractInputsValues"].keys() == {"route", "swaps"}


def test_a_wallet_is_asked_for_the_whole_batch(build: Build) -> None:
    document, expected = build(SELL_TOKEN, "--format", "wallet-calls").json, transactions(build, SELL_TOKEN)
    calls = [{"to": each["to"], "data": each["data"], "value": hex(int(str(each["value"]), 0))} for each in expected]
    assert document == {
        "method": "wallet_sendCalls",
        "params": [{"version": "2.0.0", "chainId": "0x2105", "atomicRequired": True, "calls": calls}],
    }


def test_warnings_stay_on_stderr(build: Build) -> None:
    ran = build(SELL_NATIVE, "--format", "sh")
    assert "warning: " in ran.stderr
    assert "warning: " not in ran.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("calldata", *SELL_NATIVE, "--format", "csv"), '--format: no format "csv" here'),
        (("networks", "--format", "cast"), '--format: no format "cast" here'),
        (
            ("networks", "--format", "csv", "--get", "0"),
            "--get prints a field of the JSON, so it cannot be combined with --format csv",
        ),
        (
            ("calldata", "starknet", "STRK", "USDC", "1", *PAYING_ON_STARKNET, "--format", "cast"),
            "--format cast is for EVM networks",
        ),
    ],
)
def test_a_format_that_does_not_fit_is_refused(words: tuple[str, ...], message: str) -> None:
    ran = run_swapcli(*words)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert f"error: {message}" in ran.stderr


def test_format_json_is_json_with_errors_too() -> None:
    assert run_swapcli("networks", "--format", "json").json == run_swapcli("networks", "--json").json
    assert run_swapcli("tokens", "nosuch", "--format", "json").error["code"] == "UNKNOWN_NETWORK"
