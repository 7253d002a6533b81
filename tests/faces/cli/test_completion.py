"""Completion: of what fits, in real shells, as the settings and stores have it, and at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.networks.catalogue import all_network_names, find_network
from swapcli.faces.cli.completion.packaged_tokens import PACKAGED_TOKENS_FILE
from swapcli.faces.cli.completion.shell_scripts import SHELL_SCRIPTS, SHELLS, completion_script
from tests.examples import few
from tests.generate.command_tree import ARGUMENT_VALUES, FILE, command_document, command_nodes, packaged_tokens_document
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.shell_session import (
    COMPINIT,
    ZSH_SETUPS,
    Completion,
    bash_session,
    fish_completions,
    shell_environment,
    zsh_session,
)

ROOT = Path(__file__).parents[3]

NETWORKS = set(all_network_names())

FREE_ARGUMENTS = {"FILE|NAME", "ADDRESS", "OWNER", "SPENDER", "AMOUNT", "VALUE", "NAME", "CALLDATA", "TX"}
"""Arguments that nothing completes."""

SETTINGS = """
network: monad
networks:
  base:
    tokens:
      - {address: "0x1111111111111111111111111111111111111111", symbol: "$(touch pwned)`x`; a", name: H, decimals: 6}
"""


def symbols(network: str) -> set[str]:
    """The symbols of the tokens with pools of a packaged network."""
    return {each.token.symbol for each in swappable_in(embedded_market(network))}


def starting(names: set[str], begin: str) -> set[str]:
    return {name for name in names if name.lower().startswith(begin.lower())}


BASE, MONAD = symbols("base"), symbols("monad")

PROTOCOLS = {protocol.amm_name for protocol in find_network("base").protocols}

IN_SHELLS: dict[str, set[str]] = {
    "swapcli rout": {"route", "router"},
    "swapcli route ": NETWORKS,
    "swapcli route m": {"monad"},
    "swapcli route base u": starting(BASE, "u"),
    "swapcli route base ETH cbB": {"cbBTC"},
    "swapcli route base --exclude-protocols uniswapV3,unisw": {
        f"uniswapV3,{name}" for name in starting(PROTOCOLS, "unisw") if name != "uniswapV3"
    },
    "swapcli sync --tokens ETH,cbB ba": {"base"},
    "swapcli config init --r": {"--replace"},
    "swapcli route --color a": {"auto", "always"},
    "swapcli sync --format ": {"json", "plain", "table"},
    "swapcli pools --format c": {"csv"},
    "swapcli calldata --format c": {"cast"},
    "swapcli router deploy-payload --color n": {"never"},
    "swapcli route base --slippage 0": set(),
    "swapcli keys revoke pay": {"payments"},  # the identifiers of keys are hexadecimal
    "swapcli completion z": {"zsh"},
    "swapcli market import mar": {"market.json"},
    "swapcli market import my": {"my orders.json"},
    "swapcli market import my\\ or": {"my orders.json"},
    "swapcli market import or": {"or*.json", "or1.json"},
}
"""What real shells offer for a line. Every other case is the program's alone, and `ANSWERS` has it."""


def settings_in(folder: Path, text: str = SETTINGS) -> dict[str, str]:
    """The environment of a user with these settings."""
    (folder / "swapcli").mkdir(exist_ok=True)
    (folder / "swapcli" / "config.yaml").write_text(text)
    return {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}


@cache
def prepared(folder: Path) -> dict[str, str]:
    """Files for the cases of `IN_SHELLS`, a folder and a key; the environment that has them."""
    for name in ("market.json", "my orders.json", "or*.json", "or1.json"):
        (folder / name).write_text("{}")
    (folder / "dir of mine" / "a b").mkdir(parents=True)
    env = {"XDG_CONFIG_HOME": str(folder)}
    (folder / "swapcli").mkdir()
    assert run_swapcli("keys", "create", "payments", env=env).exit_code == 0
    return env


def test_the_committed_tree_is_fresh() -> None:
    assert FILE.read_text() == command_document(), "run: make completions"
    assert Path(PACKAGED_TOKENS_FILE).read_text() == packaged_tokens_document(), "run: make completions"


def test_every_argument_is_completed_or_known_to_be_free() -> None:
    metavars = {argument.metavar for node in command_nodes() for argument in node.arguments}
    assert metavars <= ARGUMENT_VALUES.keys() | FREE_ARGUMENTS


@pytest.mark.parametrize("shell", SHELLS)
def test_the_command_prints_the_script_of_a_shell(shell: str) -> None:
    assert run_swapcli("completion", shell).stdout == completion_script(shell)


def test_an_unknown_shell_is_refused() -> None:
    ran = run_swapcli("completion", "tcsh")
    assert ran.exit_code == 2
    assert "bash, zsh, fish" in ran.stderr


def test_bash_offers_what_fits(tmp_path: Path) -> None:
    with bash_session(tmp_path, prepared(tmp_path)) as bash:
        offered = {line: bash.complete(line) for line in IN_SHELLS}
        files = bash.complete("swapcli market import --store=swa")
        folders = [bash.complete(line).line for line in ("swapcli sync --store di", "swapcli sync --store=dir\\ of")]
        inside = bash.complete("swapcli sync --store dir\\ of\\ mine/")
    assert {line: {word.replace("\\", "") for word in each.offered} for line, each in offered.items()} == IN_SHELLS
    assert offered["swapcli route m"].line == "swapcli route monad "
    assert offered["swapcli route base u"].line == "swapcli route base USD"
    assert offered["swapcli market import my"].line == "swapcli market import my\\ orders.json "
    assert files.line == "swapcli market import --store=swapcli/"
    assert folders == ["swapcli sync --store dir\\ of\\ mine/", "swapcli sync --store=dir\\ of\\ mine/"]
    assert inside.line == "swapcli sync --store dir\\ of\\ mine/a\\ b/"


def test_zsh_offers_what_fits(tmp_path: Path) -> None:
    with zsh_session(tmp_path, prepared(tmp_path)) as zsh:
        offered = {line: zsh.complete(line) for line in IN_SHELLS}
        files = zsh.complete("swapcli market import --store=swa")
        folders = [zsh.complete(line).line for line in ("swapcli sync --store di", "swapcli sync --store=dir\\ of")]
        inside = zsh.complete("swapcli sync --store dir\\ of\\ mine/")
    assert {line: {word.replace("\\", "") for word in each.offered} for line, each in offered.items()} == IN_SHELLS
    assert offered["swapcli route m"].line == "swapcli route monad "
    assert offered["swapcli route base u"].line == "swapcli route base USD"
    assert offered["swapcli market import my"].line == "swapcli market import my\\ orders.json "
    assert files.line == "swapcli market import --store=swapcli/"
    assert folders == ["swapcli sync --store dir\\ of\\ mine/", "swapcli sync --store=dir\\ of\\ mine/"]
    assert inside.line == "swapcli sync --store dir\\ of\\ mine/a\\ b/"


def test_fish_offers_what_fits(tmp_path: Path) -> None:
    folders = {
        "swapcli market import --store=swa": {"--store=swapcli/"},
        "swapcli sync --store di": {"dir of mine/"},
        "swapcli sync --store=dir\\ of": {"--store=dir of mine/"},
        "swapcli sync --store dir\\ of\\ mine/": {"dir of mine/a b/"},
    }
    lines = [*IN_SHELLS, *folders]
    offered = dict(zip(lines, fish_completions(lines, tmp_path, prepared(tmp_path)), strict=True))
    assert {line: set(offered.pop(line)) for line in folders} == folders
    assert {line: set(words) for line, words in offered.items()} == IN_SHELLS


@pytest.mark.slow
@pytest.mark.parametrize("setup", few(ZSH_SETUPS, 1))
def test_zsh_evaluates_the_script_before_and_after_compinit(setup: str, tmp_path: Path) -> None:
    with zsh_session(tmp_path, setup=ZSH_SETUPS[setup]) as zsh:
        assert zsh.complete("swapcli route m") == Completion("swapcli route monad ", frozenset({"monad"}))


def test_packagers_find_the_scripts_that_the_command_prints() -> None:
    found = {file.name: file.read_text() for file in (ROOT / "completions").iterdir()}
    expected = {SHELL_SCRIPTS[shell]: run_swapcli("completion", shell).stdout for shell in SHELLS}
    assert found == expected, "run: make completions"


def test_the_scripts_work_from_where_they_are_installed(tmp_path: Path) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for source, target in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"].items():
        (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, tmp_path / target)
    share = tmp_path / "share"
    found = Completion("swapcli route monad ", frozenset({"monad"}))
    with bash_session(tmp_path, setup=f". {share}/bash-completion/completions/swapcli") as bash:
        assert bash.complete("swapcli route m") == found
    with zsh_session(tmp_path, setup=f"fpath=({share}/zsh/site-functions $fpath)\n{COMPINIT}") as zsh:
        assert zsh.complete("swapcli route m") == found
    # As fish itself does on the first TAB after `swapcli`, from the folders that this variable lists.
    setup = f"set -g fish_complete_path {share}/fish/vendor_completions.d"
    assert fish_completions(["swapcli route m"], tmp_path, setup=setup) == [frozenset({"monad"})]


def test_a_completion_loads_nothing_slow(tmp_path: Path) -> None:
    """Its modules are few; bench/HISTORY.md has the times."""
    env = {**shell_environment(tmp_path, settings_in(tmp_path)), "PYTHONPROFILEIMPORTTIME": "1"}
    for _ in range(2):  # the first one remembers the settings
        ran = subprocess.run(
            [sys.executable, "-m", "swapcli", "_complete", "route", "base", "u"],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
    assert "USDC\tUSD Coin" in ran.stdout.splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    own = {name for name in loaded if name.startswith("swapcli.")}
    assert not loaded & {"typing", "typer", "rich", "yaml", "dataclasses", "pathlib", "sqlite3"}
    assert {name for name in own if not name.startswith("swapcli.faces")} == {
        "swapcli.startup", "swapcli.state", "swapcli.state.environment", "swapcli.state.user_folders", "swapcli.core",
        "swapcli.core.version", "swapcli.core.networks", "swapcli.core.networks.definition_files",
    }  # fmt: skip


def test_a_completion_prints_utf8_in_any_locale(tmp_path: Path) -> None:
    token = '{address: "0x1111111111111111111111111111111111111111", symbol: "USD\u20ae", name: N, decimals: 6}'
    env = settings_in(tmp_path, f"networks: {{base: {{tokens: [{token}]}}}}")
    ran = subprocess.run(
        [sys.executable, "-m", "swapcli", "_complete", "route", "base", "usd\u20ae"],
        env={**os.environ, **env, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True,
    )  # fmt: skip
    assert ran.stdout.decode() == "words\nUSD\u20ae\tN\n"
