"""Python environments of tools that the tests run and that cannot share the one of the tests."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def tool_python(name: str, requirements: Path) -> Path:
    """Return the interpreter of an environment with these requirements; install them first if that has not been done.

    It is inside the environment of the tests, so that both are removed together. Its programs name their interpreter by
    its path, so that it is made where it stays, by one process at a time.
    """
    folder = Path(sys.prefix) / name
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_installed(folder, requirements):
            shutil.rmtree(folder, ignore_errors=True)
            venv.create(folder, with_pip=False, symlinks=True)
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder)]
            subprocess.run([*pip, "install", "--quiet", "--requirement", str(requirements)], check=True)
            shutil.copy(requirements, folder)
    return folder / "bin" / "python"


def _is_installed(folder: Path, requirements: Path) -> bool:
    installed = folder / requirements.name
    return installed.is_file() and installed.read_text() == requirements.read_text()
