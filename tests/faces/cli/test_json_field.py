"""`--get`: one field of the JSON, for every command that has `--json`."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.examples import but_slow
from tests.faces.cli.json_commands import (
    ALIASES,
    JSON_COMMANDS,
    LONG_RUNNING,
    Run,
    commands_with_json,
    json_command_runner,
)
from tests.support.command import clean_environment, run_swapcli
from tests.support.testnet import USDC, build_market_document, write_market_file


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return json_command_runner(tmp_path_factory.mktemp("json"))


def run_on_terminal(*arguments: str) -> tuple[str, str]:
    """Run a command whose stdout is a terminal; return what it writes there, and to stderr."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "swapcli", *arguments]
    try:
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=end, stderr=subprocess.PIPE, env=clean_environment(), check=False
        )
        return os.read(terminal, 65_536).decode(), ran.stderr.decode()
    finally:
        os.close(end)
        os.close(terminal)


def test_a_name_is_exact_in_a_pipe_and_printable_on_a_terminal(tmp_path: Path) -> None:
    name = "USD\u202e nioC\u2066"
    tokens = [each | ({"name": name} if each["address"] == USDC else {}) for each in build_market_document()["tokens"]]
    market = write_market_file(tmp_path, tokens=tokens)
    words = ("tokens", "testnet", USDC, "--market", market, "--get", "0.name")
    assert run_swapcli(*words).stdout == name + "\n"
    assert run_on_terminal(*words)[0].splitlines() == ["USD? nioC?"]


def test_a_suggested_name_is_printable(tmp_path: Path) -> None:
    tokens = [
        each | ({"symbol": "USDC\u202e"} if each["address"] == USDC else {})
        for each in build_market_document()["tokens"]
    ]
    words = ("route", "testnet", "USDC", "WETH", "1", "--market", write_market_file(tmp_path, tokens=tokens))
    assert "did you mean USDC?" in run_swapcli(*words).stderr


def test_the_list_of_json_commands_is_complete() -> None:
    assert commands_with_json() | {"networks"} == set(JSON_COMMANDS) | LONG_RUNNING | ALIASES


@pytest.mark.parametrize(
    "name", but_slow(sorted(set(JSON_COMMANDS) - {"keys create", "keys revoke", "market import"}), "depth")
)
def test_every_command_prints_one_field(run: Run, name: str) -> None:
    document = run(name, "--json").json
    path, value = next(iter(leaves(document)))
    ran = run(name, "--get", path)
    assert (ran.exit_code, ran.stdout) == (0, f"{value if isinstance(value, str) else json.dumps(value)}\n")
    unknown = run(name, "--get", "nosuchfield")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert unknown.stderr.splitlines()[0] == 'error: --get: the JSON has no field "nosuchfield"'


def test_an_unknown_field_suggests_the_nested_fields_of_its_name() -> None:
    words = ("calldata", "base", "USDC", "ETH", "1000", "--destination", "0x" + "11" * 20, "--offline", "--get")
    ambiguous = run_swapcli(*words, "outputAmount")
    assert ambiguous.exit_code == 2
    assert ambiguous.stderr.splitlines()[1] == "hint:  did you mean route.outputAmount or singlePath.outputAmount?"
    assert "did you mean route.inputAmount?" in run_swapcli(*words, "inputAmount").stderr
    assert "did you mean route.inputToken.decimals or route.outputToken.decimals?" in (
        run_swapcli(*words, "route.decimals").stderr
    )


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return the paths of all values that do not change from run to run, with the values."""
    if isinstance(value, dict | list) and value:
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        return [found for name, entry in entries for found in leaves(entry, f"{path}.{name}" if path else str(name))]
    return [(path, value)]


def test_any_path_of_a_route_prints_its_value(run: Run) -> None:
    printed = run("route", "--get", "route").stdout
    paths = leaves(json.loads(printed))
    assert len(paths) > 20
    for path, value in paths[::20]:
        assert (
            run("route", "--get", f"route.{path}").stdout
            == f"{value if isinstance(value, str) else json.dumps(value)}\n"
        )


def test_several_fields_are_printed_one_a_line(run: Run) -> None:
    ran = run("route", "--get", "gasUnits", "--get", "outputAmount")
    assert ran.stdout == run("route", "--get", "gasUnits").stdout + run("route", "--get", "outputAmount").stdout


def test_a_near_field_is_suggested(run: Run) -> None:
    assert "did you mean minReceived?" in run("route", "--get", "minRecieved").stderr
    assert "did you mean block?" in run("route", "--get", "state.blok").stderr
    assert run("networks", "--get", "9999.name").stderr.splitlines()[1].startswith("hint:  the list has entries 0 to ")


@pytest.mark.parametrize(
    ("command", "former", "present"),
    [
        ("route", "outputNetOfGas", "outputAfterGas"),
        ("route", "bestSinglePath.gainBps", "singlePath"),
        ("route", "singlePath.amount", "outputAmount"),
        ("depth", "levels.0.level", "impactPercent"),
        ("pools", "pools.0.amm_name", "protocol"),
        ("networks", "0.tokenIn", None),
    ],
)
def test_a_renamed_field_has_its_present_name_in_the_hint(
    run: Run, command: str, former: str, present: str | None
) -> None:
    ran = run(command, "--get", former)
    assert (ran.exit_code, ran.stdout) == (2, "")
    hint = ran.stderr.splitlines()[1]
    assert hint.startswith("hint:  it has ") if present is None else hint == f"hint:  did you mean {present}?"


@pytest.mark.parametrize("other", ["--format=plain", "--format=table"])
def test_a_field_of_the_json_is_not_a_table(run: Run, other: str) -> None:
    ran = run("networks", "--get", "0.name", other)
    assert ran.exit_code == 2
    assert ran.stderr.startswith(
        f"error: --get prints a field of the JSON, so it cannot be combined with {other.replace('=', ' ')}"
    )


def test_a_batch_prints_one_field_a_line() -> None:
    line = json.dumps({"id": 1, "tokenIn": "ETH", "tokenOut": "USDC", "inputAmount": "1000000000000000000"})
    ran = run_swapcli(
        "route", "base", "--batch", "-", "--get", "result.outputAmount", stdin=f"{line}\n{line}\n".encode()
    )
    first, second = ran.stdout.splitlines()
    assert first == second
    assert first.isdigit()


def test_a_market_file_has_fields_too() -> None:
    assert run_swapcli("market", "export", "base", "--get", "network.name").stdout == "base\n"
