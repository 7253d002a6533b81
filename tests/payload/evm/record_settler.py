"""Record routes that 0x Settler executes: see `settler_recorder`."""

from __future__ import annotations

import json
import lzma
import sys
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

from tests.chain.anvil import running_anvil
from tests.payload.evm.settler_families import DodoPools, GmxPools, IziSwapPools, SmarDexPools
from tests.payload.evm.settler_order_books import CloberBooks, KuruMarkets
from tests.payload.evm.settler_recorder import EXECUTIONS, FamilyPools, Recorder, World

_ALL: tuple[type[FamilyPools], ...] = (CloberBooks, DodoPools, GmxPools, IziSwapPools, KuruMarkets, SmarDexPools)
FAMILIES = {each.family: each for each in _ALL}
WARM_UP = 20
"""Routes before those that are recorded: a first approval, and a first balance, take more gas."""


def record(folder: Path, family: str, routes: int) -> dict[str, Any]:
    """Return the record of random routes, after some that open approvals and balances."""
    rng = Random(f"settler {family}")
    executions: list[dict[str, Any]] = []
    with running_anvil(hardfork="osaka") as chain:
        world = World(chain, folder)
        pools = FAMILIES[family](world)
        pools.open_all(rng)
        for number in range(3):
            world.open_pair(rng, world.tokens[number], world.tokens[number + 1])
        recorder = Recorder(world, pools)
        while len(executions) < WARM_UP + routes:
            execution = recorder.execute(rng)
            if execution is not None:
                executions.append(execution)
        return recorder.document(executions[WARM_UP:])


def excess_gas(executions: list[dict[str, Any]], family: str) -> float:
    """Return by how much each swap of the family takes more gas than is estimated: a fit of least relative squares."""
    above = below = 0.0
    for each in executions:
        pools = {pool.get("book_id", pool["address"]) for pool in each["pools"] if pool["family"] == family}
        swaps = sum(step[0] in pools for step in each["steps"])
        weight = each["gas"] ** -2
        above += weight * swaps * (each["gas"] - each["estimate"])
        below += weight * swaps**2
    return above / below


def main(folder: str, family: str, routes: str = "60") -> None:
    """Record a family and print what was recorded."""
    document = record(Path(folder), family, int(routes))
    executions = document["executions"]
    errors = sorted(each["estimate"] / each["gas"] - 1 for each in executions)
    print(len(executions), "routes, all as quoted;", Counter(each["swap_type"] for each in executions))
    print("gas estimates", f"{errors[0]:+.1%} to {errors[-1]:+.1%}", f"median {errors[len(errors) // 2]:+.1%}")
    print("gas beyond the estimate by each pool of the family:", round(excess_gas(executions, family)))
    for each in executions:
        del each["estimate"]
    text = json.dumps(document, separators=(",", ":"))
    (EXECUTIONS / f"{family}.json.xz").write_bytes(lzma.compress(text.encode(), preset=9))


if __name__ == "__main__":
    main(*sys.argv[1:])
