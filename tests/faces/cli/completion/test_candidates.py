"""What fits at the place of the cursor is offered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from swapcli.core.model.swappable_tokens import swappable_in
from swapcli.core.networks.catalogue import all_network_names, find_network, network_names
from swapcli.faces.cli.completion.candidates import completion_text
from tests.generate.command_tree import command_nodes
from tests.support.command import run_swapcli
from tests.support.markets import embedded_market
from tests.support.shell_session import (
    ShellSession,
    bash_session,
    fish_completions,
    zsh_session,
)
from tests.support.testnet import write_market_file

NETWORKS = set(all_network_names())

HOSTILE = "$(touch pwned)`x`; a"

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

ANSWERS: dict[tuple[str, ...], set[str]] = {
    ("",): {node.path[0] for node in command_nodes() if node.path}
    | {alias for node in command_nodes() for alias in node.aliases},
    ("config", ""): {"get", "init", "path", "set", "show", "unset"},
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
    ("route", "--router-dialect", "="): {"auto", "fibrous", "own", "universal-router", "settler"},
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


@pytest.mark.parametrize("network", network_names())
def test_what_tokens_lists_is_offered(network: str, tmp_path: Path) -> None:
    listed = {each["symbol"] for each in run_swapcli("tokens", network, "--json").json}
    assert answer("route", network, "") == listed
    file = tmp_path / "market.json"
    assert run_swapcli("market", "export", network, str(file)).exit_code == 0
    assert run_swapcli("market", "import", str(file), "--store", str(tmp_path)).exit_code == 0
    assert answer("route", "--store", str(tmp_path), network, "") == listed


def test_the_tokens_of_a_store_are_offered(tmp_path: Path) -> None:
    market = write_market_file(tmp_path)
    assert run_swapcli("market", "import", market, "--store", str(tmp_path)).exit_code == 0
    stored = {each["symbol"] for each in run_swapcli("tokens", "testnet", "--store", str(tmp_path), "--json").json}
    assert "testnet" in answer("route", "--store", str(tmp_path), "")
    assert answer("route", "testnet", "", "--store", str(tmp_path)) == set()
    assert answer("route", "--store", str(tmp_path), "testnet", "") == stored
    assert answer("route", "--store", str(tmp_path), "testnet", "us") == starting(stored, "us")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("route", "--live", "r"), {"require"}),
        (("route", "--live", "=", "r"), {"require"}),
        (("route", "--live=r"), {"--live=require"}),
        (("route", "--live", "ba"), {"base"}),
        (("route", "--live", "auto", "ba"), {"base"}),
        (("route", "base", "--watch", "5", "cbB"), {"cbBTC"}),
        (("route", "base", "--watch", "cbB"), {"cbBTC"}),
    ],
)
def test_an_argument_may_follow_an_optional_value(words: tuple[str, ...], expected: set[str]) -> None:
    assert answer(*words) == expected
