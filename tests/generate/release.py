"""Makes what is published of a release, without a network: `scripts/release`, or `python -m tests.generate.release`.

Builds the wheel and the source archive of the last commit twice, in two folders, and fails unless both are equal to the
byte. Writes them to a folder with a list of all components (CycloneDX) and checksums, and prints what is left to do by
a person.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from swapcli import __version__
from tests.generate.sbom import render

ROOT = Path(__file__).parents[2]
BUILD_TOOLS = ("hatchling", "packaging", "pathspec", "trove-classifiers")
"""What determines the bytes of the packages, beside Python and its zlib."""
CHECKSUMS = "SHA256SUMS"
UNRELEASED = re.compile(r"^## (\S+) \(not yet released\)$", re.MULTILINE)


class NotReproducibleError(Exception):
    """Two builds of one commit differ."""


def export(folder: Path, revision: str = "HEAD", root: Path = ROOT) -> Path:
    """Write the files of a commit to a folder, so that no other file gets into a package, and its manual page."""
    archive = subprocess.run(["git", "archive", revision], cwd=root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    command = [sys.executable, "-B", "-m", "swapcli.faces.cli.man_page", "man/swapcli.1"]
    subprocess.run(command, cwd=folder, check=True)
    return folder


def build(source: Path, target: Path, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Build the wheel and the source archive of a folder, and return their SHA-256 by name.

    Dates inside are the fixed one of the build backend: `SOURCE_DATE_EPOCH` would have to be repeated by everybody who
    wants to compare.
    """
    clean = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    subprocess.run(command, cwd=source, env=clean | dict(env or {}), check=True, capture_output=True)
    return digests([*target.glob("*.whl"), *target.glob("*.tar.gz")])


def digests(files: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of files by name."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}


def release(target: Path, revision: str = "HEAD", root: Path = ROOT) -> list[Path]:
    """Write the files of a release to a folder. Raises `NotReproducibleError`."""
    target.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        hashes = build(export(Path(first), revision, root), target)
        again = build(export(Path(second), revision, root), Path(second) / "dist")
    if hashes != again:
        raise NotReproducibleError(f"two builds differ: {hashes} and {again}")
    seconds = subprocess.run(
        ["git", "log", "-1", "--format=%ct", revision], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    timestamp = datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    tools = {name: version(name) for name in BUILD_TOOLS} | {"python": sys.version.split()[0]}
    components = target / f"swapcli-{__version__}.cdx.json"
    components.write_text(render(hashes, tools, timestamp))
    files = [*(target / name for name in hashes), components]
    sums = target / CHECKSUMS
    sums.write_text("".join(f"{digest}  {name}\n" for name, digest in digests(files).items()))
    return [*files, sums]


def remaining_steps(target: Path, root: Path = ROOT) -> list[str]:
    """Return what a person has to do with the files of a release, in order."""
    steps = []
    if UNRELEASED.search((root / "CHANGELOG.md").read_text()):
        steps.append("Write the date of the release into CHANGELOG.md, commit, and run this again.")
    return [
        *steps,
        "Run `make check-full` on this commit.",
        f"Audit the versions: `pip-audit --strict --requirement <(pip freeze --exclude-editable)`, or read"
        f" {target / f'swapcli-{__version__}.cdx.json'} with a scanner (docs/releasing.md).",
        "Repeat this on another machine with the same versions of the build tools, and compare SHA256SUMS.",
        f"Tag: `git tag --sign v{__version__}`, and push the tag.",
        f"Sign {target / CHECKSUMS} with the key of the project: `gpg --armor --detach-sign {target / CHECKSUMS}`.",
        f"Upload: `twine upload {target}/*.whl {target}/*.tar.gz`; attach all files of {target} to the tag.",
        "Begin the next version: `__version__`, `pyproject.toml`, the Dockerfile, and a heading in CHANGELOG.md.",
    ]


def main(arguments: Sequence[str]) -> int:
    """Make a release of the last commit, and return the exit status."""
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="folder of the files; default: dist")
    options = parser.parse_args(arguments)
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if changed.stdout:
        print(f"scripts/release: commit or remove these first:\n{changed.stdout}", file=sys.stderr, end="")
        return 1
    try:
        files = release(options.output)
    except NotReproducibleError as error:
        print(f"scripts/release: {error}", file=sys.stderr)
        return 1
    print(files[-1].read_text(), end="")
    print("\nTwo builds in different folders gave these bytes. What is left to do:\n")
    for number, step in enumerate(remaining_steps(options.output), 1):
        print(f"{number}. {step}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
