"""Completion scripts: fresh, and right in the shells that are here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from swapcli.cli.completion_scripts import FILES, SHELLS, command_nodes, completion_script
from swapcli.networks.catalogue import network_names
from tests.support.command import run_swapcli

FOLDER = Path(__file__).parents[2] / "completions"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_committed_scripts_are_fresh(shell: str) -> None:
    assert (FOLDER / FILES[shell]).read_text() == completion_script(shell), "run: make completions"
    assert run_swapcli("completion", shell).stdout == completion_script(shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_every_command_and_option(shell: str) -> None:
    text = completion_script(shell)
    for node in command_nodes():
        assert all(word in text for word in node.path)
        for option in node.options:
            assert all(name.lstrip("-") in text for name in option.names)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_valid_where_its_shell_is_here(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell) or shutil.which("bash")
    file = tmp_path / "script"
    file.write_text(completion_script(shell if shutil.which(shell) else "bash"))
    assert program is not None
    assert subprocess.run([program, "-n", file], capture_output=True, check=False).stderr == b""


def completed(*words: str) -> set[str]:
    """What bash offers for the last of `words`."""
    typed = " ".join(f"'{word}'" for word in ("swapcli", *words))
    ask = f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _swapcli; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ran = subprocess.run(["bash", "-c", completion_script("bash") + ask], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("",), {node.path[0] for node in command_nodes() if node.path}),
        (("rout",), {"route", "router"}),
        (("route", ""), set(network_names())),
        (("route", "m"), {"monad"}),
        (("config", ""), {"show", "path", "init"}),
        (("config", "init", "--f"), {"--force"}),
        (("health", "m"), {"monad"}),
        (("keys", ""), {"create", "list", "revoke"}),
        (("execute", f"{FOLDER}/_s"), {f"{FOLDER}/_swapcli"}),
        (("calldata", "base", "--with-"), {"--with-approval"}),
        (("route", "base", "--sl"), {"--slippage"}),
        (("route", "base", "--api-version", ""), {"v1", "v2"}),
        (("route", "base", "--slippage", ""), set()),
        (("route", "--color", "a"), {"auto", "always"}),
        (("sync", "--store", str(FOLDER)), {str(FOLDER)}),
        (("sync", "--store", f"{FOLDER}/_s"), set()),
        (("market", ""), {"import", "export", "info"}),
        (("market", "import", f"{FOLDER}/_s"), {f"{FOLDER}/_swapcli"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
    ],
)
def test_bash_offers_what_fits(words: tuple[str, ...], offered: set[str]) -> None:
    assert completed(*words) == offered


def test_an_unknown_shell_is_refused() -> None:
    ran = run_swapcli("completion", "tcsh")
    assert ran.exit_code == 2
    assert "bash, zsh, fish" in ran.stderr
