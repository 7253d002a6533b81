"""The conformance kit for pool families, both built-in families and families from other packages.

`family_tests` has the base class for a family's tests; `contract_pool` and `evm` compare the family with bytecode, and
`recorded_swaps` with a contract's recorded outputs. `strategies` has parts of random pools, and `new_family` writes a
new package. All modules except the last need the extra `testing`. Nothing else in this program imports the kit.
"""

import sys

import swapcli.quoting  # noqa: F401  # from here on, families of installed packages are found

PUBLIC = ()

if "pytest" in sys.modules:
    import pytest

    # A failing law then shows the compared values.
    pytest.register_assert_rewrite(
        *(f"{__name__}.{name}" for name in ("contract_pool", "family_tests", "pool_laws", "recorded_swaps")),
        *(f"{__name__}.{name}" for name in ("row_checks", "swap_guarantee", "wrong_states")),
    )
