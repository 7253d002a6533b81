"""Describe the machine, without its name or its folders."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bench.plan import ROOT


def machine(versions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return names and values: processor, system, and `versions` of the tools."""
    return [
        ("processor", f"{processor()}, {os.cpu_count()} cores"),
        ("memory", f"{memory_bytes() / 1e9:.0f} GB"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", f"{platform.python_implementation()} {platform.python_version()}"),
        *versions.items(),
    ]


def processor(described: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model of the processor."""
    try:
        lines = described.read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def memory_bytes() -> int:
    """Return the physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def revision(root: Path = ROOT) -> str:
    """Return the measured commit, and whether the program differs from it."""
    commit = _git(root, "rev-parse", "--short=12", "HEAD")
    if commit is None:
        return "unknown"
    return commit + (" with changes" if _git(root, "status", "--porcelain", "--", "swapcli") else "")


def _git(root: Path, *arguments: str) -> str | None:
    try:
        ran = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return None if ran.returncode else ran.stdout.strip()
