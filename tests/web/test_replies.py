"""The page's worker and this Python give equal replies: a small run of `python -m bench.web`."""

from __future__ import annotations

import pytest

from bench.web.__main__ import compare
from bench.web.cases import order_cases, payload_cases, proof_cases

MAX_FIRST, MAX_LATER = 3.0, 10.0
"""The first quote to the start of Pyodide alone, and later quotes to those of this Python."""


@pytest.mark.slow
def test_replies_are_equal_and_times_are_within_their_bars() -> None:
    cases = [*order_cases(25, seed=2), *payload_cases(25, seed=2), *proof_cases(12, seed=2)]
    found = compare(cases, starts=1)
    assert [cases[number] for number in found.differing] == []
    assert found.first_ratio <= MAX_FIRST
    assert found.later_ratio("quote") <= MAX_LATER
