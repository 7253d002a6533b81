"""The public library, used as a new user would."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from swapcli import Market, SwapcliError, quote

with Market.embedded("base") as market:
    found = market.quote("ETH", "USDC", "1.5")
    assert found.amount_out == quote("base", "ETH", "USDC", 1_500_000_000_000_000_000).amount_out > 0
    assert found.min_received < found.amount_out
    transaction = found.transaction(destination="0x" + "11" * 20)
    assert transaction["chainId"] == 8453
try:
    Market.embedded("nowhere")
except SwapcliError as error:
    print(error.code)
"""


def run_python(program: str, home: Path) -> str:
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-I", "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def test_the_library_quotes_and_builds(tmp_path: Path) -> None:
    assert run_python(PROGRAM, tmp_path) == "UNKNOWN_NETWORK\n"


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    program = "import sys; before = set(sys.modules); import swapcli; print(sorted(set(sys.modules) - before))"
    assert run_python(program, tmp_path) == "['swapcli']\n"


def test_every_exported_name_exists() -> None:
    import swapcli

    assert all(getattr(swapcli, name) is not None for name in swapcli.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        swapcli.__getattr__("nonsense")
