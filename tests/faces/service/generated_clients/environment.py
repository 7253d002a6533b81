"""The generators' Python environment: `python -m tests.faces.service.generated_clients.environment` installs it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

REQUIREMENTS: Final = Path(__file__).with_name("requirements.txt")
FOLDER: Final = Path(sys.prefix) / "generators"
"""Inside the environment of the tests, so that both are removed together."""


def generators_python() -> str:
    """Return the interpreter that has the generators; install them first if that has not been done."""
    if not _is_installed():
        made = Path(mkdtemp(prefix="generators", dir=sys.prefix))
        try:
            venv.create(made, with_pip=False, symlinks=True)
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(made)]
            subprocess.run([*pip, "install", "--quiet", "--requirement", str(REQUIREMENTS)], check=True)
            shutil.copy(REQUIREMENTS, made)
            if not _is_installed():  # several processes may install at the same time
                shutil.rmtree(FOLDER, ignore_errors=True)
                os.rename(made, FOLDER)
        except OSError:
            if not _is_installed():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return str(FOLDER / "bin" / "python")


def _is_installed() -> bool:
    installed = FOLDER / REQUIREMENTS.name
    return installed.is_file() and installed.read_text() == REQUIREMENTS.read_text()


if __name__ == "__main__":
    generators_python()
