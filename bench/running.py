"""Run the programs of the benchmark."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

Command = Sequence[str | Path]

_DROPPED = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONHOME", "XDG_CONFIG_HOME")


class BenchmarkFailed(Exception):
    """A program or file needed by the benchmark is missing or fails."""


def clean_environment(home: Path) -> dict[str, str]:
    """Return the environment without any swapcli settings: no variables, and no file in `home`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SWAPCLI_") and k not in _DROPPED}
    environment["SWAPCLI_SOLVE_TIME_S"] = "0"  # outputs must not depend on the speed of the machine
    environment["SWAPCLI_LIVE"] = "never"  # nor on public nodes
    return {**environment, "HOME": str(home)}


def run(command: Command, *, env: Mapping[str, str] | None = None, accepted: Sequence[int] = (0,)) -> str:
    """Return the command's output. Raises `BenchmarkFailed` with the end of its stderr if its status is not
    `accepted`."""
    words = [str(word) for word in command]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, env=env, check=False)
    except OSError as error:
        raise BenchmarkFailed(f"cannot run {words[0]}: {error.strerror}") from error
    if ran.returncode not in accepted:
        raise BenchmarkFailed(f"{' '.join(words)} exited with status {ran.returncode}: {ran.stderr[-2000:].strip()}")
    return ran.stdout
