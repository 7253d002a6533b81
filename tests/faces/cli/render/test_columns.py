"""Every command at 50, 80 and 120 columns, in ASCII and without colors: nothing is wrong, or cut without a word."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from swapcli.faces.cli.completion.shell_scripts import SHELLS
from swapcli.faces.cli.help_topics import ORDER
from tests.examples import few
from tests.generate.command_tree import command_nodes
from tests.support.command import CommandResult, clean_environment, run_swapcli
from tests.support.testnet import write_market_file

WIDTHS = (50, 80, 120)
ME = "0x" + "1" * 40
MISSING = "{folder}/no-such-folder"
BASE_ORDER = ("base", "ETH", "USDC", "25", "--destination", ME)
STARKNET_ORDER = (
    "STRK",
    "USDC",
    "5",
    "--destination",
    "0x123456789012345678901234567890123456789012345678901234567890",
)
CODE = re.compile(
    r" *(?:Example: )?(?:\$ |[A-Z_]+=\S+ |eval |echo |cast |export |swapcli |--)|    |calldata [ 0-9]+$|.*\\$"
)
"""Lines that users copy: they stay whole."""


class Row(NamedTuple):
    """How to run a command: its arguments, its exit code, and its input.

    `is_code` if it prints code for a program, `is_shortened` if it shows less on a narrow terminal.
    """

    arguments: tuple[str, ...]
    exit_code: int = 0
    stdin: tuple[str, ...] = ()
    is_code: bool = False
    is_shortened: bool = False


ROWS: dict[str, tuple[Row, ...]] = {
    "route": (
        Row(("base", "ETH", "USDC", "25", "--format=table", "--certify")),
        Row(("base", "cbBTC", "DAI", "2", "--format=table", "--destination", ME)),
        Row(
            (
                "starknet",
                "STRK",
                "USDC",
                "5",
                "--format=table",
                "--destination",
                "0x123456789012345678901234567890123456789012345678901234567890",
            )
        ),
        Row(("base", "ETH", "USDQ", "1"), exit_code=2),
    ),
    "compare": (
        Row(("base", "ETH", "USDC", "25", "--format=table")),
        Row(("base", "cbBTC", "DAI", "2", "--format=table")),
        Row(("base", "ETH", "USDQ", "1"), exit_code=2),
    ),
    "depth": (
        Row(("citrea", "cBTC", "ctUSD", "--format=table")),
        Row(("citrea", "cBTC", "ctUSD", "--format=table", "--amounts", "9")),
    ),
    "plan": (Row(("base", "ETH", "USDC", "500", "--over", "4h", "--parts", "3", "--format=table")),),
    "calldata": (
        Row(("base", "USDC", "ETH", "1500", "--format=table", "--destination", ME, "--with-approval")),
        Row(
            (
                "starknet",
                "STRK",
                "USDC",
                "5",
                "--format=table",
                "--destination",
                "0x123456789012345678901234567890123456789012345678901234567890",
            )
        ),
    ),
    "execute": (
        Row(("-", "--destination", ME, "--format=table"), stdin=("route", "base", "ETH", "USDC", "1", "--json")),
    ),
    "decode": (
        Row(
            ("-", "--from", ME, "--format=table"),
            stdin=("calldata", "base", "ETH", "USDC", "25", "--destination", ME, "--json"),
        ),
        Row(
            ("-", "--value", "7", "--format=table"),
            exit_code=7,
            stdin=("calldata", "starknet", *STARKNET_ORDER, "--json"),
        ),
        Row((f"0x095ea7b3{ME[2:]:0>64}{'f' * 64}", "--network", "base", "--format=table"), exit_code=7),
        Row(("0xdeadbeef", "--format=table"), exit_code=7),
        Row(("0x8619b04e",), exit_code=2),
    ),
    "router deploy-payload": (Row(("base", "--format=table")), Row(("starknet", "--format=table"), exit_code=2)),
    "sync": (Row(("starknet", "--tokens", "STRK", "--format=table"), exit_code=2),),
    "market import": (Row(("{market}", "--store", "{folder}", "--replace", "--format=table")),),
    "market export": (Row(("citrea", "{folder}/exported.json", "--format=table")),),
    "market info": (
        Row(("--store", "{stores}", "--format=table")),
        Row(("testnet", "--store", "{stores}", "--format=table")),
        Row(("--store", MISSING, "--format=table"), exit_code=2),
    ),
    "market remove": (Row(("nosuch", "--store", "{stores}"), exit_code=2),),
    "serve": (Row(("--networks", "nosuch"), exit_code=2),),
    "mcp": (
        Row(("--http", "nosuch"), exit_code=2),
        Row(("--market", MISSING, "--offline", "--http", "nosuch"), exit_code=2),
    ),
    "health": (Row(("--format=table",)), Row(("base", "nosuch"), exit_code=2)),
    "keys create": (Row(("A name of an integrator", "--keys-file", "{folder}/keys.json")),),
    "keys change": (
        Row(("nosuch", "--streams", "5", "--keys-file", "{stores}/keys.json", "--format=table"), exit_code=2),
    ),
    "keys list": (Row(("--keys-file", "{stores}/keys.json", "--format=table")),),
    "keys usage": (Row(("--keys-file", "{stores}/keys.json", "--format=table")),),
    "keys revoke": (Row(("nosuch", "--keys-file", "{stores}/keys.json", "--format=table"), exit_code=2),),
    "networks add": (Row(("nosuch", "--config", "{folder}/set.yaml"), exit_code=2),),
    "networks remove": (Row(("nosuch", "--config", "{folder}/set.yaml"), exit_code=2),),
    "networks show": (Row(("ethereum", "--format=table")), Row(("starknet", "--format=table"))),
    "networks check": (Row(("nosuch", "--format=table"), exit_code=2),),
    "tokens": (
        Row(("monad", "--format=table")),
        Row(("starknet", "--format=table")),
        Row(("testnet", "--store", "{stores}", "--format=table")),
    ),
    "protocols": (Row(("base", "--format=table")), Row(("testnet", "--store", "{stores}", "--format=table"))),
    "schema": (Row(("--format=table",)), Row(("route",), is_code=True)),
    "pools": (
        Row(("base", "ETH", "USDC", "--format=table")),
        Row(("starknet", "STRK", "--format=table")),
        Row(("testnet", "--store", "{stores}", "--format=table")),
        Row(("base", "cbBTC", "DAI", "--format=table")),
        Row(("base", "--router-dialect", "settler", "--limit", "0", "--format=table")),
    ),
    "price": (Row(("base", "ETH", "cbBTC", "--format=table")), Row(("base", "ETH", "--in", "nosuch"), exit_code=2)),
    "balance": (Row(("base", "0x" + "22" * 20, "ETH", "--format=table"), exit_code=2),),
    "allowance": (Row(("base", "0x" + "22" * 20, "USDC", "--format=table"), exit_code=2),),
    "backtest": (Row(("base", MISSING, "--blocks", "1..2", "--format=table"), exit_code=2),),
    "hindsight": (Row(("starknet", "0x" + "12" * 32, "--format=table"), exit_code=2),),
    "prove": (Row(("nosuch", "--format=table"), exit_code=2),),
    "verify": (Row(("starknet", "0x12", "--format=table"), exit_code=2),),
    "record": (Row(("starknet", "0x12", "--format=table"), exit_code=2),),
    "config show": (Row(("--format=table",)),),
    "config path": (Row(()),),
    "config get": (Row(("slippage",)),),
    "config set": (Row(("slippage", "1", "--config", "{folder}/set.yaml")),),
    "config unset": (Row(("slippage", "--config", "{folder}/set.yaml")),),
    "config init": (Row(("--config", "{folder}/config.yaml", "--replace")),),
    "help": (Row(()), *(Row((topic,)) for topic in ORDER)),
    "completion": tuple(Row((shell,), is_code=True) for shell in SHELLS),
}
"""How to run each command without a node."""

NODES = {" ".join(node.path): node for node in command_nodes() if node.path}
GROUPS = {path.rpartition(" ")[0] for path in NODES}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The market file, a folder with a store and a key, and a folder to write to."""
    stores = tmp_path_factory.mktemp("stores")
    market = write_market_file(stores)
    assert run_swapcli("market", "import", market, "--store", str(stores)).exit_code == 0
    assert run_swapcli("keys", "create", "A customer", "--keys-file", f"{stores}/keys.json").exit_code == 0
    return {"market": market, "stores": str(stores), "folder": str(tmp_path_factory.mktemp("out"))}


def run_at(width: int, *arguments: str, stdin: bytes = b"") -> CommandResult:
    """Run a command line on a terminal of that width that knows ASCII and nothing else."""
    env = {"COLUMNS": str(width), "TERM": "dumb", "NO_COLOR": "1"}
    return run_swapcli(*arguments, stdin=stdin, env=env, encoding="ascii", width=width)


def too_wide(text: str, width: int) -> list[str]:
    """The lines that a terminal would break, except single words and lines to copy."""
    lines = [line for line in text.splitlines() if len(line) > width]
    return [line for line in lines if len(line.split()) > 1 and not CODE.match(line)]


def facts(text: str) -> set[str]:
    """The addresses, amounts and other words with digits."""
    return {word.strip("(),;") for word in text.split() if re.search(r"\d", word)}


def check(text: str) -> None:
    assert text.isascii()
    assert "\\u" not in text
    assert "\x1b" not in text
    assert not re.search(r"\d %", text)


def test_every_command_has_a_row() -> None:
    assert ROWS.keys() == NODES.keys() - GROUPS, "add a row that runs the command without a node"


@pytest.mark.parametrize("path", few(sorted(NODES.keys() - GROUPS), 5))
def test_the_output_of_a_command_fits_any_width(path: str, places: dict[str, str]) -> None:
    for row in ROWS[path]:
        arguments = [argument.format(**places) for argument in row.arguments]
        stdin = run_swapcli(*row.stdin).stdout.encode() if row.stdin else b""
        results = {width: run_at(width, *path.split(), *arguments, stdin=stdin) for width in WIDTHS}
        for width, ran in results.items():
            assert ran.exit_code == row.exit_code, ran.stderr
            if not row.is_code:
                assert too_wide(ran.stdout, width) == []
                check(ran.stdout + ran.stderr)
        if path not in ("compare", "keys create", "health", "market import", "plan"):  # a new key, and times
            for width in (80, 120):
                if f"In {width} columns" not in results[width].stdout:
                    assert facts(results[50].stdout) == facts(results[width].stdout)


@pytest.mark.parametrize("path", few(["", *NODES], 17))
def test_the_help_of_a_command_fits_any_width(path: str) -> None:
    words = {}
    for width in WIDTHS:
        ran = run_at(width, *path.split(), "--help")
        assert ran.exit_code == 0
        assert too_wide(ran.stdout, width) == []
        check(ran.stdout)
        words[width] = "".join(ran.stdout.split())
    assert words[50] == words[80] == words[120]


def in_terminal(arguments: list[str], **env: str) -> str:
    """What a command prints on a terminal."""
    terminal, end = pty.openpty()
    environment = {**clean_environment(), "COLUMNS": "80", "TERM": "xterm-256color", **env}
    environment.pop("NO_COLOR", None)
    subprocess.run(
        [sys.executable, "-m", "swapcli", *arguments], stdin=end, stdout=end, stderr=end, env=environment, check=True
    )
    os.set_blocking(terminal, False)
    shown = b""
    try:
        while piece := os.read(terminal, 65_536):
            shown += piece
    except (BlockingIOError, OSError):
        pass
    os.close(end)
    os.close(terminal)
    return shown.decode()


LINK = re.compile(r"\x1b\]8;[^;]*;(https?://[^\x1b]+)\x1b\\")


def test_a_terminal_links_tokens_and_pools_to_the_explorer() -> None:
    tokens = LINK.findall(in_terminal(["tokens", "citrea"]))
    assert tokens
    assert all(link.startswith("https://explorer.mainnet.citrea.xyz/token/0x") for link in tokens)
    pools = LINK.findall(in_terminal(["route", "base", "ETH", "USDC", "1"]))
    assert pools
    assert all(re.fullmatch(r"https://basescan\.org/address/0x[0-9a-fA-F]{40}", link) for link in pools)


@pytest.mark.parametrize("case", ["dumb", "never"])
def test_a_terminal_without_colors_gets_no_escapes(case: str) -> None:
    options = ["--color", "never"] if case == "never" else []
    shown = in_terminal(["networks", *options], TERM="dumb" if case == "dumb" else "xterm")
    assert "0x2746…4b44" in shown
    assert "\x1b" not in shown


def test_pipes_get_no_links() -> None:
    ran = run_swapcli("tokens", "citrea", "--format=table", "--color", "always", env={"TERM": "xterm"})
    assert "\x1b[1m" in ran.stdout
    assert "\x1b]" not in ran.stdout


def test_an_explorer_is_a_web_page(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    for wrong in ("javascript:alert(1)", "https://x\\e]8;;", "ftp://x.example", "https://a b.example"):
        file.write_text(f'networks: {{base: {{explorer: "{wrong}"}}}}')
        ran = run_swapcli("networks", "--config", str(file))
        assert (ran.exit_code, "http or https URL" in ran.stderr) == (2, True)


@pytest.mark.parametrize("columns", ["0", "", "-5", "x", "10001", "99999999999", "9" * 5_000, "٣"])
def test_a_width_that_is_none_counts_as_unknown(columns: str) -> None:
    for command in (
        ("route", "base", "ETH", "USDC", "1.5", "--offline", "--format=table"),
        ("networks", "--format=table"),
        ("help", "routing"),
    ):
        ran, expected = (run_swapcli(*command, env={"COLUMNS": each}) for each in (columns, "80"))
        assert ran.exit_code == 0
        assert len(ran.stdout) == len(expected.stdout) > 100
