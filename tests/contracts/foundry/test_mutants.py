"""Small changes of the router are noticed: by its invariants, or else by its other tests."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
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
    copy_sources,
    find_holes,
    find_mutants,
    score,
    try_mutant,
)

OUTCOMES: dict[str, str] = json.loads(RESULTS.read_text())
MIN_SCORE = 0.95
SAMPLE = 12
MIN_HOLES = 20


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


def test_every_hole_is_found() -> None:
    """Holes made by hand; after a change of the router, `make mutants ARGS=--holes`."""
    holes = find_holes()
    assert len({hole.name for hole in holes}) == len(holes) >= MIN_HOLES
    assert {hole.name for hole in holes if hole.found_by not in (INVARIANT, ROUTER_TESTS)} == set()
    assert all(hole.harm.endswith(".") for hole in holes)


def test_every_hole_is_a_change_of_this_source(tmp_path: Path) -> None:
    for hole in find_holes():
        copy_sources(tmp_path)
        hole.apply(tmp_path)
        for file, _, after in hole.changes:
            assert after in (tmp_path / file).read_text()


@pytest.mark.slow
def test_a_sample_of_mutants_dies_again() -> None:
    killed = [mutant for mutant in find_mutants() if OUTCOMES.get(mutant.name) == INVARIANT]
    for mutant in Random("mutants").sample(killed, SAMPLE):
        assert try_mutant(mutant, invariants_only=True) == INVARIANT, mutant.name
    found = [hole for hole in find_holes() if hole.found_by == INVARIANT]
    for hole in Random("holes").sample(found, SAMPLE // 4):
        assert try_mutant(hole, invariants_only=True) == INVARIANT, hole.name
