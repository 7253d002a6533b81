"""The messages of the kit name what failed: the function, the swap, the constructor or the module."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest

from swapcli.core.plugins import FAMILY_GROUP
from swapcli.testing.contract_pool import (
    ContractPool,
    compare_swaps,
    read_answers,
    require_family,
    require_kind,
    require_reader,
)
from swapcli.testing.evm import Chain, read_artifact
from swapcli.testing.family_tests import FamilyTests
from swapcli.testing.recorded_swaps import check_recorded_swaps
from tests.new_family.test_kit_finds_defects import EXAMPLE
from tests.support.plugin_packages import installed, write_package

MODULES = {"glide/rows.py": "FAMILIES = {}\nKINDS = {}\n", "glide/glider.py": "class Glider: pass\n"}


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The tests of the example's family, whose package is installed."""
    site = tmp_path_factory.mktemp("site")
    write_package(site, "example", {FAMILY_GROUP: {"capped_sum": "swapcli_example_plugin.capped_sum:CappedSum"}})
    folders = [str(EXAMPLE / "src"), str(EXAMPLE / "tests")]
    sys.path[:0] = folders
    try:
        with installed(site):
            yield import_module("test_capped_sum")
    finally:
        for folder in folders:
            sys.path.remove(folder)


def test_a_missing_answer_names_the_function(example: ModuleType) -> None:
    answers = {key: data for key, data in example.ANSWERS.items() if key != "maxSwap()"}
    with pytest.raises(KeyError, match=re.escape("calls maxSwap(); answers are given for feePpm(), getReserves()")):
        read_answers(example.load(example.REF), answers)


def test_a_different_amount_names_the_swap(example: ModuleType) -> None:
    contract = example.CappedSumContract(Random(3))
    sell = contract.sell
    contract.sell = lambda *order: (sell(*order) or 0) + 1
    swap = r"the contract of Random\(3\), swap \d+: \d+ of 0x\w{40} for 0x\w{40}: "
    with pytest.raises(AssertionError, match=swap + r"the contract pays \d+, the pool "):
        compare_swaps(contract, Random(3), 40, name="the contract of Random(3)")


def test_a_revert_of_the_contract_has_its_reason(example: ModuleType) -> None:
    contract = example.CappedSumContract(Random(3))
    read = contract.read
    contract.read = lambda: replace(read(), max_swap=10**40)
    with pytest.raises(AssertionError, match=r"the contract pays nothing \(above the limit\), the pool pays \d+"):
        compare_swaps(contract, Random(3), 40)


def test_a_contract_without_tokens_is_questioned(example: ModuleType) -> None:
    class Idle(ContractPool):
        def read(self) -> Any:
            pool = example.TestCappedSum().valid_pool()
            return type(pool)(*pool.identity, (0, 0), 10**23)

        def sell(self, token_in: str, token_out: str, amount_in: int) -> int | None:
            del token_in, token_out, amount_in
            return None

    class Kit(example.TestCappedSum):  # type: ignore[name-defined,misc]
        def contract(self, rng: Random) -> ContractPool:
            del rng
            return Idle()

    kit: FamilyTests = Kit()
    with pytest.raises(AssertionError, match="paid 0 of 40 swaps: does the pool hold both tokens"):
        kit.test_random_swaps_are_the_contracts()


def test_a_recorded_swap_is_named(example: ModuleType, tmp_path: Path) -> None:
    document = json.loads((EXAMPLE / "tests" / "capped_sum.json").read_text())
    steps = document["pools"][1]["steps"]
    index = next(k for k, step in enumerate(steps) if step["amount_out"])
    steps[index]["amount_out"] = "7"
    (tmp_path / "swaps.json").write_text(json.dumps(document))
    message = rf"swaps.json, pools\[1\].steps\[{index}\]: the contract paid 7, the pool pays \d+"
    with pytest.raises(AssertionError, match=message):
        check_recorded_swaps(tmp_path / "swaps.json", lambda _: example.CappedSum)


def test_wrong_constructor_arguments_name_the_constructor() -> None:
    token = read_artifact(EXAMPLE / "tests" / "contracts" / "PlainToken.json")
    for arguments in ((), (18, 18), ("eighteen",), (-1,)):
        with pytest.raises(TypeError, match=r"^constructor\(uint8\) does not take "):
            Chain().deploy(token, *arguments)


def test_a_skipped_package_is_named_with_its_reason(tmp_path: Path) -> None:
    write_package(tmp_path, "glide", {FAMILY_GROUP: {"glider": "glide.glider:Glider"}}, MODULES)
    with installed(tmp_path):
        for name, check in (("glider", require_family), ("glider", require_kind), ("glide_kind", require_kind)):
            with pytest.raises(AssertionError, match=r"the package glide .* not a class derived from swapcli.Pool"):
                check(name)
    with pytest.raises(AssertionError, match=r"has no kind of contract named .* install its package"):
        require_kind("glide_kind")


def test_a_missing_reader_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(kind: str) -> str:
        return f"swapcli.families.{kind}_reader"

    monkeypatch.setattr("swapcli.families.reading.pool_readers.reader_name", missing)
    monkeypatch.setattr("swapcli.testing.contract_pool.reader_name", missing)
    with pytest.raises(AssertionError, match=r"write it in glider_reader.py beside the class, in the package swapcli"):
        require_reader("glider")
