"""For all tests: how deep Python recurses, and hypothesis profiles.

`default` is for everyday runs, `thorough` for nights (`HYPOTHESIS_PROFILE=thorough`).
"""

from __future__ import annotations

import os
import sys

from hypothesis import HealthCheck, settings

# Two shared cores: a deadline would test the machine. Sharing one market between examples is intended.
# A red build must mean a change, so CI draws the same examples every time; everyday runs keep looking for new ones.
settings.register_profile(
    "default",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("default"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_RECURSION_LIMIT = sys.getrecursionlimit()


def pytest_runtest_setup() -> None:
    """Libraries that sign for tests let Python recurse a hundred times deeper, down to where the stack ends."""
    sys.setrecursionlimit(_RECURSION_LIMIT)
