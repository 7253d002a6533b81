"""What is installed: the content of the packages, and each way of the README to install them, in fresh environments."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.test_pure_core import program_of

ROOT = Path(__file__).parents[1]
_SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = _SETTINGS["project"]
SHARED_DATA: Mapping[str, str] = _SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
"""Files for other programs, with their places below the prefix of the environment."""
INSTALL_LINES = re.findall(r"^(?:pip|pipx|uvx) .+$", (ROOT / "README.md").read_text(), re.MULTILINE)
"""The lines of the README that install the checkout: its first one, which begins with that of pip, and one per tool."""
USE = """
import urllib.request, json, subprocess, sys
service = subprocess.Popen([*sys.argv[1:], "serve", "--port", "0", "--networks", "base"], stdout=subprocess.PIPE)
url = json.loads(service.stdout.readline())["url"]
for path in ("/", "/docs", "/openapi.json", "/readyz", "/metrics"):
    request = urllib.request.Request(url + path, headers={"Accept": "text/html"})
    assert urllib.request.urlopen(request).status == 200, path
service.terminate()
assert service.wait() == 0
"""


def run(*arguments: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return its stdout. Raises `AssertionError` with its stderr if it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    ran = subprocess.run(
        arguments, capture_output=True, text=True, cwd=cwd, env=clean | dict(env or {}), check=False, timeout=300
    )
    assert ran.returncode == 0, f"{arguments}: {ran.stdout}{ran.stderr}"
    return ran.stdout


def test_the_classifiers_begin_with_the_required_python() -> None:
    named = [each.rpartition(" ")[2] for each in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert f">={named[0]}" == PROJECT["requires-python"]
    assert named == ["3.11", "3.12", "3.13"]


def test_every_way_to_install_is_tested() -> None:
    assert [line.partition(" ")[0] for line in INSTALL_LINES] == ["pip", "pip", "pipx", "uvx"]
    assert INSTALL_LINES[0].startswith(f"{INSTALL_LINES[1]} && ")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs of an environment with build, pipx and uv."""
    folder = tmp_path_factory.mktemp("tools")
    run(sys.executable, "-m", "venv", folder, cwd=folder)
    run(folder / "bin" / "pip", "install", "--quiet", "build", "pipx", "uv", cwd=folder)
    return folder / "bin"


@pytest.fixture(scope="module")
def packages(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the source archive."""
    folder = tmp_path_factory.mktemp("packages")
    run(tools / "python", "-m", "build", "--outdir", folder, ROOT, cwd=folder)
    (wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, source


@pytest.mark.slow
def test_the_packages_have_what_is_needed_and_no_more(packages: tuple[Path, Path]) -> None:
    tracked = run("git", "ls-files", "swapcli", cwd=ROOT).split()
    with zipfile.ZipFile(packages[0]) as wheel:
        inside = {name for name in wheel.namelist() if not name.startswith(f"swapcli-{PROJECT['version']}.")}
        others = {name.partition("/")[2] for name in wheel.namelist() if name not in inside}
    included = set(_SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"].values())
    assert included == {"swapcli/check_proof.py"}
    assert inside == {name for name in tracked if not name.endswith(".md")} | included
    assert "swapcli/py.typed" in inside
    assert others >= {"licenses/LICENSE", *(f"data/{target}" for target in SHARED_DATA.values())}
    assert ("data/share/man/man1/swapcli.1" in others) == (ROOT / "man" / "swapcli.1").is_file()
    with tarfile.open(packages[1]) as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert names >= {*tracked, "LICENSE", "README.md", "pyproject.toml", "docs/route.svg", *SHARED_DATA}
    assert {name.partition("/")[0] for name in names}.isdisjoint({"tests", ".ci", ".git", ".venv", "node_modules"})


@pytest.mark.slow
def test_the_wheel_works_without_checkout_or_compiler(packages: tuple[Path, Path], tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    env = {"CC": "/bin/false", "CXX": "/bin/false", "HOME": str(tmp_path)}
    run(programs / "pip", "install", "--quiet", "--only-binary", ":all:", packages[0], cwd=tmp_path, env=env)
    assert "No broken requirements" in run(programs / "pip", "check", cwd=tmp_path)
    swapcli = programs / "swapcli"
    assert run(swapcli, "--version", cwd=tmp_path).split() == ["swapcli", PROJECT["version"]]
    assert (
        run(swapcli, "route", "base", "ETH", "USDC", "1", "--get", "outputAmount", cwd=tmp_path, env=env)
        .strip()
        .isdigit()
    )
    assert "deploy" in run(swapcli, "help", cwd=tmp_path)
    run(programs / "python", "-c", USE, swapcli, cwd=tmp_path, env=env)
    for source, target in SHARED_DATA.items():
        assert (tmp_path / "venv" / target).read_text() == (ROOT / source).read_text()
    where = run(programs / "python", "-c", "import swapcli; print(swapcli.__file__)", cwd=tmp_path)
    assert where.startswith(str(tmp_path))


@pytest.mark.slow
def test_the_core_works_with_the_wheel_and_keccak_alone(packages: tuple[Path, Path], tmp_path: Path) -> None:
    """Like `pip` installs them; `tests/test_pure_core.py` looks closer."""
    run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    programs = tmp_path / "venv" / "bin"
    run(programs / "pip", "install", "--quiet", "--no-deps", packages[0], "pycryptodome", cwd=tmp_path)
    assert "Accepted: " in run(programs / "python", "-I", "-c", program_of("core.md"), cwd=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("line", [INSTALL_LINES[0], *INSTALL_LINES[2:]])
def test_each_line_to_install_works(line: str, tools: Path, tmp_path: Path) -> None:
    run("git", "clone", "--quiet", ROOT, "checkout", cwd=tmp_path)
    if line.startswith("pip "):
        run(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    env = {
        "PATH": f"{tmp_path}/venv/bin:{tools}:/usr/bin:/bin", "HOME": str(tmp_path), "UV_PYTHON": sys.executable,
        "PIPX_HOME": f"{tmp_path}/pipx", "PIPX_BIN_DIR": f"{tmp_path}/venv/bin", "PIPX_MAN_DIR": f"{tmp_path}/man",
        "PIPX_DEFAULT_PYTHON": sys.executable,
    }  # fmt: skip
    script = line if "route" in line else f"{line} && swapcli route base ETH USDC 1.5"
    assert "ETH → USDC on base" in run("bash", "-c", script, cwd=tmp_path / "checkout", env=env)
    assert run("git", "status", "--short", cwd=tmp_path / "checkout") == ""


def test_no_text_installs_the_unpublished_package_by_name() -> None:
    files = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").iterdir()]
    files += [each for each in (ROOT / "swapcli").rglob("*") if each.suffix in (".py", ".txt", ".html", ".js", ".md")]
    for file in files:
        if file.is_file():
            found = re.findall(r"\binstall\b[^\n]*?[ '\"]swapcli\b(?!')", file.read_text(encoding="utf-8"))
            assert not [each for each in found if re.search(r"install +(-\S+ +)*['\"]?swapcli", each)], file
