"""`docs/exactness.md` is what the recorded swaps give now."""

from __future__ import annotations

import json

import pytest

from swapcli.families import FAMILIES
from swapcli.quoting.recorded_swaps import FILE
from tests.families.recorded import VECTORS
from tests.families.vector_replay import REPLAYS, replay_vectors
from tests.generate.exactness import PAGE, count_recorded_swaps, render_page
from tests.recorded.outside_facts import all_factories, seen_pools


@pytest.mark.slow
def test_the_page_is_current() -> None:
    assert PAGE.read_text() == render_page(), "run: make exactness"


def test_every_file_of_recorded_swaps_is_counted() -> None:
    files = {file.name.partition(".")[0] for file in VECTORS.iterdir()}
    assert files - REPLAYS.keys() == {"curve_virtual_prices"}  # no swaps
    page = PAGE.read_text()
    assert [name for name in REPLAYS if f"tests/families/vectors/{name}" not in page] == []


@pytest.mark.parametrize("name", ["solidly_v1", "liquidity_book", "gyro_v2_eclp"])
def test_the_page_counts_what_a_file_has(name: str) -> None:
    answers = list(replay_vectors(name))
    assert [answer for answer in answers if answer.expected != answer.amount_out] == []
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines() if f"vectors/{name}" in line]
    assert sum(int(row[3].replace(",", "")) for row in rows) == len(answers)


def test_the_page_names_each_family_and_what_no_source_has() -> None:
    lines = PAGE.read_text().splitlines()
    start = lines.index("## Evidence from outside swapcli")
    named = {line.split(" | ")[0].removeprefix("| ") for line in lines[start:] if line.startswith("| ")}
    assert {*FAMILIES} <= named
    (infinity,) = (line for line in lines[start:] if line.startswith("| infinity_bin |"))
    assert infinity.split(" | ")[1:3] == ["2", "7 of 7"]
    seen = {(pool.network, pool.contract) for pool in seen_pools()}
    for network, factory in all_factories():
        named_as_unseen = any(line.startswith(f"* {network}: ") and factory.address[:10] in line for line in lines)
        assert named_as_unseen != ((network, factory.address) in seen), (network, factory.address)


def test_the_counts_of_the_program_are_current() -> None:
    assert json.loads(FILE.read_text()) == count_recorded_swaps(), "run: make exactness"
