"""A pytest plugin for `tests.fuzz`: runs the files of property tests in random order until the time is up.

Tests that would begin later have no result. Workers shuffle alike, since xdist compares their lists, and
tests of one file stay together, since they share services.
"""

from __future__ import annotations

import os
import random
import time

import pytest

UNTIL = "FUZZ_UNTIL_S"
"""Environment variable: the Unix time at which no further test begins."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    files = list(dict.fromkeys(item.path for item in items))
    random.Random(config.getoption("hypothesis_seed")).shuffle(files)
    places = {path: place for place, path in enumerate(files)}
    items.sort(key=lambda item: places[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol() -> bool | None:
    return True if time.time() > float(os.environ[UNTIL]) else None
