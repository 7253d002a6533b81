"""Completion: of what fits, in real shells, as the settings and stores have it, and at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

import pytest

from swapcli.core.networks.catalogue import find_network, network_names
from swapcli.faces.cli.completion.candidates import completion_text
from swapcli.faces.cli.completion.command_tree import (
    ARGUMENT_VALUES,
    FILE,
    SHELL_SCRIPTS,
    SHELLS,
    command_document,
    command_nodes,
    completion_script,
)
from tests.examples import few
from tests.support.command import run_swapcli
from tests.support.shell_session import (
    COMPINIT,
    ZSH_SETUPS,
    Completion,
    ShellSession,
    bash_session,
    fish_completions,
    shell_environment,
    zsh_session,
)
from tests.support.testnet import write_market_file

ROOT = Path(__file__).parents[3]
NETWORKS = set(network_names())
FREE_ARGUMENTS = {"AMOUNT", "NAME", "CALLDATA", "TX"}
"""Arguments that nothing completes."""
HOSTILE = "$(touch pwned)`x`; a"
SETTINGS = """
network: monad
networks:
  base:
    tokens:
      - {address: "0x1111111111111111111111111111111111111111", symbol: "$(touch pwned)`x`; a", name: H, decimals: 6}
"""


def symbols(network: str) -> set[str]:
    """The symbols of a packaged network."""
    known = find_network(network)
    wrapped = [known.wrapped_native] if known.wrapped_native else []
    return {token.symbol for token in (known.native, *wrapped, *known.tokens)}


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
    "swapcli config init --f": {"--force"},
    "swapcli route --color a": {"auto", "always"},
    "swapcli router deploy-payload --color n": {"never"},
    "swapcli route base --slippage 0": set(),
    "swapcli keys revoke pay": {"payments"},  # the identifiers of keys are hexadecimal
    "swapcli completion z": {"zsh"},
    "swapcli market import mar": {"market.json"},
}
"""What real shells offer for a line. Every other case is the program's alone, and `ANSWERS` has it."""

ANSWERS: dict[tuple[str, ...], set[str]] = {
    ("",): {node.path[0] for node in command_nodes() if node.path}
    | {alias for node in command_nodes() for alias in node.aliases},
    ("config", ""): {"show", "path", "init"},
    ("health", ""): NETWORKS,
    ("health", "base", ""): NETWORKS - {"base"},
    ("route", "8453", "cbB"): {"cbBTC"},
    ("route", "BASE", "cbB"): {"cbBTC"},
    ("route", "--direct", "--max-hops", "2", "base", "cbB"): {"cbBTC"},
    ("route", "--", "base", "cbB"): {"cbBTC"},
    ("route", "base", "ETH", ""): BASE - {"ETH"},
    ("route", "base", "ETH", "USDC", ""): set(),
    ("route", "ETH", ""): set(),
    ("route", "base", "--sl"): {"--slippage"},
    ("route", "base", "--router-dialect", "s"): {"settler"},
    ("route", "--router-dialect=s",): {"--router-dialect=settler"},
    ("route", "--router-dialect", "=", "s"): {"settler"},
    ("route", "--router-dialect", "="): {"fibrous", "own", "universal-router", "settler"},
    ("route", "base", "--exclude-protocols=uniswapV2,uniswapV3",): {"--exclude-protocols=uniswapV2,uniswapV3"},
    ("serve", "--networks", "base,m"): {"base,monad"},
    ("sync", "base", "--tokens", "ETH,cbB"): {"ETH,cbBTC"},
    ("calldata", "base", "--with-"): {"--with-approval"},
    ("route", "--get", "certificate.gapB"): {"certificate.gapBps"},
    ("tokens", "--get", "0.sy"): {"0.symbol"},
    ("calldata", "--format", "ca"): {"cast"},
    ("execute", "--network", "m"): {"monad"},
    ("help", "exit"): {"exit-codes"},
    ("nosuch", ""): set(),
    ("route", "nosuch", ""): set(),
}  # fmt: skip


def answer(*words: str, env: Mapping[str, str] | None = None) -> set[str]:
    """What completes the last word in an environment without settings."""
    lines = completion_text(words, {"HOME": "/nonexistent", **(env or {})}).splitlines()
    return {line.partition("\t")[0] for line in lines[1:]}


def settings_in(folder: Path, text: str = SETTINGS) -> dict[str, str]:
    """The environment of a user with these settings."""
    (folder / "swapcli").mkdir(exist_ok=True)
    (folder / "swapcli" / "config.yaml").write_text(text)
    return {name: str(folder) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}


@cache
def prepared(folder: Path) -> dict[str, str]:
    """Files for the cases of `IN_SHELLS`: a market file and a key; the environment that has them."""
    (folder / "market.json").write_text("{}")
    env = {"XDG_CONFIG_HOME": str(folder)}
    (folder / "swapcli").mkdir()
    assert run_swapcli("keys", "create", "payments", env=env).exit_code == 0
    return env


def test_the_committed_tree_is_fresh() -> None:
    assert FILE.read_text() == command_document(), "run: make completions"


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


@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_what_fits_is_offered(words: tuple[str, ...]) -> None:
    assert answer(*words) == ANSWERS[words]


@pytest.mark.parametrize("network", network_names())
def test_every_token_and_protocol_of_a_network_is_offered(network: str) -> None:
    assert answer("route", network, "") == symbols(network)
    protocols = {protocol.amm_name for protocol in find_network(network).protocols}
    assert answer("route", network, "--exclude-protocols", "") == protocols


def test_every_option_of_a_command_is_offered() -> None:
    leaves = [node for node in command_nodes() if node.path]
    for node in leaves:
        assert answer(*node.path, "-") == {name for option in node.options for name in option.names}


def test_bash_offers_what_fits(tmp_path: Path) -> None:
    with bash_session(tmp_path, prepared(tmp_path)) as bash:
        offered = {line: bash.complete(line) for line in IN_SHELLS}
        files = bash.complete("swapcli market import --store=swa")
    assert {line: {word.replace("\\", "") for word in each.offered} for line, each in offered.items()} == IN_SHELLS
    assert offered["swapcli route m"].line == "swapcli route monad "
    assert offered["swapcli route base u"].line == "swapcli route base USD"
    assert files.line == "swapcli market import --store=swapcli/"


def test_zsh_offers_what_fits(tmp_path: Path) -> None:
    with zsh_session(tmp_path, prepared(tmp_path)) as zsh:
        offered = {line: zsh.complete(line) for line in IN_SHELLS}
        files = zsh.complete("swapcli market import --store=swa")
    assert {line: set(each.offered) for line, each in offered.items()} == IN_SHELLS
    assert offered["swapcli route m"].line == "swapcli route monad "
    assert offered["swapcli route base u"].line == "swapcli route base USD"
    assert files.line == "swapcli market import --store=swapcli/"


def test_fish_offers_what_fits(tmp_path: Path) -> None:
    lines = [*IN_SHELLS, "swapcli market import --store=swa"]
    offered = dict(zip(lines, fish_completions(lines, tmp_path, prepared(tmp_path)), strict=True))
    assert offered.pop("swapcli market import --store=swa") == {"--store=swapcli/"}
    assert {line: set(words) for line, words in offered.items()} == IN_SHELLS


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


@pytest.mark.parametrize("session", [bash_session, zsh_session])
def test_a_hostile_symbol_stays_text(
    session: Callable[..., AbstractContextManager[ShellSession]], tmp_path: Path
) -> None:
    env = settings_in(tmp_path)
    with session(tmp_path, env) as shell:
        shell.complete("swapcli route base $")
        line = shell.complete("swapcli route base \\$").line
    assert line.replace("\\", "").strip() == f"swapcli route base {HOSTILE}"
    (quoted,) = fish_completions(["swapcli route base \\$"], tmp_path, env)
    assert quoted == {HOSTILE}
    assert not (tmp_path / "pwned").exists()


def test_settings_add_networks_tokens_and_a_default(tmp_path: Path) -> None:
    env = settings_in(tmp_path)
    assert answer("route", "", env=env) == NETWORKS | MONAD
    assert answer("route", "MON", "usd", env=env) == starting(MONAD, "usd")
    assert answer("route", "MON", "USDC", "", env=env) == set()
    assert answer("route", "base", "", env=env) == BASE | {HOSTILE}
    assert answer("tokens", "", env={**env, "SWAPCLI_NETWORK": "base"}) >= NETWORKS
    assert answer("route", "cbB", env={**env, "SWAPCLI_NETWORK": "base"}) == {"cbBTC"}


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


def test_the_tokens_of_a_store_are_offered(tmp_path: Path) -> None:
    market = write_market_file(tmp_path)
    stored = {token["symbol"] for token in json.loads(Path(market).read_text())["tokens"]}
    assert run_swapcli("market", "import", market, "--store", str(tmp_path)).exit_code == 0
    assert "testnet" in answer("route", "--store", str(tmp_path), "")
    assert answer("route", "testnet", "", "--store", str(tmp_path)) == set()
    assert answer("route", "--store", str(tmp_path), "testnet", "") == stored
    assert answer("route", "--store", str(tmp_path), "testnet", "us") == starting(stored, "us")


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
        "swapcli.core.networks", "swapcli.core.networks.definition_files",
    }  # fmt: skip


def test_a_completion_prints_utf8_in_any_locale(tmp_path: Path) -> None:
    token = '{address: "0x1111111111111111111111111111111111111111", symbol: "USD\u20ae", name: N, decimals: 6}'
    env = settings_in(tmp_path, f"networks: {{base: {{tokens: [{token}]}}}}")
    ran = subprocess.run(
        [sys.executable, "-m", "swapcli", "_complete", "route", "base", "usd\u20ae"],
        env={**os.environ, **env, "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, capture_output=True, check=True,
    )  # fmt: skip
    assert ran.stdout.decode() == "words\nUSD\u20ae\tN\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("route", "--live", "n"), {"never"}),
        (("route", "--live", "=", "n"), {"never"}),
        (("route", "--live=r"), {"--live=require"}),
        (("route", "--live", "ba"), {"base"}),
        (("route", "--live", "never", "ba"), {"base"}),
        (("route", "base", "--watch", "5", "cbB"), {"cbBTC"}),
        (("route", "base", "--watch", "cbB"), {"cbBTC"}),
    ],
)
def test_an_argument_may_follow_an_optional_value(words: tuple[str, ...], expected: set[str]) -> None:
    assert answer(*words) == expected
