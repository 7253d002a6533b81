"""First syncs: an empty store is filled from a node."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.chain.many_pools import NETWORK
from tests.bench.chain.one_sync import Synced
from tests.bench.running import BenchmarkFailed, run


@dataclass(frozen=True, slots=True)
class SyncFigures:
    """All syncs of the pools of these protocols."""

    protocols: tuple[str, ...]
    syncs: tuple[Synced, ...]

    @property
    def pools_per_s(self) -> float:
        """The median."""
        return median(each.pools / each.seconds for each in self.syncs)

    @property
    def peak_bytes(self) -> int:
        """The highest of any."""
        return max(each.peak_bytes for each in self.syncs)


def measure_first_sync(settings: Path, store: Path, protocols: tuple[str, ...], pools: int, runs: int) -> SyncFigures:
    """Fills `store` so often, each time anew and in a fresh process; the last is kept.

    Raises `Failed`, also unless so many pools are found.
    """
    syncs = []
    command: list[str | Path] = [sys.executable, "-m", "tests.bench.chain.one_sync", settings, NETWORK, store]
    for _ in range(runs):
        for file in store.parent.glob(f"{store.name}*"):
            file.unlink()
        syncs.append(Synced(*json.loads(run([*command, *protocols]))))
        if syncs[-1].pools != pools:
            raise BenchmarkFailed(f"a sync found {syncs[-1].pools} pools, there are {pools}")
    return SyncFigures(protocols, tuple(syncs))
