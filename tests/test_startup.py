"""What a one-shot command may load. Wall-clock limits flap; a list of modules does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

BANNED = {
    "web3", "eth_abi", "eth_utils", "eth_account", "pydantic", "httpx", "starlette", "uvicorn", "numpy", "scipy",
    "rich", "yaml", "msgspec", "asyncio", "unittest", "decimal",
}  # fmt: skip
UNNEEDED = {
    "what people see": ("cli.render.view", "cli.render.plain", "cli.render.table", "cli.render.listing", "cli.fault"),
    "other commands": ("cli.batch", "cli.config", "cli.networks", "cli.tokens", "cli.protocols", "cli.completion"),
    "files of settings": ("config.yaml_text", "config.show"),
    "other orders": ("routing.reverse", "pools.wrapper", "pools.weighted", "pools.log_exp"),
    "making markets": ("networks.derivation", "markets.modelled", "markets.modelling"),
}
"""Modules of the project that the JSON of one quote on the embedded market of Base has no use for."""


def loaded_after(*arguments: str) -> set[str]:
    """The modules of a fresh interpreter after a command line of somebody without settings."""
    script = (
        "import sys, json\n"
        "from swapcli.cli.app import run\n"
        f"status = run({list(arguments)!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "sys.exit(status)"
    )
    nobody = {"HOME": "/nonexistent", "PATH": os.defpath}
    ran = subprocess.run([sys.executable, "-I", "-c", script], env=nobody, capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return loaded_after("route", "base", "ETH", "USDC", "1", "--json")


def test_a_quote_for_programs_loads_nothing_heavy(loaded: set[str]) -> None:
    assert not {name.split(".")[0] for name in loaded} & BANNED


@pytest.mark.parametrize("reason", UNNEEDED)
def test_a_quote_for_programs_loads_no_module_that_it_has_no_use_for(loaded: set[str], reason: str) -> None:
    unneeded = {f"swapcli.{name}" for name in UNNEEDED[reason]}
    assert all(find_spec(name) for name in unneeded), "the list names modules that exist"
    assert not loaded & unneeded


def test_a_quote_on_an_embedded_market_hashes_nothing(loaded: set[str]) -> None:
    assert not {name.split(".")[0] for name in loaded} & {"Crypto", "ctypes"}


def test_the_overview_loads_no_command_and_no_layer_below() -> None:
    own = {name for name in loaded_after("--help") if name.startswith("swapcli.")}
    assert own == {"swapcli.cli", "swapcli.cli.app", "swapcli.cli.exits", "swapcli.cli.tree", "swapcli.errors"}


def test_plain_text_needs_no_rich() -> None:
    assert "rich" not in loaded_after("route", "base", "ETH", "USDC", "1", "--plain")


def test_the_version_loads_nothing_at_all() -> None:
    script = (
        "import sys; before = set(sys.modules); sys.argv = ['swapcli', '--version']\n"
        "from swapcli.__main__ import main; main()\n"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1] == "['__future__', 'swapcli', 'swapcli.__main__']"
