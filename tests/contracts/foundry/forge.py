"""Runs `forge` on the tests of this folder: `python -m tests.contracts.foundry.forge [ARGUMENTS of forge test]`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.contracts.evm import HERE, NODE_MODULES, MissingPackagesError

FOLDER = Path(__file__).parent
COMPILER = HERE / "solc.cjs"
CACHE = NODE_MODULES / ".cache" / "forge"


def forge_binary() -> Path:
    """Return the native binary: the wrapper that npm installs loses exit codes. Raises `MissingPackagesError`."""
    found = sorted(FOLDER.glob("node_modules/@foundry-rs/forge-*/bin/forge"))
    if not found:
        raise MissingPackagesError(FOLDER / "node_modules" / "@foundry-rs")
    return found[0]


def run_forge(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `forge test` with arguments; what it prints on both streams is in `stdout`."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("FOUNDRY_")}
    own |= {
        "FOUNDRY_SOLC": str(COMPILER),
        "FOUNDRY_TEST_FAILURES_FILE": str(CACHE / "failures"),
        "FOUNDRY_INVARIANT_FAILURE_PERSIST_DIR": str(CACHE / "invariant"),
        "NO_COLOR": "1",
    }
    command = [str(forge_binary()), "test", "--out", str(CACHE / "out"), "--cache-path", str(CACHE / "cache")]
    return subprocess.run(
        [*command, *arguments],
        cwd=FOLDER,
        env=own | dict(env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def main(arguments: Sequence[str]) -> int:
    """Run all tests, print what forge prints, and return its exit status."""
    ran = run_forge(*arguments)
    print(ran.stdout, end="")
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
