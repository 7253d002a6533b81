"""The checker of proofs as a module: it is a program beside the packages, so that it is loaded by its path."""

from __future__ import annotations

from decimal import localcontext
from pathlib import Path
from typing import Any

from swapcli.quoting import proof_checker

Record = dict[str, Any]
MAX_LINES = 500


def checker_path() -> Path:
    path = proof_checker.find_checker()
    assert path is not None
    return path


checker = proof_checker.load_checker


def check(document: Record, *, with_library: bool = False) -> tuple[int, list[str]]:
    """Return the status of a document and the reasons for it: what the program would print for a file of it."""
    module = checker()
    with localcontext(module.Context(prec=60)):
        try:
            found = module.Checker(document, proof_checker if with_library else None)
            found.run()
        except Exception as error:
            return 2, [str(error)]
    return int(bool(found.reasons)), found.reasons


def pool_state(family: str, decimals: list[int], fee_ppm: int, state: Record) -> Record:
    """A pool as the checker holds it while it replays a route."""
    module = checker()
    document = {"tokens": [{"decimals": each} for each in decimals]}
    pool = {"family": family, "fee_ppm": fee_ppm, "tokens": list(range(len(decimals))), **state}
    reader = module.Checker.__new__(module.Checker)
    reader.tokens = document["tokens"]
    read: Record = reader.pool(pool)
    return read


def swap(pool: Record, i: int, j: int, amount: int) -> int:
    """What the checker says that a pool pays; the state of the pool changes."""
    module = checker()
    with localcontext(module.Context(prec=60)):
        paid: int = module.FAMILIES[pool["family"]][0](pool, i, j, amount)
    return paid
