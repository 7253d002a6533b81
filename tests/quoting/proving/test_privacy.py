"""Texts of a report have no credentials, no keys, and no host that the user has named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network
from swapcli.quoting.config import load_settings, node_url
from swapcli.quoting.openers.user_setup import UserSetup
from swapcli.quoting.proving.privacy import Privacy

KEY = "0123456789abcdef-key"
BASE = find_network("base")
PRIVATE = {
    "networks": {
        "base": {
            "rpc_url": f"https://me:{KEY}@node.private.example:8545/v2/{KEY}",
            "rpc_urls": ["http://10.1.2.3:8545"],
            "rpc_headers": {"X-Key": f"header-{KEY}"},
        }
    },
    "witness": "https://witness.private.example/rpc",
    "api_key": f"swk_{KEY}",
    "aggregators": {"0x": {"api_key": f"zero-{KEY}"}},
}


@pytest.fixture
def privacy(tmp_path: Path) -> Privacy:
    file = tmp_path / "config.yaml"
    file.write_text(json.dumps(PRIVATE))
    settings = load_settings(flags={}, environ={}, config_path=file, home=tmp_path)
    option = node_url("--rpc-url", "https://option.private.example/")
    environ = {"ETH_RPC_URL": "https://variable.private.example/"}
    return Privacy(UserSetup(settings, tmp_path, print, environ=environ, rpc_url=option), BASE)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"https://me:{KEY}@node.private.example:8545/v2/{KEY} refuses", "your node refuses"),
        ("node.private.example:8545 did not respond in time", "your node did not respond in time"),
        ("http://10.1.2.3:8545 is of chain 1", "your node is of chain 1"),
        ("https://witness.private.example does not confirm it", "your node does not confirm it"),
        ("https://option.private.example is away", "your node is away"),
        ("variable.private.example is away", "your node is away"),
        (f"unknown key {KEY}", "unknown key ********"),
        (f"header-{KEY}", "********"),
        (f"swk_{KEY} and zero-{KEY}", "******** and ********"),
        ("two\nlines\x1b[31m", "two lines [31m"),
        (f"{BASE.public_nodes[0].url} answers", f"{BASE.public_nodes[0].url} answers"),
    ],
)
def test_what_is_private_is_replaced(privacy: Privacy, text: str, clean: str) -> None:
    found = privacy.clean(text)
    assert found == clean or (clean.startswith("your node") and found.startswith("your node"))
    assert KEY not in found
    assert "private.example" not in found


def test_long_texts_are_cut(privacy: Privacy) -> None:
    assert len(privacy.clean("x" * 10_000)) < 1_000
