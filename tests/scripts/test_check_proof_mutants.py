"""Proofs of many orders are accepted, and changed ones rejected, but for those that still prove their bound.

That they do is shown by the curves of the program in floats, which the checker does not share. What a changed proof
says of a family that the checker takes on faith is rejected when the library recomputes it.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.scripts.checker import check
from tests.scripts.proof_by_library import LibraryArgument
from tests.scripts.proof_mutants import KINDS, mutant
from tests.scripts.proof_orders import SMALL, proofs

Record = dict[str, Any]
ORDERS, MUTANTS = 1000, 3200  # some of which find nothing to change
LIGHT = ("monad", "citrea")  # embedded markets of few pools, so that each mutant takes little time
ALWAYS_WRONG = {"state", "omitted pool", "bound"}
"""Changes that no proof survives."""


def reject_mutants(documents: list[tuple[str, Record]], count: int, seed: int) -> Counter[str]:
    """Check so many mutants of the documents; return how many of each kind were rejected, and how many were not."""
    outcomes, names = Counter[str](), list(KINDS)
    for number in range(count):
        kind = names[number % len(names)]
        name, document = documents[(number // len(names) + seed) % len(documents)]
        changed = mutant(document, kind, seed + number)
        if changed is None:
            outcomes[f"{kind}: nothing to change"] += 1
        elif check(changed)[0]:
            outcomes[f"{kind}: rejected"] += 1
        elif LibraryArgument(changed).holds():
            assert kind not in ALWAYS_WRONG, (name, kind, seed + number)
            outcomes[f"{kind}: still a proof"] += 1
        else:
            assert check(changed, with_library=True)[0], (name, kind, seed + number)
            outcomes[f"{kind}: rejected with the library"] += 1
    return outcomes


def test_a_sample_of_proofs_is_accepted_and_their_mutants_are_rejected(tmp_path: Path) -> None:
    documents = list(proofs(4, 1, tmp_path))
    for name, document in documents:
        assert check(document) == (0, []), name
        assert check(document, with_library=True) == (0, []), name
    outcomes = reject_mutants(documents, 24, 1)
    assert sum(number for outcome, number in outcomes.items() if "rejected" in outcome) > 12


@pytest.mark.slow
def test_the_proofs_of_a_thousand_orders_are_accepted(tmp_path: Path) -> None:
    refused = [name for name, document in proofs(ORDERS, 2, tmp_path) if check(document)[0]]
    assert refused == []


@pytest.mark.slow
def test_three_thousand_mutants_are_rejected_or_still_prove_their_bound(tmp_path: Path) -> None:
    outcomes = reject_mutants(list(proofs(300, 3, tmp_path, sizes=SMALL, embedded=LIGHT)), MUTANTS, 3)
    print(json.dumps(dict(sorted(outcomes.items())), indent=1))
    rejected = sum(number for outcome, number in outcomes.items() if "rejected" in outcome)
    assert rejected > MUTANTS * 0.6
    for kind in KINDS:
        assert outcomes[f"{kind}: rejected"] > 0, kind
