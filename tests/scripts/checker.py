"""The checker of proofs as a module: it is a program beside the packages, so that it is loaded by its path."""

from __future__ import annotations

import sys
from decimal import localcontext
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from swapcli.quoting import proof_checker

Record = dict[str, Any]
MAX_LINES = 500


def checker_path() -> Path:
    path = proof_checker.find_checker()
    assert path is not None
    return path


@cache
def checker() -> ModuleType:
    """The module. It sets the precision of decimals, which other tests do not see."""
    with localcontext():
        spec = spec_from_file_location("check_proof", checker_path())
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules["check_proof"] = module
        spec.loader.exec_module(module)
    return module


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
