"""The number of examples of a test.

`make test` runs a sample of them, and `make check-full` a fixed part that fits into its time. A round of `make fuzz`
runs the whole length of a series, with new examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

FUZZ_SEED = "FUZZ_SEED"
"""Environment variable: the seed of a round of `make fuzz`."""

IS_FULL = settings.get_current_profile_name() == "full"


def examples(sample: int, *, full: int, fuzz: int | None = None) -> int:
    """Return `full` under the profile of that name, `fuzz` if it is given in a round of `make fuzz`, else `sample`.

    A test with `fuzz` draws its examples with `generator`, and has the mark of that name unless it is a property.
    """
    if fuzz is not None and FUZZ_SEED in os.environ:
        return fuzz
    return full if IS_FULL else sample


def generator(name: str) -> Random:
    """Return the random numbers of a test: the same in every run, but new ones in each round of `make fuzz`."""
    seed = os.environ.get(FUZZ_SEED)
    return Random(name if seed is None else f"{name} {seed}")


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


def but_slow(values: Iterable[object], *slow: object) -> list[ParameterSet]:
    """Return values of one parameter, of which these are marked slow: each takes as long as all others together."""
    all_values = list(values)
    assert all(each in all_values for each in slow), "a value that is marked slow is not among them"
    return [pytest.param(value, marks=[pytest.mark.slow] if value in slow else []) for value in all_values]


def fuzzed_seeds(sample: int, *, full: int, fuzz: int | None = None) -> list[ParameterSet]:
    """Return seeds like `seeds`, or `fuzz` new ones in `make fuzz`: for tests that must pass with any seed.

    Without `fuzz`, these are as many as `full`.
    """
    first = os.environ.get(FUZZ_SEED)
    if first is None:
        return seeds(sample, full=full)
    count = full if fuzz is None else fuzz
    return [pytest.param(int(first) + number, marks=[pytest.mark.fuzz]) for number in range(count)]
