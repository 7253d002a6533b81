"""The rows of every built-in family pass the kit's check, and wrong rows do not."""

from __future__ import annotations

import re

import pytest

from swapcli.families import KIND_NAMES, family_row, kind_row
from swapcli.families.row import FamilyRow, KindRow, first_topic, key_of_emitter
from swapcli.testing.row_checks import check_fields, check_kind, signature_problem
from tests.families.gmx.test_gmx_vault import valid_pool

UNANNOUNCED = KindRow(("glider",), unannounced="deposits")
SWAP = "Swapped(bool,uint256,uint256)"


def test_the_kinds_of_swapcli_pass() -> None:
    for kind in KIND_NAMES:
        check_kind(kind, kind_row(kind))


def test_a_kind_is_followed_by_events_or_says_what_changes_it() -> None:
    check_kind("glider", UNANNOUNCED)
    check_kind("glider", KindRow(("glider",), events={"Sync(uint128,uint128)": key_of_emitter}))
    with pytest.raises(AssertionError, match='kind "glider" has neither `events` nor `unannounced`'):
        check_kind("glider", KindRow(("glider",)))


@pytest.mark.parametrize(
    "row",
    [
        UNANNOUNCED._replace(events={SWAP[:-1]: first_topic}),
        UNANNOUNCED._replace(swaps={SWAP[:-1]: lambda log: pytest.fail(str(log))}),
        UNANNOUNCED._replace(created=(SWAP[:-1],)),
        UNANNOUNCED._replace(harmless=(SWAP[:-1],)),
        UNANNOUNCED._replace(list_functions=(("allPairsLength()", SWAP[:-1]),)),
    ],
)
def test_a_wrong_signature_is_named_with_its_field(row: KindRow) -> None:
    with pytest.raises(AssertionError, match=re.escape(f'of the kind "glider" has the signature "{SWAP[:-1]}"')):
        check_kind("glider", row)


@pytest.mark.parametrize(
    ("signature", "problem"),
    [
        (SWAP, None),
        ("Paused()", None),
        ("Initialize((address,address,uint24),uint160[2][],bytes32)", None),
        ("Swapped", "expected name"),
        ("Swapped(uint256", "expected name"),
        ("(uint256)", "expected name"),
        ("Swapped(uint256 amount)", "only types"),
        ("Swapped(address indexed)", "only types"),
        ("Swapped(bool, bool)", "only types"),
        ("Swapped(uint)", "must have numerical suffix"),
        ("Swapped(uint257)", "out of bounds"),
        ("Swapped(Token)", "unknown type"),
        ("Swapped(Token[2],(bool,Id))", "unknown type"),
    ],
)
def test_signatures_are_those_that_contracts_hash(signature: str, problem: str | None) -> None:
    found = signature_problem(signature)
    assert found is None if problem is None else problem in str(found)


def test_the_row_lists_the_required_fields_and_no_others() -> None:
    pool = valid_pool()
    row = family_row(pool.family)
    check_fields(pool, row)
    with pytest.raises(AssertionError, match="from_state requires fields that FamilyRow does not list: "):
        check_fields(pool, FamilyRow(()))
    with pytest.raises(AssertionError, match=re.escape("FamilyRow lists fields that state() lacks: ['wings']")):
        check_fields(pool, row._replace(fields=(*row.fields, "wings")))
