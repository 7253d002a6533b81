"""Time one-shot commands as run from a shell, compared with an interpreter that does nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.optimum.quoting import console_script
from bench.running import Command, clean_environment, run

QUOTE = ("route", "base", "ETH", "USDC", "1", "--json")

_STOPWATCH = Path(__file__).with_name("stopwatch.py")
_LIST_MODULES = """
import json, sys
from swapcli.faces.cli.app import run
status = run(sys.argv[1:])
print(json.dumps(sorted(sys.modules)))
sys.exit(status)
"""
BANNED = (
    "web3", "eth_abi", "eth_utils", "eth_account", "pydantic", "httpx", "starlette", "uvicorn", "numpy", "scipy",
    "rich",
)  # fmt: skip
"""Modules that a quote for programs must not load: each takes longer than the quote."""


@dataclass(frozen=True, slots=True)
class Runs:
    """Wall times in seconds, alternating with the other commands, and the highest peak memory."""

    times_s: tuple[float, ...]
    peak_bytes: int

    def ratio_to(self, other: Runs) -> float:
        """Return the median ratio of the wall times of neighbouring runs."""
        return median(mine / theirs for mine, theirs in zip(self.times_s, other.times_s, strict=True))


@dataclass(frozen=True, slots=True)
class WholeProcess:
    """The runs of the quote, the version and a bare interpreter."""

    bare: Runs
    quote: Runs
    version: Runs
    modules: int
    banned: tuple[str, ...]


def measure_processes(runs: int, home: Path) -> WholeProcess:
    """Run the commands in turn in an environment without settings. Raises `BenchmarkFailed`."""
    script = console_script()
    bare, quote, version = timed([[sys.executable, "-c", "pass"], [script, *QUOTE], [script, "--version"]], runs, home)
    loaded = modules_of_a_quote()
    return WholeProcess(bare, quote, version, len(loaded), banned_among(loaded))


def timed(commands: Sequence[Command], runs: int, home: Path) -> list[Runs]:
    """Run the commands in turn in an environment without settings. Raises `BenchmarkFailed`."""
    words = [str(word) for command in commands for word in ("--", *command)]
    printed = run([sys.executable, "-I", "-S", _STOPWATCH, str(runs), *words], env=clean_environment(home))
    return [_runs(rows) for rows in json.loads(printed)]


def modules_of_a_quote() -> tuple[str, ...]:
    """Return the modules loaded by a fresh interpreter after a quote for programs."""
    return tuple(json.loads(run([sys.executable, "-I", "-c", _LIST_MODULES, *QUOTE]).splitlines()[-1]))


def banned_among(modules: tuple[str, ...]) -> tuple[str, ...]:
    """Return the banned packages among a list of modules."""
    return tuple(sorted({name.partition(".")[0] for name in modules} & set(BANNED)))


def _runs(rows: list[list[float]]) -> Runs:
    return Runs(tuple(seconds for seconds, _ in rows), max(int(kibibytes) for _, kibibytes in rows) * 1024)
