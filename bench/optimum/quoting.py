"""Run the real command over the orders of a case."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.optimum.cases import Case
from bench.running import clean_environment, run

_NO_ROUTE = 3
_ORDER_KEYS = {"id": "id", "token_in": "tokenIn", "token_out": "tokenOut", "amount_in": "inputAmount"}
"""The keys of an order beside a market file, with those of the command."""


def console_script() -> Path:
    """Return the command installed next to this Python."""
    return Path(sys.executable).parent / "swapcli"


def quote_batch(
    case: Case, kind: str, *, certify: bool = False, all_families: bool = False, shares: str = "whole"
) -> Path:
    """Run `swapcli route --batch` over the case and return its output file. Raises `BenchmarkFailed`."""
    command: list[str | Path] = [console_script(), "route", case.network, "--market", case.market]
    command += ["--batch", _write_batch(case), "--json", "--gas-price", "0", "--shares", shares]
    if case.excluded and not all_families:
        command += ["--exclude-protocols", ",".join(case.excluded)]
    if certify:
        command.append("--certify")
    out = case.results(kind)
    out.write_text(run(command, env=clean_environment(case.folder), accepted=(0, _NO_ROUTE)))
    return out


def _write_batch(case: Case) -> Path:
    """Write the orders in the command's format, without the other fields in their file."""
    orders = (json.loads(line) for line in case.orders.read_text().splitlines() if line.strip())
    batch = case.folder / f"batch_{case.name}.ndjson"
    batch.write_text(
        "".join(json.dumps({ours: order[key] for key, ours in _ORDER_KEYS.items()}) + "\n" for order in orders)
    )
    return batch


def amount_out(result: dict[str, Any]) -> int | None:
    """Return the output of a result in base units; None without a route."""
    return int(result["outputAmount"]) if result["success"] else None


def proven_bound(result: dict[str, Any]) -> float | None:
    """Return the bound of the result's certificate in base units; None without a route."""
    return float(result["certificate"]["bound"]) if result["success"] else None
