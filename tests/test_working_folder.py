"""swapcli opens nothing below the working folder unless it is named: a file planted there changes no setting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOMES = [None, "", ".", "relative", "./relative", "~/x"]
"""Values of HOME that name no home folder, besides ~; the system knows none either."""
RECIPIENT = "0x1111111111111111111111111111111111111111"
COMMANDS = [
    ("config", "show", "--changed"),
    ("config", "path"),
    ("config", "set", "slippage", "1"),
    ("config", "init"),
    ("keys", "list"),
    ("keys", "create", "me"),
    ("route", "base", "ETH", "USDC", "1", "--offline", "--json"),
    ("route", "base", "--batch", "-", "--offline"),
    ("calldata", "base", "ETH", "USDC", "1", "--offline", "--destination", RECIPIENT, "--get", "to"),
    ("price", "base", "ETH", "--offline"),
    ("pools", "base", "ETH", "USDC", "--offline"),
    ("tokens", "base"),
    ("networks",),
    ("protocols", "base"),
    ("market", "export", "base"),
    ("market", "import", "/dev/null"),
    ("health", "base", "--offline"),
    ("schema", "route"),
    ("completion", "bash"),
    ("help", "live"),
    ("_complete", "route", "base", "US"),
    ("_complete", "keys", "revoke", ""),
]
FEW_COMMANDS = [
    ("config", "show", "--changed"),
    ("keys", "list"),
    ("route", "base", "ETH", "USDC", "1", "--offline"),
    ("market", "import", "/dev/null"),
    ("_complete", "route", "base", "US"),
]


def plant(folder: Path) -> None:
    """Write files that would change a result, or stop the program, if they were read."""
    homes = [folder, *(folder / name for name in ("~", "relative", "~/x", "x"))]
    for home in homes:
        for name, content in (
            (".config/swapcli/config.yaml", "slippage: 5\nnetworks: {base: {router: '0x" + "66" * 20 + "'}}\n"),
            (".config/swapcli/keys.json", "{}"),
            (".local/share/swapcli/base.sqlite", "no store"),
            (".local/share/swapcli/past-blocks.db", "no cache"),
            (".local/share/swapcli/node-limits.json", "{}"),
            (".cache/swapcli/completion.json", "{}"),
        ):
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(content)
    for name in ("config.yaml", "swapcli.yaml", ".env", ".netrc", "keys.json", "base.sqlite", "base.json"):
        (folder / name).write_text("slippage: 5\n")
    for module in ("swapcli/__init__.py", "yaml.py", "json.py", "sqlite3.py", "typer.py", "rich/__init__.py"):
        (folder / module).parent.mkdir(exist_ok=True)
        (folder / module).write_text("raise SystemExit('planted')\n")


def content(folder: Path) -> dict[str, str]:
    return {str(each.relative_to(folder)): each.read_text() for each in folder.rglob("*") if each.is_file()}


def touched(folder: Path, runs: Sequence[tuple[str | None, tuple[str, ...]]]) -> list[tuple[str | None, ...]]:
    """Run commands in a folder, each with a value of HOME; return those that touched paths below it, and the paths."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env = kept | {"SWAPCLI_LIVE": "never", "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "tests.support.audited_commands"],
        input=json.dumps(runs),
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(lines) == len(runs)
    assert {status for *_, status, _ in lines} <= {0, 2, 3, 4, 5, 8}, ran.stdout
    return [(home, " ".join(command), *paths) for home, command, _, paths in lines if paths]


def test_without_a_home_nothing_below_it_is_touched(tmp_path: Path) -> None:
    plant(tmp_path)
    before = content(tmp_path)
    few = [(home, command) for home in HOMES for command in FEW_COMMANDS]
    assert touched(tmp_path, [*(("~", command) for command in COMMANDS), *few]) == []
    assert content(tmp_path) == before


def test_a_named_path_below_it_is_touched(tmp_path: Path) -> None:
    """So the test above would notice."""
    (tmp_path / "config.yaml").write_text("slippage: 5\n")
    (tmp_path / "base.sqlite").write_text("no store")
    named = {
        "config.yaml": ("config", "show", "--config", "config.yaml"),
        "base.sqlite": ("route", "base", "ETH", "USDC", "1", "--offline", "--store", "."),
        "new": ("networks", "-o", "new"),
    }
    found = touched(tmp_path, [("~", command) for command in named.values()])
    assert all(path in paths for path, (_, _, *paths) in zip(named, found, strict=True)), found
