"""`swapcli sync --tokens @LIST` reads files and URLs, and the chain knows better than any list."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.chain.contract_fixture import DECIMALS
from tests.faces.cli.commands.sync.scene import Scene
from tests.support.command import CommandResult
from tests.support.loopback_server import http_response, loopback_server, respond_with


def listed(scene: Scene, symbols: Iterable[str], **changes: object) -> bytes:
    world = scene.small_chain.world
    entries = [
        {
            "chainId": scene.network.chain_id,
            "address": world.address(symbol),
            "symbol": symbol,
            "name": symbol,
            "decimals": DECIMALS[symbol],
        }
        | changes
        for symbol in symbols
    ]
    return json.dumps({"tokens": entries}).encode()


def pool_count(ran: CommandResult) -> int:
    assert ran.exit_code == 0, ran.stderr
    return int(ran.json["pools"])


def test_a_file_and_a_url_name_the_same_tokens(scene: Scene, tmp_path: Path) -> None:
    symbols = ("TKN", "USDC", "WBTC")
    addresses = ",".join(map(scene.small_chain.world.address, symbols))
    document = listed(scene, symbols)
    (tmp_path / "list.json").write_bytes(document)
    (tmp_path / "list.txt").write_text(addresses.replace(",", "\n"))
    expected = pool_count(scene.sync("--tokens", addresses, "--json", "--store", str(tmp_path / "a")))
    assert expected >= 2
    with loopback_server(respond_with(http_response(200, document))) as server:
        for at, name in enumerate((tmp_path / "list.json", tmp_path / "list.txt", f"{server.url}/list?key=secret")):
            ran = scene.sync("--tokens", f"@{name}", "--json", "--store", str(tmp_path / f"b{at}"))
            assert (pool_count(ran), ran.stderr) == (expected, "")


def test_a_list_cannot_change_decimals_or_symbols(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_bytes(listed(scene, ("TKN", "USDC"), symbol="FAKE", name="Fake", decimals=3))
    ran = scene.sync("--tokens", f"@{tmp_path / 'list.json'}", "--json")
    assert ran.exit_code == 0
    assert "decimals; swapcli uses the chain's value," in " ".join(ran.stderr.split())
    tokens = {each["symbol"]: each["decimals"] for each in scene.stored_market()["tokens"]}
    assert "FAKE" not in tokens
    assert tokens["USDC"] == DECIMALS["USDC"] != 3


def test_a_list_that_cannot_be_used_is_refused(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "huge").write_bytes(b"\n" * (9 << 20))
    (tmp_path / "symbols").write_text("NADA\nNOPE\n")
    (tmp_path / "short").write_bytes(listed(scene, ("USDC",), address="0x1234"))
    for name, message in {
        str(tmp_path): "cannot read .*: Is a directory",
        str(tmp_path / "missing"): "cannot read .*: No such file or directory",
        str(tmp_path / "huge"): ".*huge is larger than 8 MiB",
        str(tmp_path / "symbols"): '.*symbols: line 1: no token "NADA" on anvil',
        str(tmp_path / "short"): r".*short: tokens\[0\].address: .*0x1234.*",
        "http://127.0.0.1:9/list?key=secret": "127.0.0.1:9 refuses connections",
    }.items():
        ran = scene.sync("--tokens", f"@{name}", "--json")
        assert ran.exit_code != 0
        assert re.fullmatch(message, ran.error["message"]), ran.error["message"]
        assert "secret" not in ran.stdout + ran.stderr
    assert not scene.file.exists()


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (http_response(404), "127.0.0.1:[0-9]+ responded with status 404"),
        (http_response(302, b"", "Location: http://127.0.0.1:1/"), "127.0.0.1:[0-9]+ redirects to .*"),
        (http_response(200, b"\n" * (9 << 20)), "127.0.0.1:[0-9]+ sent more than 8 MiB.*"),
        (http_response(200, b"<html>"), 'the token list of .*: line 1: no token "<html>" on anvil'),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "127.0.0.1:[0-9]+ .*"),
    ],
)
def test_a_url_without_a_list_is_refused(scene: Scene, response: bytes, message: str) -> None:
    with loopback_server(respond_with(response)) as server:
        ran = scene.sync("--tokens", f"@{server.url}/list", "--json")
    assert ran.exit_code != 0
    assert re.fullmatch(message, ran.error["message"]), ran.error["message"]
