"""A public class name means one thing, and names of tests are short."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]

MAX_TEST_NAME = 60
"""Characters of a test's name, with `test_`."""


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def test_test_names_are_short() -> None:
    for file in (ROOT / "tests").glob("**/*.py"):
        if "node_modules" not in file.parts:
            for name in re.findall(r"^ *(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE):
                assert len(name) <= MAX_TEST_NAME, f"{relative(file)}: {name} has {len(name)} characters"


def test_a_public_class_name_means_one_thing() -> None:
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for file in (ROOT / "swapcli").rglob("*.py"):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(relative(file))
    twice = {name: files for name, files in classes.items() if len(files) > 1}
    assert not twice
