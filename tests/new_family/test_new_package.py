"""What `make family PACKAGE=...` writes: a package that fails with what is to do, and passes the kit once it is done.

The family that is filled in is the one of `examples/plugin`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from swapcli.testing.evm import read_artifact
from swapcli.testing.new_family import write_package
from tests.contracts.evm import compile_solidity

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
FILLED_IN = (
    "src/swapcli_example_plugin/capped_sum.py",
    "src/swapcli_example_plugin/capped_sum_reader.py",
    "src/swapcli_example_plugin/rows.py",
)


FEW_EXAMPLES = """
from hypothesis import settings

settings.register_profile("few", max_examples=10)
settings.load_profile("few")
"""
SECTION = (EXAMPLE.parents[1] / "docs" / "families.md").read_text().partition("## A family in a package of its own")[2]


def test_the_code_of_the_guide_is_that_of_the_example() -> None:
    code = "\n".join(file.read_text() for file in EXAMPLE.rglob("*") if file.suffix in (".py", ".sol"))
    lines = {line.strip() for line in code.splitlines()}
    blocks = re.findall(r"^```(?:python|solidity)\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 12
    assert [line for block in blocks for line in block.splitlines() if line.strip() not in lines] == []


def run(folder: Path, *arguments: str | Path, site: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in a folder, with the packages that pip has installed into `site`."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        # The plugins of pytest that this environment has would take seconds to import.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **({"PYTHONPATH": str(site)} if site else {})},
        capture_output=True,
        text=True,
        check=False,
    )


def installed(package: Path, site: Path) -> Path:
    """Have pip install a package into a folder, without a network."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", site)
    ran = run(package, "pip", "install", *options, package)
    assert ran.returncode == 0, ran.stderr
    return site


@pytest.mark.slow
def test_a_package_with_a_family_that_is_filled_in_passes_the_kit(tmp_path: Path) -> None:
    package = tmp_path / "swapcli-example-plugin"
    paths = {str(path.relative_to(package)) for path in write_package("capped_sum", package)}
    assert paths > {*FILLED_IN, "tests/test_capped_sum.py", "tests/capped_sum.json"}
    for path in FILLED_IN:
        shutil.copy(EXAMPLE / path, package / path)
    shutil.copytree(EXAMPLE / "tests", package / "tests", dirs_exist_ok=True)
    (package / "tests" / "conftest.py").write_text(FEW_EXAMPLES)
    ran = run(package, "pytest", "-p", "no:cacheprovider", site=installed(package, tmp_path / "site"))
    assert ran.returncode == 0, ran.stdout
    assert "16 passed" in ran.stdout
    (market,) = re.findall(r"^```json\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
    (tmp_path / "market.json").write_text(market)
    words = ("route", "sums", "ONE", "TWO", "1000", "--market", "market.json", "--get", "outputAmount")
    ran = run(tmp_path, "swapcli", *words, site=tmp_path / "site")
    assert ran.stdout.strip() == str(997 * 10**18), ran.stderr


@pytest.mark.slow
def test_the_skeleton_is_clean_and_fails_with_what_is_to_do(tmp_path: Path) -> None:
    name = "constant_sum_with_limits"  # as long as a name can be: its lines must not be too long
    package = tmp_path / f"swapcli-{name}"
    write_package(name, package)
    site = installed(package, tmp_path / "site")
    for command in (("ruff", "check"), ("ruff", "format", "--check"), ("mypy",)):
        ran = run(package, *command, site=site)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    ran = run(package, "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", site=site)
    failed = re.findall(r"^FAILED (\S+)", ran.stdout, re.MULTILINE)
    to_do = re.findall(rf"^/\S+:\d+: \w+: TODO {name}: ", ran.stdout, re.MULTILINE)
    assert failed, ran.stdout
    assert len(failed) == len(to_do), ran.stdout


@pytest.mark.parametrize(
    ("name", "folder", "problem"),
    [
        ("Glider", "swapcli-glider", '"Glider" is not a name'),
        ("class", "swapcli-glider", '"class" is a Python keyword: choose another name'),
        ("gmx_vault", "swapcli-gmx", 'swapcli already has a family or a kind named "gmx_vault": choose another name'),
        (
            "uniswap_v3",
            "swapcli-uniswap",
            'swapcli already has a family or a kind named "uniswap_v3": choose another name',
        ),
        ("glider", "1-glider", '"1-glider" cannot be the name of a package: use a folder such as swapcli-glider'),
        ("glider", "swapcli", '"swapcli" cannot be the name of a package'),
        ("glider", "json", '"json" cannot be the name of a package'),
        ("glider", "my glider", '"my glider" cannot be the name of a package'),
        ("glider", "full", "full is not empty: use a new folder"),
        ("glider", "file", "file is not empty: use a new folder"),
    ],
)
def test_what_cannot_be_written_is_refused(name: str, folder: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    (tmp_path / "file").touch()
    before = {*tmp_path.rglob("*")}
    with pytest.raises(ValueError, match=problem):
        write_package(name, tmp_path / folder)
    assert {*tmp_path.rglob("*")} == before


def test_the_command_ends_in_one_sentence(tmp_path: Path) -> None:
    ran = run(tmp_path, "swapcli.testing.new_family", "gmx_vault", "swapcli-gmx")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith(
        ': error: swapcli already has a family or a kind named "gmx_vault": choose another name\n'
    )
    ran = run(tmp_path, "swapcli.testing.new_family", "glider", "swapcli-glider")
    assert ran.stdout.endswith('until all of it is written: grep -rn "TODO glider" swapcli-glider\n')


def test_a_package_is_written_without_the_libraries_of_the_tests(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from swapcli.testing.new_family import write_package\n"
        "write_package('glider', Path(sys.argv[1]))\n"
        "assert not {'pytest', 'hypothesis', 'pyrevm', 'eth_abi'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script, tmp_path / "swapcli-glider"], check=True)


def test_the_contracts_of_the_example_are_those_of_its_source() -> None:
    folder = EXAMPLE / "tests" / "contracts"
    compiled = compile_solidity("CappedSum.sol", root=folder)
    assert {name: read_artifact(folder / f"{name}.json") for name in compiled} == compiled


def test_what_is_left_to_write_can_be_searched_for(tmp_path: Path) -> None:
    package = tmp_path / "swapcli-glider"
    to_do = [path for path in write_package("glider", package) if "TODO glider" in path.read_text()]
    assert to_do
    assert {path.relative_to(package).parts[0] for path in to_do} == {"src", "tests"}
    assert "grep -rn TODO src tests" in (package / "README.md").read_text()
    assert "grep -rn TODO src tests" in " ".join(SECTION.split())
    ignored = (package / ".gitignore").read_text().splitlines()
    assert {"node_modules/", "package*.json"} <= {*ignored}
