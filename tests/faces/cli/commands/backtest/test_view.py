"""The summary of a backtest as text, and its mistakes."""

from __future__ import annotations

import pytest

from tests.faces.cli.commands.backtest.backtest_command import BacktestCommand
from tests.support.command import run_swapcli


@pytest.mark.slow
def test_the_summary_has_a_row_for_each_order(command: BacktestCommand) -> None:
    ran = command.run("--every", "4")
    assert ran.exit_code == 0, ran.stderr
    assert "3 orders at" in ran.stdout
    assert "than the best single path" in ran.stdout
    assert all(name in ran.stdout for name in ("buy", "sell", "dust"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--blocks", "12"), "not a range of blocks"),
        (("--blocks", "9..3"), "comes before the first"),
        (("--blocks", "1..2", "--every", "0"), "--every"),
        (("--blocks", "1..2", "--workers", "0"), "--workers"),
        (("--blocks", "1..2", "--resume"), "--results"),
    ],
)
def test_mistakes_are_said_before_a_file_or_a_node_is_read(words: tuple[str, ...], said: str) -> None:
    ran = run_swapcli("backtest", "base", "no-file.csv", *words, "--rpc-url", "http://127.0.0.1:1")
    assert ran.exit_code == 2, ran.stderr
    assert said in ran.stderr


def test_a_last_block_that_does_not_exist_is_said_first(command: BacktestCommand) -> None:
    ran = command.run(blocks=f"{command.first}..{10**9}")
    assert ran.exit_code == 2
    assert "does not exist yet" in ran.stderr
