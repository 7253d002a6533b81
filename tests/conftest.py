"""For all tests: how deep Python recurses, and hypothesis profiles.

`fixed` draws the same examples on every machine and every run, so that a red build means a change. `full` does so too,
and draws more, with the full counts of `tests.examples`. `fuzz` draws new examples each time. `HYPOTHESIS_PROFILE`
chooses one.
"""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import HealthCheck, core, settings
from hypothesis.internal.conjecture import providers
from hypothesis.vendor import pretty

# Two shared cores: a deadline would test the machine. Sharing one market between examples is intended.
settings.register_profile(
    "fixed",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("full", settings.get_profile("fixed"), max_examples=100)
settings.register_profile(
    "fuzz",
    settings.get_profile("full"),
    derandomize=False,
    database=settings.get_profile("default").database,
)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fixed")
settings.load_profile(PROFILE)

if settings.default is not None and settings.default.derandomize:
    # Hypothesis also draws constants that it finds in the project's modules, as far as they are imported by then. Which
    # ones are depends on the tests that ran before in the same worker, and on the path of the checkout.
    providers._get_local_constants = lambda: providers._local_constants

_RECURSION_LIMIT = sys.getrecursionlimit()
_PRINTER = pretty.RepresentationPrinter


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Libraries that sign for tests let Python recurse a hundred times deeper, down to where the stack ends. And
    schemathesis, once imported, leaves the values out of every example that hypothesis prints, to be quick itself."""
    sys.setrecursionlimit(_RECURSION_LIMIT)
    if type(item) is pytest.Function:
        core.RepresentationPrinter = _PRINTER  # type: ignore[attr-defined]
