"""`swapcli market`: import and export keep a market unchanged, and info describes it."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.state.markets.embedded import embedded_names
from swapcli.state.store import create_store, open_store
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.testnet import build_market_document, raise_unknown_network, write_market_file

BLOCK_AND_AGE = r"(?m)^Block +1,234 +[0-9,]+ (d|h|min|s) old$"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "kept" / "stores"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> str:
    return write_market_file(tmp_path)


def market(folder: Path, *arguments: str, **more: Any) -> CommandResult:
    """`swapcli market ...` on the stores of a folder."""
    return run_swapcli("market", *arguments, "--store", str(folder), **more)


def test_modelled_state_may_have_no_block_and_no_age(folder: Path) -> None:
    stored(folder, block=None, timestamp=None)
    assert not re.search(r"(?m)^(Block|Age) ", market(folder, "info", "testnet").stdout)
    stored_at = int(time.time()) - 7_205
    aged = json.dumps(build_market_document(block=None, timestamp=stored_at)).encode()
    assert re.search(r"(?m)^Age +2 h$", market(folder, "import", "-", "--replace", stdin=aged).stdout)


def stored(folder: Path, **changes: Any) -> None:
    """The small market in a store."""
    ran = market(folder, "import", "-", stdin=json.dumps(build_market_document(**changes)).encode())
    assert ran.exit_code == 0, ran.stderr


@pytest.mark.parametrize("name", embedded_names())
def test_export_import_export_keeps_the_bytes(name: str, folder: Path) -> None:
    embedded = market(folder, "export", name)
    assert embedded.exit_code == 0
    assert market(folder, "import", "-", stdin=embedded.stdout.encode()).exit_code == 0
    assert [each.name for each in folder.iterdir()] == [f"{name}.sqlite"]
    assert market(folder, "export", name).stdout == embedded.stdout


def test_a_network_that_only_its_file_describes_goes_round_too(folder: Path, file: str) -> None:
    assert market(folder, "import", file).exit_code == 0
    first = market(folder, "export", "testnet").stdout
    assert market(folder, "import", "-", "testnet", "--replace", stdin=first.encode()).exit_code == 0
    assert market(folder, "export", "TestNet").stdout == first
    with open_store(str(folder / "testnet.sqlite"), raise_unknown_network) as store:
        assert len(store.read_market().pools) == 5


def test_quotes_rest_on_the_store_from_then_on(folder: Path, file: str, tmp_path: Path) -> None:
    order = ("route", "testnet", "ETH", "USDC", "25", "--json")
    assert run_swapcli(*order, "--store", str(folder)).error["code"] == "UNKNOWN_NETWORK"
    stored(folder)
    by_store, by_file = run_swapcli(*order, "--store", str(folder)).json, run_swapcli(*order, "--market", file).json
    assert by_store["outputAmount"] == by_file["outputAmount"]
    assert by_store["state"]["source"] == "written by hand"
    elsewhere = {"SWAPCLI_STORE_DIR": str(folder)}, {"XDG_DATA_HOME": str(tmp_path)}
    assert run_swapcli(*order, env=elsewhere[0]).json["outputAmount"] == by_file["outputAmount"]
    folder.rename(tmp_path / "swapcli")
    assert run_swapcli(*order, env=elsewhere[1]).json["outputAmount"] == by_file["outputAmount"]


def test_import_replaces_stored_pools_only_with_replace(folder: Path) -> None:
    stored(folder)
    before = market(folder, "export", "testnet").stdout
    other = json.dumps(build_market_document(source="another", pools=build_market_document()["pools"][:1])).encode()
    refused = market(folder, "import", "-", "--json", stdin=other)
    assert (refused.exit_code, refused.error["details"]["pools"]) == (2, 5)
    assert "--replace" in refused.error["hint"]
    assert market(folder, "export", "testnet").stdout == before
    replaced = market(folder, "import", "-", "--replace", "--json", stdin=other).json
    assert (replaced["pools"], replaced["state"]["source"]) == (1, "another")
    assert len(json.loads(market(folder, "export", "testnet").stdout)["pools"]) == 1


def test_an_empty_store_is_ignored(folder: Path) -> None:
    create_store(str(folder / "base.sqlite"), find_network("base"), find_network).close()
    order = ("route", "base", "ETH", "USDC", "1", "--json")
    assert run_swapcli(*order, "--store", str(folder)).json["outputAmount"] == run_swapcli(*order).json["outputAmount"]
    assert market(folder, "export", "base").stdout == run_swapcli("market", "export", "base").stdout
    info = market(folder, "info", "base", "--json").json
    assert (info["pools"], info["state"].get("kind")) == (0, None)
    for words in (("info", "base"), ("info",)):
        shown = market(folder, *words).stdout
        assert "empty" in shown
        assert "synced " not in shown


def test_a_store_without_pools_is_filled(folder: Path) -> None:
    stored(folder, pools=[])
    stored(folder)
    assert market(folder, "info", "testnet", "--json").json["pools"] == 5


def test_what_was_taken_is_told_in_every_form(folder: Path, file: str) -> None:
    taken = market(folder, "import", file, "--json").json
    assert taken == market(folder, "info", "testnet", "--json").json | {"bytes": taken["bytes"]}
    assert {
        name: taken[name] for name in ("network", "chainId", "pools", "tokens", "gasPriceWei", "undoableBlocks")
    } == {
        "network": "testnet",
        "chainId": "31337",
        "pools": 5,
        "tokens": 5,
        "gasPriceWei": "0",
        "undoableBlocks": 0,
    }
    assert (taken["state"]["kind"], taken["state"]["block"]) == ("synthetic", 1234)
    assert [(each["protocol"], each["pools"]) for each in taken["protocols"]] == [("uniswapV2", 4), ("uniswapV3", 1)]
    assert taken["store"] == str(folder / "testnet.sqlite")
    for form in ("--format=plain", "--format=table"):
        words = market(folder, "import", file, "--replace", form).stdout
        assert words.startswith("testnet imported: 5 pools\n")
        assert re.search(r"(?m)^State +synthetic, not live prices +written by hand$", words)
        assert re.search(BLOCK_AND_AGE, words)
        assert re.search(r"(?m)^Tokens +5$", words)
        assert re.search(r"(?m)^uniswapV3 +1 ", words)  # by its id: only the file describes the network


def test_the_figures_are_those_of_the_store(folder: Path) -> None:
    market(folder, "import", "-", stdin=market(folder, "export", "base").stdout.encode())
    reported = market(folder, "info", "base", "--json").json
    with open_store(str(folder / "base.sqlite"), find_network) as store:
        summary = store.read_summary()
    assert [(each["pools"], each["depthUsd"]) for each in reported["protocols"]] == [
        (holding.pools, round(holding.depth_usd, 2)) for holding in summary.protocols
    ]
    assert all(each["depthUsd"] > 0 for each in reported["protocols"])
    assert reported["bytes"] == os.path.getsize(folder / "base.sqlite")


@pytest.mark.parametrize("timestamp", [None, 0, 10**12, 2**63 - 1])
def test_a_time_beyond_all_calendars_is_told_too(folder: Path, timestamp: int | None) -> None:
    stored(folder, timestamp=timestamp)
    assert market(folder, "info", "testnet", "--json").json["state"].get("timestamp") == timestamp
    ran = market(folder, "info", "testnet")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "State" in ran.stdout


def test_all_networks_that_have_a_store_are_listed(folder: Path) -> None:
    empty = market(folder, "info", "--json")
    assert (empty.json, empty.stderr.startswith(f"note: no store in {folder}")) == ([], True)
    stored(folder)
    market(folder, "import", "-", stdin=market(folder, "export", "citrea").stdout.encode())
    listed = market(folder, "info", "--json").json
    assert [each["network"] for each in listed] == ["citrea", "testnet"]
    assert listed[1] | {"market": 0} == market(folder, "info", "testnet", "--json").json | {"market": 0}
    for form in ("--format=plain", "--format=table"):
        rows = [line.split() for line in market(folder, "info", form, env={"COLUMNS": "300"}).stdout.splitlines()]
        assert [row[0].lower() for row in rows] == ["network", "citrea", "testnet"]
        assert rows[2][-1] == str(folder / "testnet.sqlite")


def test_a_store_that_cannot_be_read_hides_no_other(folder: Path) -> None:
    stored(folder)
    (folder / "base.sqlite").write_bytes(b"SQLite format 3\0" + bytes(4096))
    (folder / "monad.sqlite").write_text("no store at all")
    ran = market(folder, "info", "--json")
    assert (ran.exit_code, [each["network"] for each in ran.json]) == (2, ["testnet"])
    assert ran.error["details"]["store"] == str(folder / "base.sqlite")


@pytest.mark.parametrize("command", ["info", "export"])
@pytest.mark.parametrize("content", [b"no store at all", b"SQLite format 3\0" + bytes(4096), b"\0" * 100_000])
def test_a_damaged_store_is_told_in_a_sentence(folder: Path, command: str, content: bytes) -> None:
    (folder / "base.sqlite").write_bytes(content)
    ran = market(folder, command, "base", "--json")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.error["code"] in ("MARKET_ERROR", "CONFIG_ERROR")
    assert str(folder / "base.sqlite") in ran.error["message"]
    refused = market(folder, "import", "-", "--replace", stdin=run_swapcli("market", "export", "base").stdout.encode())
    assert (refused.exit_code, (folder / "base.sqlite").read_bytes()) == (2, content)


@pytest.mark.parametrize("command", ["info", "export"])
def test_a_store_of_another_network_is_refused(folder: Path, command: str) -> None:
    stored(folder)
    (folder / "testnet.sqlite").rename(folder / "base.sqlite")
    ran = market(folder, command, "base", "--json")
    assert (ran.exit_code, ran.error["details"]["storeNetwork"]) == (2, "testnet")
    into = market(folder, "import", "-", "--replace", stdin=run_swapcli("market", "export", "base").stdout.encode())
    assert (into.exit_code, 'is for "testnet", not for "base"' in into.stderr) == (2, True)


def test_there_may_be_no_store(folder: Path) -> None:
    missing, unknown = market(folder, "info", "base", "--json"), market(folder, "info", "bse", "--json")
    assert (missing.exit_code, "no store at" in missing.error["message"]) == (2, True)
    assert "swapcli sync" in missing.error["hint"]
    assert (unknown.exit_code, unknown.error["code"], "base" in unknown.error["hint"]) == (2, "UNKNOWN_NETWORK", True)
    assert market(folder, "export", "bse", "--json").error["code"] == "UNKNOWN_NETWORK"
    assert [*folder.iterdir()] == []


def test_only_what_writes_makes_a_folder(folder: Path) -> None:
    folder.rmdir()
    reads = (
        ("market", "info"), ("market", "info", "base"), ("market", "export", "base"), ("tokens", "base"),
        ("route", "base", "ETH", "USDC", "1", "--offline"), ("pools", "base", "--offline"), ("protocols", "base"),
    )  # fmt: skip
    for command in reads:
        ran = run_swapcli(*command, "--store", str(folder), "--json")
        assert (ran.exit_code, ran.error["code"]) == (2, "CONFIG_ERROR"), command
        assert ran.error["message"] == f"no such folder: {folder}"
        assert ran.error["hint"] == f"swapcli sync NETWORK --store {folder} creates it"
    settings = {"SWAPCLI_STORE_DIR": str(folder)}
    assert run_swapcli("route", "base", "ETH", "USDC", "1", "--offline", env=settings).exit_code == 0
    assert not folder.exists()
    stored(folder)
    assert market(folder, "info", "testnet").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("-",), b"", "not a market file: it is empty"),
        (("-",), b"[]", "expected a JSON object"),
        (("-",), b'{"format": "swap-market/2"}', 'expected "swap-market/1"'),
        (("/nonexistent/market.json",), b"", "cannot read /nonexistent/market.json: No such file"),
        (("/",), b"", "cannot read /: Is a directory"),
        (
            ("-", "base"),
            json.dumps(build_market_document()).encode(),
            'the market file is for "testnet", not for "base"',
        ),
        (("-",), json.dumps(build_market_document(provenance="live")).encode(), "provenance"),
    ],
)
def test_what_is_no_market_file_of_the_network_is_refused(
    folder: Path, arguments: tuple[str, ...], stdin: bytes, message: str
) -> None:
    ran = market(folder, "import", *arguments, "--json", stdin=stdin)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert message in ran.error["message"]
    assert [*folder.iterdir()] == []


def test_a_bad_pool_is_named_or_left_out(folder: Path) -> None:
    document = build_market_document()
    document["pools"][0]["reserves"] = ["-1", "1"]
    stdin = json.dumps(document).encode()
    refused = market(folder, "import", "-", "--json", stdin=stdin)
    assert (refused.exit_code, refused.error["code"]) == (2, "POOL_STATE_ERROR")
    assert "--skip-bad-pools" in refused.error["hint"]
    taken = market(folder, "import", "-", "--skip-bad-pools", stdin=stdin)
    assert (taken.exit_code, taken.stderr.count("note: skipped pool")) == (0, 1)
    assert market(folder, "info", "testnet", "--json").json["pools"] == 4


@pytest.mark.parametrize("name", ["../out", "a/b", "..", "Größe", "x" * 100, "a b\u200b"])
def test_a_network_may_be_called_what_no_file_can_be(folder: Path, name: str) -> None:
    stored(folder, network=build_market_document()["network"] | {"name": name})
    assert [each.parent for each in folder.parent.rglob("*.sqlite")] == [folder]
    assert market(folder, "info", name, "--json").json["network"] == name


def test_a_name_too_long_for_a_file_is_a_plain_error(folder: Path) -> None:
    document = build_market_document()
    document["network"]["name"] = "x" * 400
    ran = market(folder, "import", "-", "--json", stdin=json.dumps(document).encode())
    assert (ran.exit_code, ran.error["code"]) == (2, "CONFIG_ERROR")


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path, file: str) -> None:
    ran = market(Path(file) / "below", "import", file, "--json")
    assert (ran.exit_code, ran.error["code"]) == (2, "CONFIG_ERROR")
    assert ran.error["message"] == f"cannot create the folder {file}/below: Not a directory"
    assert market(Path(file), "import", file).exit_code == 2
    assert market(Path(file), "info").exit_code == 2
    assert [each.name for each in tmp_path.iterdir()] == ["market.json"]


def test_an_export_to_a_file_is_told_and_replaces_what_was_there(folder: Path, tmp_path: Path) -> None:
    stored(folder)
    to_stdout, file = market(folder, "export", "testnet").stdout, tmp_path / "out.json"
    file.write_text("before")
    reported = market(folder, "export", "testnet", str(file), "--json").json
    assert file.read_text() == to_stdout == market(folder, "export", "testnet", "-").stdout
    assert (reported["file"], reported["bytes"], reported["pools"], reported["tokens"]) == (
        str(file),
        len(to_stdout),
        5,
        5,
    )
    assert reported["state"]["kind"] == "synthetic"
    for form in ("--format=plain", "--format=table"):
        words = market(folder, "export", "testnet", str(file), form).stdout
        assert words.startswith("testnet exported: 5 pools\n")
        assert str(file) in words
        assert re.search(BLOCK_AND_AGE, words)
        assert re.search(r"(?m)^Tokens +5$", words)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["kept", "out.json"]


def test_an_export_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    for name in (tmp_path, tmp_path / "missing" / "out.json"):
        ran = run_swapcli("market", "export", "base", str(name), "--json")
        assert (ran.exit_code, ran.stdout) == (2, "")
        assert ran.error["message"].startswith(f"cannot write {name}: ")
    assert not list(tmp_path.iterdir())


def test_an_export_goes_into_a_pipe_that_has_a_name(tmp_path: Path) -> None:
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    assert run_swapcli("market", "export", "base", str(pipe)).exit_code == 0
    reader.join(timeout=10)
    assert got == [run_swapcli("market", "export", "base").stdout]
    assert pipe.is_fifo()


@pytest.mark.parametrize("form", ["--format=plain", "--format=table"])
def test_a_market_on_stdout_has_one_form(form: str) -> None:
    assert run_swapcli("market", "export", "base", form).exit_code == 2
    assert run_swapcli("market", "export", "base", "--json").stdout == run_swapcli("market", "export", "base").stdout


def test_export_ignores_the_market_file_of_the_settings(folder: Path, file: str) -> None:
    stored(folder)
    env = {"SWAPCLI_MARKET": "/nonexistent.json"}
    assert market(folder, "export", "testnet", env=env).stdout == market(folder, "export", "testnet").stdout
    assert market(folder, "import", file, "--replace", env=env).exit_code == 0
    assert market(folder, "info", env=env).exit_code == 0


def test_a_removed_store_gives_way_to_the_embedded_market(folder: Path) -> None:
    order = ("route", "base", "ETH", "USDC", "1", "--get", "state.kind", "--store", str(folder))
    document = json.loads(run_swapcli("market", "export", "base").stdout) | {"provenance": "synthetic"}
    assert market(folder, "import", "-", stdin=json.dumps(document).encode()).exit_code == 0
    stored(folder)
    assert run_swapcli(*order).stdout == "synthetic\n"
    pools = market(folder, "info", "base", "--json").json["pools"]
    removed = market(folder, "remove", "base", "--yes", "--json")
    assert removed.json == {"network": "base", "pools": pools, "store": str(folder / "base.sqlite")}
    assert [each.name for each in folder.iterdir()] == ["testnet.sqlite"]
    assert run_swapcli(*order).stdout == "modelled\n"
    again = market(folder, "remove", "base", "--yes", "--json")
    assert (again.exit_code, again.error["code"]) == (2, "CONFIG_ERROR")
    assert "no store at" in again.error["message"]
    unknown = market(folder, "remove", "bse", "--yes", "--json")
    assert (unknown.exit_code, unknown.error["code"]) == (2, "UNKNOWN_NETWORK")


def test_files_that_a_killed_process_left_are_removed_too(folder: Path) -> None:
    stored(folder)
    file = folder / "testnet.sqlite"
    killed = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('UPDATE meta SET source = 1'); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", killed, str(file)], check=True)
    assert len(list(folder.iterdir())) == 3
    assert market(folder, "remove", "testnet", "--yes").exit_code == 0
    assert not list(folder.iterdir())


@pytest.mark.parametrize("statement", ["SELECT * FROM meta", "BEGIN IMMEDIATE"])
def test_a_store_that_is_open_elsewhere_is_not_removed(
    folder: Path, statement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swapcli.state.store.database.BUSY_TIMEOUT_MS", 50)
    stored(folder)
    other = sqlite3.connect(folder / "testnet.sqlite", isolation_level=None)
    other.execute(statement).fetchall()
    refused = market(folder, "remove", "testnet", "--yes", "--json")
    assert (refused.exit_code, refused.error["code"]) == (2, "CONFIG_ERROR")
    assert "another process has it open" in refused.error["message"]
    other.close()
    assert market(folder, "info", "testnet", "--json").json["pools"] == 5


def test_only_a_store_is_removed_even_a_damaged_one(folder: Path) -> None:
    stored(folder)
    file = folder / "testnet.sqlite"
    foreign = folder / "base.sqlite"
    foreign.write_text("no store at all")
    assert market(folder, "remove", "base", "--yes").exit_code == 2
    assert foreign.read_text() == "no store at all"
    content = file.read_bytes()
    foreign.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    removed = market(folder, "remove", "base", "--yes", "--json")
    assert removed.json == {"network": "base", "store": str(foreign)}
    assert not foreign.exists()
    file.rename(foreign)
    assert market(folder, "remove", "base", "--yes", "--json").error["details"]["storeNetwork"] == "testnet"
    assert foreign.exists()


@pytest.mark.parametrize("damaged", [100, 4096])
def test_a_damaged_store_is_removed_without_its_network(folder: Path, damaged: int) -> None:
    """Only the store knows the network, and SQLite cannot even lock a file whose first page is damaged."""
    stored(folder)
    file = folder / "testnet.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[:damaged] + b"\xff" * 3_000 + content[damaged + 3_000 :])
    assert market(folder, "info", "testnet", "--json").error["hint"].startswith("delete it")
    removed = market(folder, "remove", "testnet", "--yes", "--json")
    assert removed.json == {"network": "testnet", "store": str(file)}
    assert not file.exists()


def test_a_removal_needs_yes_without_a_terminal(folder: Path) -> None:
    stored(folder)
    refused = market(folder, "remove", "testnet", "--json", stdin=b"y\n")
    assert (refused.exit_code, refused.error["code"], "--yes" in refused.error["hint"]) == (2, "INVALID_OPTION", True)
    assert (folder / "testnet.sqlite").exists()


@pytest.mark.parametrize(("answer", "exit_code"), [("y", 0), ("Yes", 0), ("", 2), ("n", 2), ("yess", 2)])
def test_a_removal_asks_on_a_terminal(folder: Path, answer: str, exit_code: int) -> None:
    stored(folder)
    terminal, end = pty.openpty()
    os.write(terminal, f"{answer}\n".encode())
    command = [sys.executable, "-m", "swapcli", "market", "remove", "testnet", "--store", str(folder)]
    ran = subprocess.run(command, stdin=end, stdout=subprocess.PIPE, stderr=end, env=clean_environment(), check=False)
    os.set_blocking(terminal, False)
    shown = b""
    with suppress(BlockingIOError):
        while piece := os.read(terminal, 65_536):
            shown += piece
    os.close(end)
    os.close(terminal)
    assert (ran.returncode, (folder / "testnet.sqlite").exists()) == (exit_code, exit_code != 0)
    assert b"remove 5 stored pools of testnet" in shown
    assert (b"nothing was changed" in shown) == (exit_code != 0)
