"""A pool family is added by two source files, its tests, and a row in each table: nothing else knows it.

The files and rows below go into a copy of the program, which then reads, trades, encodes and describes the family.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema_rs import Draft202012Validator

import swapcli

HERE: Final = Path(__file__).parent
PACKAGE: Final = Path(swapcli.__file__).parent
SOURCES: Final = {
    "core/pools/fixed_rate/constant_sum.py": HERE / "constant_sum.py",
    "state/readers/fixed_rate/constant_sum.py": HERE / "constant_sum_reader.py",
}
ROWS: Final = {
    "core/pools/__init__.py": (
        "_CLASSES: dict[str, tuple[str, str]] = {",
        """    "constant_sum": ("fixed_rate", "ConstantSum"),""",
    ),
    "core/model/contract_kind.py": (
        """    BRIDGE = "bridge\"""",
        """    CONSTANT_SUM = "constant_sum\"""",
    ),
    "state/readers/contract_kinds.py": (
        "KINDS: Final[Mapping[ContractKind, KindTraits]] = {",
        """    ContractKind.CONSTANT_SUM: KindTraits(("constant_sum",), "fixed_rate.constant_sum"),""",
    ),
    # The router calls it as a pair of Liquidity Book: `swap(bool, address)`.
    "payload/evm/extra_data.py": (
        """        "wrapper": RouterFamily(RouterPoolKind.WRAPPER, _nothing),""",
        """        "constant_sum": RouterFamily(RouterPoolKind.LIQUIDITY_BOOK, _is_first_sold),""",
    ),
    "faces/cli/topics/pools.txt": (
        "  wrapper                   nothing",
        "  constant_sum              reserves",
    ),
}
"""By file of the program, the line after which the family's row stands, and the row."""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What the copy answers: see `in_the_copy`."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copytree(PACKAGE, folder / "swapcli")
    for name, source in SOURCES.items():
        shutil.copy(source, folder / "swapcli" / name)
    for name, (line, row) in ROWS.items():
        file = folder / "swapcli" / name
        text = file.read_text()
        assert text.count(f"\n{line}\n") == 1, f"{name} has no line {line!r}"
        file.write_text(text.replace(f"\n{line}\n", f"\n{line}\n{row}\n"))
    process = subprocess.run(
        [sys.executable, "-m", "tests.new_family.in_the_copy", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(PACKAGE.parent)))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not process.returncode, process.stderr
    printed: Mapping[str, Any] = json.loads(process.stdout)
    assert printed["program"] == str(folder / "swapcli")
    return printed


def test_its_pools_are_read_and_swap_like_the_contract(answers: Mapping[str, Any]) -> None:
    assert answers["is known"]
    assert answers["kinds"] == ["constant_sum"]
    assert answers["kind of a pool"] == "constant_sum"
    assert answers["swaps like the contract"] > 20


def test_orders_are_routed_over_a_market_file(answers: Mapping[str, Any]) -> None:
    assert answers["route"]["outputAmount"] == str(1000 * 10**18 * 9_975 // 10_000)
    assert len(answers["pools"]["pools"]) == 1


def test_a_transaction_calls_it(answers: Mapping[str, Any]) -> None:
    assert answers["router kind"] == 13  # Liquidity Book's
    assert answers["extra data"] == "01"
    assert answers["transaction"]["calldata"]


def test_topic_and_schema_describe_it(answers: Mapping[str, Any]) -> None:
    assert "constant_sum              reserves" in answers["topic"]
    assert Draft202012Validator(answers["schema"]).is_valid(answers["pools"])
