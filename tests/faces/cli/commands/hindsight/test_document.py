"""The JSON and the CSV of hindsight, and what a second run asks."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from swapcli import Market
from swapcli.interface.json_schemas import build_document_schema
from tests.chain.test_block_tags import FINALIZED_BLOCKS
from tests.chain.trader import Trader
from tests.faces.cli.commands.hindsight.hindsight_command import NOTHING, HindsightCommand
from tests.quoting.verification.test_hindsight import trades
from tests.support.command import CommandResult


def document(result: CommandResult, status: int = 0) -> Any:
    assert result.exit_code == status, result.stderr
    errors = Draft202012Validator(build_document_schema("hindsight")).iter_errors(result.json)
    assert [str(error) for error in errors] == []
    return result.json


def test_a_file_is_compared_and_nothing_is_asked_twice(
    trader: Trader, command: HindsightCommand, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mined = [transaction for _, transaction in trades(trader, 3)]
    trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS))
    file = tmp_path / "transactions.txt"
    file.write_text(f"# mined\n\n{mined[0]}\n{mined[1]}, a note\n{mined[0]}\n")
    words = (str(file), mined[2])
    first = document(command.run(*words, "--json"))
    assert [swap["transaction"] for swap in first["swaps"]] == mined
    assert first["explained"] == 3
    assert command.proxy.methods
    command.proxy.methods.clear()
    assert document(command.run(*words, "--json")) == first
    assert command.proxy.methods == []
    for name, value in command.environment.items():
        monkeypatch.setenv(name, value)
    with Market.open(command.name, settings={"live": "auto"}) as market:
        assert market.hindsight(mined).document() == first
    rows = command.run(*words, "--format", "csv").stdout.splitlines()
    assert len(rows) == 4
    cells = list(csv.DictReader(rows))
    assert [row["outputAmount"] for row in cells] == [swap["outputAmount"] for swap in first["swaps"]]
    assert [row["outputDecimals"] for row in cells] == [str(s["outputToken"]["decimals"]) for s in first["swaps"]]
    assert command.proxy.methods == []
    assert document(command.run(*words, "--json", "--no-cache")) == first
    assert command.proxy.methods, "without the cache the node is asked"


def test_if_nothing_is_explained_the_reasons_and_status_5_remain(command: HindsightCommand) -> None:
    ran = command.run(NOTHING, "--json")
    found = document(ran, 5)
    assert "could not be explained" in ran.error["message"]
    assert (found["explained"], found["notExplained"], found.get("bps")) == (0, 1, None)
    assert "no mined transaction" in found["swaps"][0]["reason"]
    rows = command.run(NOTHING, "--format", "csv").stdout.splitlines()
    assert len(rows) == 2
    assert "no mined transaction" in rows[1]


@pytest.mark.slow
def test_an_unusable_cache_is_skipped_with_a_note(trader: Trader, command: HindsightCommand) -> None:
    mined = [transaction for _, transaction in trades(trader, 1)]
    trader.chain.node.ask("anvil_mine", hex(FINALIZED_BLOCKS))
    first = command.run(*mined, "--json")
    (cache,) = command.folder.glob("data/**/past-blocks.db")
    content = cache.read_bytes()
    for damaged in (content[:3000], b"no database" * 300, content[:4096] + b"\xff" * (len(content) - 4096)):
        for each in cache.parent.glob("past-blocks.db*"):
            each.unlink()
        cache.write_bytes(damaged)
        again = command.run(*mined, "--json")
        assert document(again) == document(first)
        assert "past-blocks.db cannot be used" in again.stderr
        assert cache.read_bytes() == damaged
