"""A pool family is added by two source files, its rows in the folder, and a line in the index: nothing else knows it.

The files below, and the rows that `make family` writes, go into a copy of the program, which then reads, trades,
encodes and describes the family.
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
from tests.generate.family import INDEX, Family, add_family

HERE: Final = Path(__file__).parent
PACKAGE: Final = Path(swapcli.__file__).parent
FAMILY: Final = Family("constant_sum", "fixed_rate")
SOURCES: Final = {
    "families/fixed_rate/constant_sum.py": HERE / "constant_sum.py",
    "families/fixed_rate/constant_sum_reader.py": HERE / "constant_sum_reader.py",
}
ROWS: Final = {path.removeprefix("swapcli/") for path in (INDEX, FAMILY.rows, FAMILY.definition)}
"""The files of the program in which a family has a line."""
# The router calls it as a pair of Liquidity Book: `swap(bool, address)`.
ROW: Final = f'"{FAMILY.name}": FamilyRow(("reserves",)'
CALL: Final = ", RouterEncoding(RouterPoolKind.LIQUIDITY_BOOK, is_first_sold)"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    """What the copy answers: see `in_the_copy`."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copytree(PACKAGE, folder / "swapcli")
    assert {Path(path).relative_to("swapcli") for path in add_family(FAMILY, folder) if path.startswith("swapcli")} == {
        Path(path) for path in {*SOURCES, *ROWS}
    }
    for name, source in SOURCES.items():
        shutil.copy(source, folder / "swapcli" / name)
    rows = folder / FAMILY.rows
    rows.write_text(rows.read_text().replace(ROW, ROW + CALL))
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


def test_its_row_and_the_schema_describe_it(answers: Mapping[str, Any]) -> None:
    assert answers["fields"] == ["reserves"]
    assert Draft202012Validator(answers["schema"]).is_valid(answers["pools"])
