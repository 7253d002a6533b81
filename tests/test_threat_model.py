"""The threat model: each claim names the tests that guard it, and these exist and are run."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "threat-model.md").read_text()
CLAIMS = TEXT.partition("## Claims")[2].partition("\n## ")[0]
ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
REFERENCE = re.compile(r"`([\w/.]+\.py)::(\w+)`")


def claims() -> dict[str, list[tuple[str, str]]]:
    """Return the file and the name of each test, by the claim that it guards."""
    rows = (row for row in ROW.findall(CLAIMS) if row[0] not in ("claim", "---"))
    return {claim: REFERENCE.findall(tests) for claim, tests in rows}


@cache
def functions_in(file: Path) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(file.read_text())
    return {each.name: each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def skips_always(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(
        ast.unparse(each).startswith(("pytest.mark.skip(", "pytest.mark.xfail")) for each in function.decorator_list
    )


def test_every_claim_names_a_test() -> None:
    found = claims()
    assert len(found) > 30
    assert [claim for claim, tests in found.items() if not tests] == []
    # Nothing in the column of tests is written in another way, and so left unread.
    for claim, text in ROW.findall(CLAIMS):
        if claim in found:
            assert REFERENCE.sub("", text).strip(" ,") == "", claim


@pytest.mark.parametrize("claim", claims())
def test_the_tests_of_a_claim_exist(claim: str) -> None:
    for path, name in claims()[claim]:
        function = functions_in(ROOT / path).get(name)
        assert function is not None, f"{path} has no {name}"
        assert name.startswith("test_")
        assert not skips_always(function), f"{path}: {name} never runs"


def test_what_is_not_protected_is_said() -> None:
    headings = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
    assert headings == [
        "Assets",
        "Actors",
        "Where untrusted data comes in",
        "What is trusted",
        "Claims and their tests",
        "What is not protected",
    ]
    assert "docs/threat-model.md" in (ROOT / "SECURITY.md").read_text()
