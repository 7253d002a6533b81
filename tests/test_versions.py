"""The changelog by versions, and what `docs/versions.md` promises of them."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path

from swapcli import __version__

ROOT = Path(__file__).parents[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
VERSIONS = (ROOT / "docs" / "versions.md").read_text()
HEADING = re.compile(r"^## (\d+\.\d+\.\d+) \((not yet released|\d{4}-\d\d-\d\d)\)$", re.MULTILINE)
SECTIONS = ("Added", "Changed", "Fixed", "Security", "Deprecated", "Removed")
FACES = ("command line", "JSON", "library", "plugins", "service", "files")


def test_every_version_has_a_heading_in_order() -> None:
    headings = HEADING.findall(CHANGELOG)
    assert len(headings) == len(re.findall(r"^## ", CHANGELOG, re.MULTILINE))
    versions = [tuple(int(part) for part in version.split(".")) for version, _ in headings]
    assert versions == sorted(set(versions), reverse=True)
    released = [date.fromisoformat(day) for _, day in headings if day != "not yet released"]
    assert released == sorted(released, reverse=True)
    assert "not yet released" not in [day for _, day in headings[1:]]


def test_the_newest_version_is_that_of_the_program() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert HEADING.findall(CHANGELOG)[0][0] == __version__ == project["version"]


def test_a_version_has_known_sections_with_entries() -> None:
    for text in re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]:
        names = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert names == [each for each in SECTIONS if each in names]
        for section in re.split(r"^### .+\n", text, flags=re.MULTILINE)[1:]:
            assert all(line.startswith(("* ", "  ")) for line in section.splitlines() if line)
            assert section.lstrip("\n").startswith("* ")


def test_each_face_says_what_is_stable() -> None:
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", VERSIONS, re.MULTILINE)
    names = [re.sub(r" \(.*\)", "", name) for name, _, _ in rows if name not in ("interface", "---")]
    assert names == [*FACES]
    for path in re.findall(r"`((?:swapcli|tests)/[\w/.]+)`", VERSIONS):
        assert (ROOT / path).is_file()
