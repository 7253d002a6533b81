"""A family is named in its folders, in the tables to which `test_new_family` adds a row, and hardly anywhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from swapcli.families import FAMILIES, family
from tests.new_family.test_new_family import PACKAGE, ROWS

DIALECTS: Final = {
    "payload/evm/basic_calls.py",
    "payload/evm/decoding/basic_calls.py",
    "payload/evm/dialects/settler.py",
    "payload/evm/dialects/universal_router.py",
}
"""Tables of routers that execute some families only; a new one is not among them."""
ONLY_WORDS: Final = {
    "core/model/contract_kind.py": {"ekubo", "ekubo_evm", "iziswap", "sampled", "smardex", "vault"},
    "core/model/network.py": {"wrapper"},
    "core/networks/definition.py": {"bridge", "psm", "vault"},
    "faces/cli/render/quote_facts.py": {"sampled"},
    "interface/document_types.py": {"sampled"},
    "quoting/config/network_keys.py": {"constant_product"},
    "quoting/protocol_list.py": {"sampled"},
    "quoting/warnings.py": {"sampled"},
    "families/reading/__init__.py": {"ekubo", "sampled"},
    "families/reading/pool_ref_text.py": {"vault"},
    "state/sync/refresh_pools.py": {"sampled"},
    "state/transfers/transfer_trials.py": {"vault"},
}
"""Strings that are equal to the name of a family and mean something else, such as a role, a folder or a label."""
KNOWN: Final = {
    # Addresses follow from tokens where a factory uses CREATE2: only the oldest families have such factories.
    "core/networks/definition.py": {"concentrated"},
    "core/networks/pool_addresses.py": {"concentrated", "solidly_stable"},
    # Average prices of the past, which Uniswap V3's pools store.
    "payload/verdict/price_references.py": {"concentrated"},
    # Events that hold the state that follows, and the rounding of an exact output.
    "state/mined/swap_verification.py": {"Concentrated", "weighted"},
    # A pair's fee may change without an event.
    "state/sync/refresh_pools.py": {"ConstantProduct", "SolidlyStable"},
    # Samples are of one block, so that a snapshot takes them again.
    "state/snapshot_reader.py": {"Sampled"},
}
"""Code that knows a family, with the reason. The list may only become shorter."""


CLASSES: Final = frozenset(family(name).__name__ for name in FAMILIES)
MENTION: Final = re.compile(rf"\b({'|'.join((*FAMILIES, *CLASSES))})\b")


def names_in(file: Path) -> Iterator[str]:
    """Yield the names of families and of their classes in a file, but for those in imports."""
    text = file.read_text()
    if not MENTION.search(text):
        return  # most files: parsing all of them takes seconds
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in FAMILIES:
            yield node.value
        elif isinstance(node, ast.Name) and node.id in CLASSES:
            yield node.id


def is_of_a_family(file: Path) -> bool:
    """Return whether a file is in a folder of pool maths or of readers."""
    return file.is_relative_to(SHELF) and file.parent not in (SHELF, SHELF / "reading")


SHELF: Final = PACKAGE / "families"


def test_families_are_named_in_the_tables_only() -> None:
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        where = str(file.relative_to(PACKAGE))
        if where not in ROWS and where not in DIALECTS and not is_of_a_family(file):
            found[where] = set(names_in(file)) - ONLY_WORDS.get(where, set())
    assert {where: names for where, names in found.items() if names} == KNOWN
