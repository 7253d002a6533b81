"""No test computes its expectation with the function that it tests.

Ids, addresses, hashes and topics that a test expects come from outside: from bytecode, records, published values or the
libraries of `tests/support/outside_ids.py`. So only the tests of those functions import them, to compare them with such
values; a test of anything else would find what the same wrong function made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.support.sources import parsed_with

TESTS = Path(__file__).parent

OWN_FUNCTIONS = {
    "swapcli.core.encoding.keccak": {"keccak256", "keccak256_python"},
    "swapcli.core.networks.pool_addresses": {
        "clober_book_id",
        "create2_address",
        "ekubo_evm_pool_id",
        "ekubo_pool_id",
        "hash_ekubo_key",
        "infinity_pool_id",
        "pool_address",
        "solidly_pair_address",
        "v2_pair_address",
        "v3_pool_address",
        "v4_pool_id",
    },
    "swapcli.payload.evm.token_powers": {"selector_of"},
    "swapcli.families.reading.contract_kinds": {"topic_of"},
    "swapcli.families.reading.starknet_calls": {"selector"},
}
"""Functions that compute what contracts compute as well."""

MODULES = "|".join(rf"\b{module.rpartition('.')[2]}\b" for module in OWN_FUNCTIONS)

TESTED_IN = {
    "core/encoding/test_keccak.py",
    "core/networks/test_pool_addresses.py",
    "core/networks/test_pool_ids.py",
    "recorded/test_recorded_creations.py",
    "recorded/test_recorded_events.py",
    "state/rpc/test_starknet_node.py",
}
"""Their own tests."""


def _imports(file: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of a file's imports, also of those of a whole module: `contract_kinds.topic_of`."""
    modules: dict[str, str] = {}
    for node in ast.walk(parsed_with(file, MODULES)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield node.module, alias.name
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


def test_only_the_tests_of_ids_and_hashes_use_those_of_swapcli() -> None:
    users = {
        f"{file.relative_to(TESTS)}: {name}"
        for file in TESTS.rglob("*.py")
        if "node_modules" not in file.parts and "generate" not in file.relative_to(TESTS).parts[:1]
        for module, name in _imports(file)
        if name in OWN_FUNCTIONS.get(module, set()) and str(file.relative_to(TESTS)) not in TESTED_IN
    }
    assert users == set(), "import these from tests.support.outside_ids"


def test_the_list_of_functions_is_that_of_the_program() -> None:
    for module, names in OWN_FUNCTIONS.items():
        source = (TESTS.parent / f"{module.replace('.', '/')}.py").read_text()
        defined = {node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
        assert names <= defined
        if module.endswith("pool_addresses"):
            found = {
                name for name in defined if not name.startswith("_") and name.endswith(("_id", "_address", "_key"))
            }
            assert found == names
