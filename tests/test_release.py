"""What is published of a release: packages that anybody can build again, their components, and checksums."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from swapcli import __version__
from swapcli.faces.cli.man_page import man_page
from tests.generate import release, sbom

ROOT = Path(__file__).parents[1]
FIRST_ENVIRONMENT = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C"}
OTHER_ENVIRONMENT = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
A_DAY_S = 86_400
FIXED_DATE = (2020, 2, 2, 0, 0, 0)
"""The date that hatchling writes for every file of a package."""


def git(*arguments: str, cwd: Path) -> str:
    author = ("-c", "user.name=test", "-c", "user.email=test@localhost")
    return subprocess.run(["git", *author, *arguments], cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose only commit has the present content of all files here that are not ignored."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in git("ls-files", "--cached", "--others", "--exclude-standard", "-z", cwd=ROOT).split("\0")[:-1]:
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git("init", "--quiet", cwd=folder)
    git("add", "--all", cwd=folder)
    git("commit", "--quiet", "--message", "sample", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def sources(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The same files in two folders, with other times and permissions."""
    first = release.export(tmp_path_factory.mktemp("first"), root=checkout)
    mask = os.umask(0o077)
    try:
        second = release.export(tmp_path_factory.mktemp("elsewhere") / "much" / "deeper", root=checkout)
    finally:
        os.umask(mask)
    for position, file in enumerate(sorted(second.rglob("*"))):
        os.utime(file, (A_DAY_S * (position + 1), A_DAY_S * (position + 1)))
        if file.is_file() and not os.access(file, os.X_OK):
            file.chmod(0o600)
    return first, second


@pytest.fixture(scope="module")
def built(sources: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages that were built from the first of them."""
    folder = tmp_path_factory.mktemp("packages")
    release.build(sources[0], folder, FIRST_ENVIRONMENT)
    return folder


@pytest.fixture(scope="module")
def builds(sources: tuple[Path, Path], built: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The packages that were built from each."""
    again = tmp_path_factory.mktemp("again")
    release.build(sources[1], again, OTHER_ENVIRONMENT)
    return built, again


def packages(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.suffix in (".whl", ".gz")}


@pytest.mark.slow
def test_two_builds_are_equal_to_the_byte(builds: tuple[Path, Path]) -> None:
    first, second = (packages(folder) for folder in builds)
    assert [*first] == [f"swapcli-{__version__}-py3-none-any.whl", f"swapcli-{__version__}.tar.gz"]
    assert first == second


def test_the_packages_have_the_manual_page(built: Path) -> None:
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files:
        page = files.read(f"swapcli-{__version__}.data/data/share/man/man1/swapcli.1").decode()
    assert page == man_page()
    with tarfile.open(archive) as source:
        assert f"swapcli-{__version__}/man/swapcli.1" in source.getnames()


def test_no_date_of_a_file_gets_into_the_packages(built: Path) -> None:
    (wheel,), (archive,) = built.glob("*.whl"), built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as files:
        assert {each.date_time for each in files.infolist()} == {FIXED_DATE}
    fixed_s = int(datetime(*FIXED_DATE, tzinfo=UTC).timestamp())
    with tarfile.open(archive) as source:
        assert {(each.mtime, each.uid, each.uname) for each in source} == {(fixed_s, 0, "")}
    assert int.from_bytes(archive.read_bytes()[4:8], "little") == fixed_s


@pytest.mark.slow
def test_a_changed_file_changes_both_packages(sources: tuple[Path, Path], built: Path, tmp_path: Path) -> None:
    changed = sources[1] / "swapcli" / "__init__.py"
    text = changed.read_text()
    changed.write_text(text + "\n")
    try:
        found = release.build(sources[1], tmp_path)
    finally:
        changed.write_text(text)
    assert set(found.items()).isdisjoint(release.digests([*built.iterdir()]).items())


@pytest.mark.slow
def test_the_source_archive_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    release.build(folder, tmp_path / "dist")
    (wheel,) = built.glob("*.whl")
    assert (tmp_path / "dist" / wheel.name).read_bytes() == wheel.read_bytes()


def read_bom(text: str) -> dict[str, Any]:
    return dict(json.loads(text))


def required(component: str, extra: str = "") -> Iterator[str]:
    """Yield the names that a distribution requires here."""
    for text in distribution(component).requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield canonicalize_name(requirement.name)


def test_the_components_are_closed_and_say_what_is_installed() -> None:
    document = read_bom(sbom.render())
    found = {each["name"]: each for each in document["components"]}
    assert {*required("swapcli"), "redis"} <= found.keys()
    for name, each in found.items():
        assert each["version"] == distribution(name).version
        assert {*required(name)} <= found.keys() | {name}
        assert each["purl"] == f"pkg:pypi/{name}@{each['version']}"
    assert found["redis"]["scope"] == "optional"
    assert found["httpx"]["scope"] == "required"
    assert found.keys().isdisjoint({"pytest", "mypy", "ruff", "hatchling"})
    references = {each["ref"]: each["dependsOn"] for each in document["dependencies"]}
    assert references.keys() == {each["bom-ref"] for each in [*found.values(), document["metadata"]["component"]]}
    assert {target for each in references.values() for target in each} <= references.keys()


@pytest.mark.slow
def test_the_components_do_not_depend_on_the_run() -> None:
    command = [sys.executable, "-m", "tests.generate.sbom"]
    texts = {
        subprocess.run(command, cwd=ROOT, env=os.environ | env, capture_output=True, text=True, check=True).stdout
        for env in (FIRST_ENVIRONMENT, OTHER_ENVIRONMENT)
    }
    assert texts == {sbom.render()}


@pytest.mark.slow
def test_a_release_has_packages_components_and_checksums(
    checkout: Path, builds: tuple[Path, Path], tmp_path: Path
) -> None:
    files = release.release(tmp_path / "dist", root=checkout)
    assert packages(tmp_path / "dist") == packages(builds[0])
    components = read_bom(files[-2].read_text())
    references = components["metadata"]["component"]["externalReferences"]
    assert {each["url"]: each["hashes"][0]["content"] for each in references} == release.digests(files[:2])
    assert {"hatchling", "python"} <= {each["name"] for each in components["metadata"]["tools"]["components"]}
    check = ["sha256sum", "--check", "--strict", release.CHECKSUMS]
    assert subprocess.run(check, cwd=tmp_path / "dist", capture_output=True, check=False).returncode == 0
    assert len(files[-1].read_text().splitlines()) == len([*(tmp_path / "dist").iterdir()]) - 1
    files[0].write_bytes(files[0].read_bytes() + b"\0")
    assert subprocess.run(check, cwd=tmp_path / "dist", capture_output=True, check=False).returncode == 1


def test_what_is_left_to_do_begins_with_the_date(tmp_path: Path) -> None:
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} (not yet released)\n")
    with_date = release.remaining_steps(Path("dist"), tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"## {__version__} (2027-01-31)\n")
    assert "CHANGELOG.md" in with_date[0]
    assert release.remaining_steps(Path("dist"), tmp_path) == with_date[1:]
    assert "pip-audit" in "".join(with_date)


@pytest.fixture(scope="module")
def fresh(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel, and nothing else but pip."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    (wheel,) = built.glob("*.whl")
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", wheel], check=True, capture_output=True)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_the_components_are_those_of_a_fresh_environment(fresh: Path, tmp_path: Path) -> None:
    listed = json.loads(
        subprocess.run([fresh, "-m", "pip", "list", "--format=json"], capture_output=True, check=True).stdout
    )
    versions = {str(canonicalize_name(each["name"])): each["version"] for each in listed}
    installed = {name: version for name, version in versions.items() if name not in ("pip", "setuptools")}
    here = {each["name"] for each in read_bom(sbom.render())["components"] if each["scope"] == "required"}
    assert {*here, "swapcli"} == installed.keys()
    # The generator needs `packaging`, which the program does not: it is lent from here, as its only file on the path.
    package = Path(sys.modules["packaging"].__file__ or "").parent
    (tmp_path / "packaging").symlink_to(package)
    command = [fresh, ROOT / "tests" / "generate" / "sbom.py"]
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    there = read_bom(subprocess.run(command, env=env, capture_output=True, text=True, check=True, cwd=tmp_path).stdout)
    described = {each["name"]: each["version"] for each in [*there["components"], there["metadata"]["component"]]}
    assert described == installed


@pytest.mark.slow
def test_the_components_meet_the_schema(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    validator = "cyclonedx-python-lib[json-validation]>=11,<12"
    pip = tmp_path / "venv" / "bin" / "pip"
    subprocess.run([pip, "install", "--quiet", validator], check=True, capture_output=True)
    code = (
        "import sys; from cyclonedx.validation.json import JsonStrictValidator as V; from cyclonedx.schema import"
        " SchemaVersion; sys.exit(str(V(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or ''))"
    )
    python = tmp_path / "venv" / "bin" / "python"
    text = sbom.render({"a.whl": "0" * 64}, {"hatchling": "1"}, "2027-01-31T00:00:00Z")
    ran = subprocess.run([python, "-c", code], input=text, capture_output=True, text=True, check=False)
    assert ran.stderr.strip() == ""
    broken = subprocess.run(
        [python, "-c", code], input=text.replace('"library"', '"novel"'), capture_output=True, text=True, check=False
    )
    assert "novel" in broken.stderr


@pytest.mark.slow
def test_the_script_releases_a_commit_and_refuses_more(checkout: Path, tmp_path: Path) -> None:
    git("clone", "--quiet", "--shared", str(checkout), "copy", cwd=tmp_path)
    copy = tmp_path / "copy"
    (copy / ".venv").symlink_to(Path(sys.prefix))
    (copy / ".git" / "info" / "exclude").write_text(".venv\n")
    ran = subprocess.run(["scripts/release"], cwd=copy, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert f"swapcli-{__version__}.tar.gz" in ran.stdout
    assert "What is left to do" in ran.stdout
    (copy / "swapcli" / "left.py").write_text("")
    refused = subprocess.run(
        ["scripts/release", "--output", "no"], cwd=copy, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1
    assert re.search(r"commit or remove.*left\.py", refused.stderr, re.DOTALL)
    assert not (copy / "no").exists()
