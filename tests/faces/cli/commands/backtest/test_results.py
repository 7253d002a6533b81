"""The file of results: an interrupted backtest goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.examples import few
from tests.faces.cli.commands.backtest.backtest_command import ORDERS, BacktestCommand
from tests.faces.cli.commands.route.test_batch_progress import read_or_end
from tests.faces.cli.test_results_file import another_writer
from tests.support.command import clean_environment


@pytest.mark.parametrize("name", few(["quotes.csv", "quotes.jsonl"], 1))
def test_a_backtest_goes_on_after_its_last_whole_block(command: BacktestCommand, name: str) -> None:
    file = command.folder / name
    words = ("--every", "3", "--results", str(file), "--json")
    whole = command.run(*words)
    assert whole.exit_code == 0, whole.stderr
    assert "quotes" not in whole.json, "the file has them"
    content = file.read_bytes()
    lines = content.splitlines(keepends=True)
    refused = command.run(*words)
    assert refused.exit_code == 2
    assert "add --resume to continue" in refused.stderr
    header = int(name.endswith(".csv"))
    for kept in (0, header + 5, len(lines)):
        half = lines[kept][:7] if kept < len(lines) else b""
        file.write_bytes(b"".join(lines[:kept]) + half)
        if kept == 0 and header:
            file.write_bytes(b"")
        resumed = command.run(*words, "--resume")
        assert resumed.exit_code == 0, resumed.stderr
        assert file.read_bytes() == content
        assert resumed.json == whole.json


@pytest.mark.parametrize("name", ["quotes.csv", "quotes.jsonl"])
def test_a_backtest_continues_with_any_ids(command: BacktestCommand, name: str) -> None:
    """A CSV shows some ids differently: with an apostrophe before a formula, and "?" for unprintable characters."""
    ids = ["=1+1", "'=1+1", "+x", "'", "a\tb", 'say "a, b"', "\u202e", "-1", "'-1", "\u00e9"]
    common = {"tokenIn": "ETH", "tokenOut": "USDC", "amount": "1.5"}
    command.orders.write_text("".join(json.dumps({"id": each, **common}) + "\n" for each in ids))
    file = command.folder / name
    words = ("--every", "3", "--results", str(file), "--json")
    whole = command.run(*words)
    assert whole.exit_code == 0, whole.stderr
    content = file.read_bytes()
    file.write_bytes(content[:-9])
    resumed = command.run(*words, "--resume")
    assert resumed.exit_code == 0, resumed.stderr
    assert (file.read_bytes(), resumed.json) == (content, whole.json)


@pytest.mark.parametrize("kept_bytes", [1, 9, -1])
def test_titles_that_were_not_written_completely_are_written_again(command: BacktestCommand, kept_bytes: int) -> None:
    file = command.folder / "quotes.csv"
    words = ("--every", "3", "--results", str(file))
    assert command.run(*words).exit_code == 0
    content = file.read_bytes()
    file.write_bytes(content.splitlines()[0][:kept_bytes])
    resumed = command.run(*words, "--resume")
    assert resumed.exit_code == 0, resumed.stderr
    assert file.read_bytes() == content


@pytest.mark.slow
def test_results_of_something_else_are_refused_and_kept(command: BacktestCommand) -> None:
    file = command.folder / "quotes.jsonl"
    words = ("--every", "3", "--results", str(file))
    assert command.run(*words).exit_code == 0
    content = file.read_bytes()
    command.orders.write_text(ORDERS.replace("2000", "2001"))
    other_orders = command.run(*words, "--resume")
    command.orders.write_text(ORDERS)
    other_settings = command.run(*words, "--resume", "--gas-price", "50gwei")
    other_blocks = command.run("--every", "2", "--results", str(file), "--resume")
    for ran in (other_orders, other_settings, other_blocks):
        assert ran.exit_code == 2, ran.stderr
        assert "write to a new file" in ran.stderr
    assert file.read_bytes() == content
    with another_writer(file):
        second = command.run(*words, "--resume")
        assert second.exit_code == 2
        assert f"another process is writing to {file}" in second.stderr
    assert file.read_bytes() == content
    file.write_text("nonsense\n")
    assert "line 1" in command.run(*words, "--resume").stderr
    assert file.read_text() == "nonsense\n"


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--quiet",)])
def test_a_terminal_shows_the_progress(command: BacktestCommand, options: tuple[str, ...]) -> None:
    last = command.last + 30
    words = ("backtest", command.name, str(command.orders), "--blocks", f"{command.first}..{last}", "--json")
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "swapcli", *words, *options],
        env=clean_environment() | command.environment | {"SWAPCLI_LIVE": "auto"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = b""
        while part := read_or_end(ours):
            shown += part
        assert process.wait() == 0, shown
    os.close(ours)
    count = last - command.first + 1
    assert (f" of {count} blocks, ".encode() in shown) == (not options)
    assert not shown.rstrip(b"\r").strip(b" ").endswith(b"left"), "the line is gone at the end"
