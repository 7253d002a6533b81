"""The baselines: generated markets, the certified optimum, the exact replay and the peer.

They are programs outside this repository. Their dependencies (numpy and scipy; the peer from npm) are installed once
into the user's cache folder, never into the project's environment.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.optimum.cases import CURVES_OF_THE_PEER, Case, orders_beside
from bench.plan import ROOT
from bench.running import BenchmarkFailed, run

PEER = "@sushiswap/tines@1.0.11"
_PEER_NEEDS = ("viem@1.16.2", "date-fns", "zod")
_NUMERICS = ("numpy>=2,<3", "scipy>=1.14,<2")
_MAKER = Path("bench") / "gen_market.py"
_PEER_BUDGET_S = 120


def find_folder(named: Path | None, root: Path = ROOT) -> Path:
    """Return the folder of the baselines: `named`, else `bench` in a sibling of the repository.

    Raises `BenchmarkFailed` if there is none.
    """
    if named is not None:
        if not (named / _MAKER.name).is_file():
            raise BenchmarkFailed(f"{named} has no {_MAKER.name}, so it is not the folder of the baselines")
        return named.resolve()
    found = sorted(root.parent.glob(f"*/{_MAKER}"))
    if not found:
        raise BenchmarkFailed("no baselines beside the repository; name their folder: make bench BASELINES=DIR")
    return found[0].parent.resolve()


def cache_folder() -> Path:
    """Return the folder of installed tools, which later runs reuse."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "swapcli-bench"


@dataclass(frozen=True, slots=True)
class Baselines:
    """The folder, a Python with numpy and scipy, and the folder of the peer's npm installation."""

    folder: Path
    python: Path
    peer_home: Path

    def real_markets(self) -> list[Path]:
        """Return the market files with orders beside them in the folder of markets next to the baselines."""
        markets = sorted((self.folder.parent / "market").glob("market_*.json"))
        return [market for market in markets if orders_beside(market).is_file()]

    def make(self, case: Case) -> None:
        """Write the market and orders of a generated case."""
        self._run("gen_market.py", "--sizes", case.pools, "--seed", case.seed, "--out", case.folder)

    def bounds(self, case: Case) -> list[dict[str, Any]]:
        """Return for each order `bound` on any routing, `residual` (0 if converged) and `route_out` of a route."""
        out = case.results("bounds")
        self._run("dual_bound.py", case.market, "--out", out)
        rows: list[dict[str, Any]] = json.loads(out.read_bytes())[0]["orders"]
        return rows

    def score(self, case: Case, results: Path, families: tuple[str, ...] = CURVES_OF_THE_PEER) -> dict[str, Any]:
        """Return the output of `score.py` with a row for each order."""
        return self._score(case, results, "--families", ",".join(families))

    def replay(self, case: Case, results: Path) -> dict[str, Any]:
        """Return the output of `score.py` without gaps."""
        return self._score(case, results, "--exact-only")

    def _score(self, case: Case, results: Path, *options: str) -> dict[str, Any]:
        # Status 1 is a result (an order without a route, an amount that is not exact), not a failure.
        printed = self._run("score.py", case.market, case.orders, results, "--json", *options, accepted=(0, 1))
        score: dict[str, Any] = json.loads(printed)
        return score

    def peer(self, case: Case, passes: int) -> dict[str, Any]:
        """Run the peer with 100 flows over all orders, `passes` times; return its route and warm time per order."""
        out = case.results("tines")
        command: list[str | Path] = ["node", self.folder / "run_tines.mjs", "--markets", case.market, "--out", out]
        command += ["--variants", "auto", "--reps", str(passes), "--budget", str(_PEER_BUDGET_S)]
        run(command, env={**os.environ, "TINES_HOME": str(self.peer_home)})
        outcome: dict[str, Any] = json.loads(out.read_bytes())[0]["variants"]["auto"]
        return outcome

    def peer_rows(self, case: Case) -> list[dict[str, Any]]:
        """Return the routes of the last `peer` run, evaluated along the pools' curves: `evaluated` by order."""
        out = case.results("tines_gap")
        self._run("dual_bound.py", "--gap", case.results("tines"), "--dir", case.folder, "--out", out)
        rows: list[dict[str, Any]] = json.loads(out.read_bytes())[0]["rows"]
        return rows

    def versions(self) -> dict[str, str]:
        """Return the versions of the tools that the figures depend on."""
        numerics = run([self.python, "-c", "import numpy, scipy; print(numpy.__version__, scipy.__version__)"]).split()
        return {"Node": run(["node", "--version"]).strip(), "numpy": numerics[0], "scipy": numerics[1], "Tines": PEER}

    def _run(self, program: str, *arguments: object, accepted: tuple[int, ...] = (0,)) -> str:
        # -B: the folder is someone else's, so nothing is written there.
        return run([self.python, "-B", self.folder / program, *map(str, arguments)], accepted=accepted)


def open_baselines(named: Path | None) -> Baselines:
    """Return the baselines after installing their dependencies. Raises `BenchmarkFailed`.

    `BASELINES_PYTHON` and `TINES_HOME` in the environment name installations to use instead.
    """
    folder, cache = find_folder(named), cache_folder()
    python, home = os.environ.get("BASELINES_PYTHON"), os.environ.get("TINES_HOME")
    return Baselines(
        folder,
        Path(python) if python else _install_numerics(cache / "python"),
        Path(home) if home else _install_peer(cache / "tines"),
    )


def _install_numerics(folder: Path) -> Path:
    python, done = folder / "bin" / "python", folder / ".installed"
    if not done.is_file():
        run([sys.executable, "-m", "venv", folder])
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_NUMERICS])
        done.touch()
    return python


def _install_peer(folder: Path) -> Path:
    done = folder / ".installed"
    if not done.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        run(["npm", "install", "--silent", "--prefix", folder, PEER, *_PEER_NEEDS])
        done.touch()
    return folder
