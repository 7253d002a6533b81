"""The number of examples of a test: a sample in `make test`, all of them in `make check-full`."""

from __future__ import annotations

import os
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


def fuzzed_seeds(sample: int, *, full: int) -> list[ParameterSet]:
    """Return seeds like `seeds`, or `full` new ones in `make fuzz`: for tests that must pass with any seed."""
    first = os.environ.get(FUZZ_SEED)
    if first is None:
        return seeds(sample, full=full)
    return [pytest.param(int(first) + number, marks=[pytest.mark.fuzz]) for number in range(full)]
