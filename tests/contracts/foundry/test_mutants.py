"""Small changes of the router are noticed: by its invariants, or else by its other tests."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest

from tests.contracts.build import ROUTER
from tests.contracts.foundry.mutants import (
    EQUIVALENT,
    INVARIANT,
    MAX_PER_LINE,
    MUTATED,
    RESULTS,
    ROUTER_TESTS,
    STILLBORN,
    SURVIVED,
    find_mutants,
    score,
    try_mutant,
)

OUTCOMES: dict[str, str] = json.loads(RESULTS.read_text())
MIN_SCORE = 0.95
SAMPLE = 12


def test_every_source_with_code_is_mutated() -> None:
    found = Counter(mutant.file for mutant in find_mutants())
    assert {*found} == {*MUTATED} == {file.name for file in ROUTER.folder.glob("*.sol")} - {"Interfaces.sol"}
    lines = Counter((mutant.file, mutant.line) for mutant in find_mutants())
    assert max(lines.values()) == MAX_PER_LINE
    for mutant in find_mutants():
        assert (ROUTER.folder / mutant.file).read_text().splitlines()[mutant.line] == mutant.before != mutant.after


def test_the_recorded_outcomes_are_of_this_source() -> None:
    """After a change of the router, `make mutants`."""
    names = {mutant.name for mutant in find_mutants()}
    assert OUTCOMES.keys() <= names
    assert {*OUTCOMES.values()} <= {INVARIANT, ROUTER_TESTS, SURVIVED, STILLBORN}


def test_enough_mutants_are_killed() -> None:
    assert score(OUTCOMES) >= MIN_SCORE
    assert {name for name in EQUIVALENT if OUTCOMES.get(name) != SURVIVED} == set()
    assert all(reason.endswith(".") for reason in EQUIVALENT.values())


@pytest.mark.slow
def test_a_sample_of_mutants_dies_again() -> None:
    killed = [mutant for mutant in find_mutants() if OUTCOMES.get(mutant.name) == INVARIANT]
    for mutant in Random("mutants").sample(killed, SAMPLE):
        assert try_mutant(mutant, invariants_only=True) == INVARIANT, mutant.name
