"""Runs halmos on the checks of `symbolic`: `python -m tests.contracts.foundry.symbolic_checks`.

It builds a copy of that folder with sources of the router, those of the checkout or others.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.contracts.build import ROUTER
from tests.contracts.foundry.forge import COMPILER, FOLDER, forge_binary
from tests.support.tool_environment import tool_python

CHECKS = FOLDER / "symbolic"
REQUIREMENTS = FOLDER / "requirements.txt"
SOLVER_TIMEOUT = "120s"
_VERDICT = re.compile(r"\[(PASS|FAIL|TIMEOUT|ERROR)\] (check_\w+)")
_COLOR = re.compile(r"\x1b\[\d*m")


def run_checks(sources: Path = ROUTER.folder, match: str = "check_") -> dict[str, str]:
    """Return the verdict of each check by its name. Raises `RuntimeError` if nothing was checked."""
    python = tool_python("halmos", REQUIREMENTS)
    with TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(CHECKS, folder, dirs_exist_ok=True)
        (folder / "router").mkdir()
        for file in sources.glob("*.sol"):
            shutil.copy(file, folder / "router")
        (folder / "bin").mkdir()
        (folder / "bin" / "forge").symlink_to(forge_binary())
        path = os.pathsep.join([str(folder / "bin"), str(python.parent), os.environ["PATH"]])
        command = [str(python.parent / "halmos"), "--root", str(folder), "--solver-timeout-assertion", SOLVER_TIMEOUT]
        ran = subprocess.run(
            [*command, "--early-exit", "--function", match],
            env=os.environ | {"PATH": path, "FOUNDRY_SOLC": str(COMPILER)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=folder,
        )
    found = {check: verdict for verdict, check in _VERDICT.findall(_COLOR.sub("", ran.stdout))}
    if not found:
        raise RuntimeError(ran.stdout)
    return found


if __name__ == "__main__":
    verdicts = run_checks()
    for check, verdict in verdicts.items():
        print(f"{verdict:>8}  {check}")
    sys.exit(set(verdicts.values()) != {"PASS"})
