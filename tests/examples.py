"""The number of examples of a test: a sample in `make test`, all of them in `make check-full`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FUZZ_SEED = "FUZZ_SEED"
"""Environment variable: the seed of a round of `make fuzz`."""

IS_FULL = settings.get_current_profile_name() == "full"


def examples(sample: int, *, full: int) -> int:
    """Return `full` under the profile of that name, else `sample`."""
    return full if IS_FULL else sample


def seeds(sample: int, *, full: int) -> list[ParameterSet]:
    """Return the seeds 0 to `full - 1` as parameters. Those after the first `sample` are marked slow."""
    return [pytest.param(seed, marks=[pytest.mark.slow] if seed >= sample else []) for seed in range(full)]


def few(values: Iterable[object], sample: int) -> list[ParameterSet]:
    """Return values of one parameter, of which all but `sample` are marked slow: repetitions of one kind.

    Those that are left are spread over the values, as neighbours are most alike; the first is among them.
    """
    return few_rows([(value,) for value in values], sample)


def few_rows(rows: Iterable[tuple[object, ...]], sample: int) -> list[ParameterSet]:
    """Return rows of several parameters like `few`."""
    all_rows = list(rows)
    kept = {number * len(all_rows) // sample for number in range(sample)}
    return [
        pytest.param(*row, marks=[] if number in kept else [pytest.mark.slow]) for number, row in enumerate(all_rows)
    ]


def fuzzed_seeds(sample: int, *, full: int) -> list[ParameterSet]:
    """Return seeds like `seeds`, or `full` new ones in `make fuzz`: for tests that must pass with any seed."""
    first = os.environ.get(FUZZ_SEED)
    if first is None:
        return seeds(sample, full=full)
    return [pytest.param(int(first) + number, marks=[pytest.mark.fuzz]) for number in range(full)]
