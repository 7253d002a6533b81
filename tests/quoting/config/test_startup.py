"""Every command loads settings, so that they import only what they need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOAD = """
import sys
from swapcli.quoting.config import load_settings
before = set(sys.modules)
from pathlib import Path
load_settings(flags={}, environ={}, config_path=Path(sys.argv[1]) if len(sys.argv) > 1 else None, home=Path("/nowhere"))
print(*sorted(before), "|", *sorted(set(sys.modules) - before))
"""


def modules(*arguments: str) -> tuple[set[str], set[str]]:
    """Return the modules of a fresh interpreter after importing the package, and those that loading adds."""
    done = subprocess.run([sys.executable, "-c", LOAD, *arguments], capture_output=True, text=True, check=True)
    imported, loaded = done.stdout.split("|")
    return set(imported.split()), set(loaded.split())


@pytest.mark.parametrize("heavy", ["yaml", "urllib.parse", "difflib", "swapcli.core.networks"])
def test_importing_the_package_leaves_out(heavy: str) -> None:
    assert heavy not in modules()[0]


def test_without_a_file_no_yaml_is_imported() -> None:
    _, loaded = modules()
    assert not any(name.partition(".")[0] in ("yaml", "difflib") for name in loaded)
    assert not any(name.startswith("swapcli.core.networks") for name in loaded)


def test_with_a_file_the_c_library_reads_it_where_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("max_hops: 3\n")
    _, loaded = modules(str(path))
    assert {"yaml", "swapcli.quoting.config.yaml_parser"} <= loaded
