"""First syncs: fill an empty store from a node."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.chain.many_pools import NETWORK
from bench.chain.one_sync import Synced
from bench.running import BenchmarkFailed, run


@dataclass(frozen=True, slots=True)
class SyncFigures:
    """The syncs of all pools of some protocols."""

    protocols: tuple[str, ...]
    syncs: tuple[Synced, ...]

    @property
    def pools_per_s(self) -> float:
        """Return the median over the syncs."""
        return median(each.pools / each.seconds for each in self.syncs)

    @property
    def peak_bytes(self) -> int:
        """Return the maximum over the syncs."""
        return max(each.peak_bytes for each in self.syncs)


def measure_first_sync(settings: Path, store: Path, protocols: tuple[str, ...], pools: int, runs: int) -> SyncFigures:
    """Fill a new `store` in a fresh process, `runs` times, and keep the last store. Raises `BenchmarkFailed`, also
    unless each sync finds `pools` pools."""
    syncs = []
    command: list[str | Path] = [sys.executable, "-m", "bench.chain.one_sync", settings, NETWORK, store]
    for _ in range(runs):
        for file in store.parent.glob(f"{store.name}*"):
            file.unlink()
        syncs.append(Synced(*json.loads(run([*command, *protocols]))))
        if syncs[-1].pools != pools:
            raise BenchmarkFailed(f"a sync found {syncs[-1].pools} pools, there are {pools}")
    return SyncFigures(protocols, tuple(syncs))
