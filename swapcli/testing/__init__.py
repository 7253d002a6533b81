"""The conformance kit for pool families, both built-in ones and those of other packages.

`family_tests` has the class from which a family's tests derive; `contract_pool` and `evm` compare it with bytecode, and
`recorded_swaps` with what a contract has paid. `strategies` has parts of random pools, and `new_family` writes a new
package. All but the last need the extra `testing`. Nothing else in this program imports the kit.
"""

import sys

import swapcli.quoting  # noqa: F401  # from here on, families of installed packages are found

PUBLIC = ()

if "pytest" in sys.modules:
    import pytest

    # A law that fails then shows the values it compared.
    pytest.register_assert_rewrite(
        *(f"{__name__}.{name}" for name in ("contract_pool", "family_tests", "pool_laws", "recorded_swaps")),
        *(f"{__name__}.{name}" for name in ("row_checks", "swap_guarantee", "wrong_states")),
    )
