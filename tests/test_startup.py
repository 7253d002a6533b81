"""What a one-shot command may load. Wall-clock limits flap; a list of modules does not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

BANNED = {
    "web3", "eth_abi", "eth_utils", "eth_account", "pydantic", "httpx", "starlette", "uvicorn", "numpy", "scipy",
    "rich", "yaml", "msgspec", "asyncio", "unittest", "decimal",
}  # fmt: skip
FOR_PEOPLE = ("swapcli.cli.render.view", "swapcli.cli.render.plain", "swapcli.cli.batch", "swapcli.cli.fault")
OTHER_COMMANDS = ("swapcli.cli.config", "swapcli.cli.networks", "swapcli.cli.completion")


def loaded_after(*arguments: str) -> set[str]:
    """The modules of a fresh interpreter after a command line."""
    script = (
        "import sys, json\n"
        "from swapcli.cli.app import run\n"
        f"status = run({list(arguments)!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
        "sys.exit(status)"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def loaded() -> set[str]:
    return loaded_after("route", "base", "ETH", "USDC", "1", "--json")


def test_a_quote_for_programs_loads_nothing_heavy(loaded: set[str]) -> None:
    assert not {name.split(".")[0] for name in loaded} & BANNED


def test_a_quote_for_programs_loads_nothing_made_for_people(loaded: set[str]) -> None:
    assert not loaded & {*FOR_PEOPLE, *OTHER_COMMANDS}


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
