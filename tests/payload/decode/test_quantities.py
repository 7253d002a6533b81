"""Whole numbers are read in the forms that wallets and libraries write, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidInput
from swapcli.payload.decode.quantities import parse_chain_id, parse_quantity


@given(st.integers(0, 2**256 - 1))
def test_every_form_of_a_number_is_read(number: int) -> None:
    forms: list[object] = [number, str(number), hex(number), f"{number}n", f" {number} "]
    forms += [{"type": "BigNumber", "hex": hex(number)}, {"_hex": hex(number)}, {"$bigint": str(number)}]
    forms += [{"__type": "bigint", "value": str(number)}, {"_hex": hex(number), "_isBigNumber": True}]
    assert {parse_quantity(form, "value") for form in forms} == {number}


def test_exponents_and_empty_hex_are_read_exactly() -> None:
    assert parse_quantity("1.5e+21", "value") == parse_quantity("1.5E21", "value") == 15 * 10**20
    assert parse_quantity("0x", "value") == 0
    assert parse_chain_id("eip155:8453", "chainId") == parse_chain_id("0x2105", "chainId") == 8_453


@pytest.mark.parametrize(
    "value", [None, True, -1, 2**256, "1.5", "1e-3", "", "0xzz", "-1", "1e99", 0.5, [], {"hex": "0x1"}, {"_hex": 1}]
)
def test_what_is_no_whole_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^gas: "):
        parse_quantity(value, "gas")
