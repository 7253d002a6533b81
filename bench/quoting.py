"""Run the real command over the orders of a case."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from bench.cases import Case
from bench.running import clean_environment, run

_NO_ROUTE = 3


def console_script() -> Path:
    """Return the command that is installed beside this Python."""
    return Path(sys.executable).parent / "swapcli"


def quote_batch(
    case: Case, kind: str, *, certify: bool = False, all_families: bool = False, shares: str = "whole"
) -> Path:
    """Run `swapcli route --batch` over the case and return its output file. Raises `BenchmarkFailed`."""
    command: list[str | Path] = [console_script(), "route", case.network, "--market", case.market]
    command += ["--batch", case.orders, "--json", "--gas-price", "0", "--shares", shares]
    if case.excluded and not all_families:
        command += ["--exclude-protocols", ",".join(case.excluded)]
    if certify:
        command.append("--certify")
    out = case.results(kind)
    out.write_text(run(command, env=clean_environment(case.folder), accepted=(0, _NO_ROUTE)))
    return out


def amount_out(result: dict[str, Any]) -> int | None:
    """Return the output of a result in base units; None without a route."""
    return int(result["outputAmount"]) if result["success"] else None


def proven_bound(result: dict[str, Any]) -> float | None:
    """Return the bound of the result's certificate in base units; None without a route."""
    return float(result["certificate"]["bound"]) if result["success"] else None
