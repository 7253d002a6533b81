"""What completion remembers of the settings follows their changes, and is no secret."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from swapcli.core.networks.catalogue import all_network_names
from swapcli.faces.cli.completion.candidates import completion_text

NETWORKS = set(all_network_names())

SETTINGS = """
network: monad
networks:
  base:
    tokens:
      - {address: "0x1111111111111111111111111111111111111111", symbol: "$(touch pwned)`x`; a", name: H, decimals: 6}
"""


def answer(*words: str, env: Mapping[str, str] | None = None) -> set[str]:
    """What completes the last word in an environment without settings."""
    lines = completion_text(words, {"HOME": "/nonexistent", **(env or {})}).splitlines()
    return {line.partition("\t")[0] for line in lines[1:]}


def settings_in(folder: Path, text: str = SETTINGS) -> dict[str, str]:
    """The environment of a user with these settings."""
    (folder / "swapcli").mkdir(exist_ok=True)
    (folder / "swapcli" / "config.yaml").write_text(text)
    return {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}


def test_completion_follows_changes_of_the_settings(tmp_path: Path) -> None:
    env = settings_in(tmp_path, "network: monad")
    assert answer("route", "wmo", env=env) == {"WMON"}
    settings_in(tmp_path, "network: base # now")
    assert answer("route", "wmo", env=env) == set()
    settings_in(tmp_path, "network: [broken")
    assert answer("route", "", env=env) == NETWORKS


def test_what_is_remembered_of_the_settings_is_no_secret(tmp_path: Path) -> None:
    settings = "api_key: hush\nnetworks: {base: {rpc_url: 'https://node.example/hush'}}"
    assert answer("route", "", env=settings_in(tmp_path, settings)) == NETWORKS
    remembered = tmp_path / "swapcli" / "completion.json"
    assert "base" in remembered.read_text()
    assert "hush" not in remembered.read_text()
    assert remembered.stat().st_mode & 0o077 == 0
