"""Python environments for tools that the tests run and that cannot share the tests' own environment."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import venv
from pathlib import Path


def tool_python(name: str, requirements: Path) -> Path:
    """Return the interpreter of an environment with these requirements, installing them first if necessary.

    It is inside the tests' environment, so that both are removed together. Its programs refer to their interpreter by
    path, so it is created in its final place, by one process at a time.
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
