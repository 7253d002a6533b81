"""Every command that reads text takes a byte order mark at its start, from a file and from stdin."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import run_swapcli
from tests.support.testnet import write_market_file

ME = "0x" + "1" * 40
ENCODINGS = ("utf-8-sig", "utf-16")


def marked(text: str, encoding: str, tmp_path: Path) -> tuple[str, bytes]:
    """Return the name of a file with the text in this encoding, and its content."""
    file = tmp_path / "marked"
    file.write_bytes(text.replace("\n", "\r\n").encode(encoding))
    return str(file), file.read_bytes()


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_route_a_payload_and_a_key(tmp_path: Path, encoding: str) -> None:
    route = run_swapcli("route", "base", "ETH", "USDC", "1", "--offline", "--json").stdout
    name, content = marked(json.dumps(json.loads(route), indent=1), encoding, tmp_path)
    execute = ("execute", "--offline", "--destination", ME, "--json")
    payload = run_swapcli(*execute, name)
    assert payload.exit_code == run_swapcli(*execute, "-", stdin=content).exit_code == 0
    _, content = marked(payload.stdout, encoding, tmp_path)
    assert run_swapcli("decode", "-", "--offline", stdin=content).exit_code == 0


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_market_and_a_settings_file(tmp_path: Path, encoding: str) -> None:
    market = Path(write_market_file(tmp_path)).read_text()
    name, content = marked(market, encoding, tmp_path)
    order = ("ETH", "USDC", "1", "--get", "outputAmount")
    from_file = run_swapcli("route", "testnet", *order, "--market", name)
    assert from_file.exit_code == 0
    assert run_swapcli("route", "testnet", *order, "--market", "-", stdin=content).stdout == from_file.stdout
    settings = tmp_path / "config.yaml"
    settings.write_bytes(f"market: {name}\r\nnetwork: testnet\r\n".encode(encoding))
    assert run_swapcli("route", *order, "--config", str(settings)).stdout == from_file.stdout
    store = ("--store", str(tmp_path / "stores"))
    assert run_swapcli("market", "import", name, *store).exit_code == 0
