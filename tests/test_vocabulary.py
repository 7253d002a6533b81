"""A public class name means one thing."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]


def relative(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def test_a_public_class_name_means_one_thing() -> None:
    classes: defaultdict[str, list[str]] = defaultdict(list)
    for file in (ROOT / "swapcli").rglob("*.py"):
        for name in re.findall(r"^class ([A-Za-z]\w*)", file.read_text(), re.MULTILINE):
            classes[name].append(relative(file))
    twice = {name: files for name, files in classes.items() if len(files) > 1}
    assert not twice
