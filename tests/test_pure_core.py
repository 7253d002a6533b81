"""The core without any other package: it imports, quotes and proves, and touches nothing outside.

The environment is what `pip install --no-deps` of the wheel makes, with and without pycryptodome, whose compiled Keccak
then a function in Python replaces.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from shutil import copytree
from statistics import median

import Crypto
import pytest

from tests.support import outside_ids

ROOT = Path(__file__).parents[1]
PAGES = {name: (ROOT / "docs" / name).read_text() for name in ("core.md", "pools.md")}
IMPORT = (
    "from swapcli import MarketState, Order, Router, Token, family\n"
    "assert family('constant_product').swap and family('concentrated').swap\n"
)
UNUSED = {
    "socket", "ssl", "select", "subprocess", "datetime", "asyncio", "random", "tempfile", "urllib.request", "sqlite3",
    "logging", "threading", "multiprocessing",
}  # fmt: skip
"""Libraries of networks, clocks, processes and files."""
SLOW_TO_IMPORT = {"typing", "dataclasses", "inspect", "re", "json", "importlib", "warnings", "copy", "decimal"}
MOST_MODULES = 55
"""Modules of the project that the import may load; a module takes about 0.3 ms."""
MAX_BARE_STARTS = 2.7
"""50 ms on a machine where a bare Python takes 18 ms."""
KECCAK_OF = b"\xff" * 500


def program_of(page: str) -> str:
    """Return the blocks of a page as one program."""
    return "\n".join(re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module", params=["pycryptodome", "nothing"])
def python(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel's files, and with one other package or none."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    if request.param == "pycryptodome":
        copytree(Path(Crypto.__file__).parent, packages / "Crypto")
    return folder / "bin" / "python"


def run(python: Path, program: str) -> dict[str, list[str]]:
    """Run a program in an environment. Return what it did outside, and the modules that it loaded."""
    command = [str(python), "-I", "-B", str(ROOT / "tests" / "support" / "audited_core.py")]
    ran = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, list[str]] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_core_touches_nothing_outside(python: Path, page: str) -> None:
    found = run(python, program_of(page))
    assert found["outside"] == []
    assert not UNUSED & {*found["modules"]}
    packages = {name.partition(".")[0] for name in found["modules"]}
    assert packages <= sys.stdlib_module_names | {"swapcli"}


def test_keccak_is_the_same_with_and_without_the_library(python: Path) -> None:
    digest = outside_ids.keccak256(KECCAK_OF).hex()
    program = f"from swapcli.core.encoding.keccak import keccak256\nassert keccak256({KECCAK_OF!r}).hex() == '{digest}'"
    found = run(python, program)
    has_library = bool([*python.parents[1].glob("lib/*/site-packages/Crypto")])
    assert ("Crypto" in found["modules"]) == has_library
    if not has_library:  # which runs the program `file` when it loads
        assert found["outside"] == []


def test_the_import_loads_no_slow_library(python: Path) -> None:
    """`docs/decisions/own-named-tuples.md` says what to use in their place."""
    loaded = set(run(python, IMPORT)["modules"])
    assert not loaded & SLOW_TO_IMPORT
    assert len([name for name in loaded if name.startswith("swapcli")]) <= MOST_MODULES
    every_family = "from swapcli.families import FAMILIES, family\nfor name in FAMILIES:\n    family(name)"
    assert not {"typing", "dataclasses", "inspect", "json"} & set(run(python, every_family)["modules"])


@pytest.mark.slow
def test_the_import_takes_few_bare_starts(python: Path) -> None:
    """Processor time beside a bare Python, in pairs, with compiled files: a busy machine slows down both alike."""
    subprocess.run([python, "-m", "compileall", "-q", python.parents[1]], check=True)
    script = (
        "import os, subprocess, sys\n"
        "def spent_s(program):\n"
        "    _, status, usage = os.wait4(subprocess.Popen([sys.executable, '-I', '-c', program]).pid, 0)\n"
        "    assert status == 0\n"
        "    return usage.ru_utime + usage.ru_stime\n"
        "for _ in range(21):\n"
        "    print(spent_s(sys.argv[1]) / spent_s('pass') - 1)\n"
    )
    ran = subprocess.run([python, "-c", script, IMPORT], capture_output=True, text=True, check=True)
    assert median(map(float, ran.stdout.split())) < MAX_BARE_STARTS


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_programs_of_the_pages_are_typed(page: str, tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(program_of(page))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    checked = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
