"""The edges of each range, and the round trips of felts, addresses and u256."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.payload.starknet.felts import (
    APPROVE_SELECTOR,
    FIELD_PRIME,
    SWAP_SELECTOR,
    U256_LIMIT,
    address_of_felt,
    check_felt,
    check_range,
    felt_of_address,
    from_felt_text,
    join_u256,
    split_u256,
    to_felt_text,
)
from tests.payload.starknet.strategies import ADDRESS_LIMIT, ADDRESSES, FELTS, U128_LIMIT, U256
from tests.support.outside_ids import keccak256


def test_the_prime_is_the_one_that_starknet_documents() -> None:
    assert FIELD_PRIME == 0x800000000000011000000000000000000000000000000000000000000000001


@pytest.mark.parametrize(("name", "selector"), [("swap", SWAP_SELECTOR), ("approve", APPROVE_SELECTOR)])
def test_a_selector_is_250_bits_of_the_hash_of_its_name(name: str, selector: int) -> None:
    assert selector == int.from_bytes(keccak256(name.encode())) % 2**250


@given(U256)
def test_a_u256_is_the_sum_of_its_halves_and_each_half_fits(number: int) -> None:
    low, high = split_u256("amount", number)
    assert low + high * 2**128 == number
    assert 0 <= low < U128_LIMIT
    assert 0 <= high < U128_LIMIT
    assert join_u256("amount", low, high) == number


@pytest.mark.parametrize(
    ("number", "halves"),
    [
        (0, (0, 0)),
        (1, (1, 0)),
        (2**128 - 1, (2**128 - 1, 0)),
        (2**128, (0, 1)),
        (2**256 - 2**128, (0, 2**128 - 1)),
        (2**256 - 1, (2**128 - 1, 2**128 - 1)),
    ],
)
def test_the_edges_of_a_u256_split_as_cairo_splits_them(number: int, halves: tuple[int, int]) -> None:
    assert split_u256("amount", number) == halves


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (-1, "must be at least 0"),
        (U256_LIMIT, "too large: it must be below 2^256"),
        (True, "must be an integer"),
        (1.0, "must be an integer"),
        ("1", "must be an integer"),
        (None, "must be an integer"),
    ],
)
def test_no_u256_is_made_of_anything_else(number: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match="amount") as caught:
        split_u256("amount", number)
    assert message in caught.value.message
    assert caught.value.details == {"field": "amount"}


@pytest.mark.parametrize(("low", "high"), [(U128_LIMIT, 0), (0, U128_LIMIT), (-1, 0), (0, -1), (FIELD_PRIME, 0)])
def test_halves_that_do_not_fit_are_not_joined(low: int, high: int) -> None:
    with pytest.raises(InvalidInput, match=r"amount\.(low|high)"):
        join_u256("amount", low, high)


@given(FELTS)
def test_a_felt_is_formatted_in_decimal_and_parsed_back(felt: int) -> None:
    text = to_felt_text(felt)
    assert text == f"{felt:d}"
    assert from_felt_text(text) == from_felt_text(hex(felt)) == from_felt_text(f"0X{felt:064X}") == felt


@pytest.mark.parametrize("number", [-1, FIELD_PRIME, FIELD_PRIME + 1, 2**256])
def test_what_is_no_felt_is_neither_accepted_nor_written(number: int) -> None:
    with pytest.raises(InvalidInput):
        check_felt("felt", number)
    with pytest.raises(InvalidInput):
        to_felt_text(number)


NO_FELTS = (
    *("", " 1", "1 ", "+1", "-1", "1.0", "1e3", "1_000", "0x", "x1", "0xg", "٣", "abc", "0x1\n"),
    *(str(FIELD_PRIME), hex(FIELD_PRIME), "0x" + "f" * 64, "9" * 77, "9" * 5_000),
)


@pytest.mark.parametrize("text", NO_FELTS)
def test_what_does_not_write_a_felt_is_not_read(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        from_felt_text(text)
    assert len(caught.value.message) < 200


@given(st.text(max_size=90))
def test_any_text_is_read_as_a_felt_or_refused(text: str) -> None:
    try:
        felt = from_felt_text(text)
    except InvalidInput:
        return
    assert felt == int(text, 0 if text[:2] in ("0x", "0X") else 10)
    assert 0 <= felt < FIELD_PRIME


@given(ADDRESSES)
def test_an_address_and_its_felt_convert_both_ways(address: str) -> None:
    felt = felt_of_address(address)
    assert 0 < felt < ADDRESS_LIMIT
    assert address_of_felt("token", felt) == address
    assert felt_of_address(hex(felt).upper()) == felt


@pytest.mark.parametrize("felt", [0, ADDRESS_LIMIT, ADDRESS_LIMIT + 1, FIELD_PRIME - 1, FIELD_PRIME, -1])
def test_a_felt_outside_the_range_of_addresses_is_none(felt: int) -> None:
    with pytest.raises(InvalidInput, match="token_in"):
        address_of_felt("token_in", felt)


@pytest.mark.parametrize("address", ["0x0", "0x", "", "1", hex(ADDRESS_LIMIT), "0x" + "f" * 64, "0x" + "1" * 65])
def test_an_address_outside_the_range_has_no_felt(address: str) -> None:
    with pytest.raises(InvalidAddress):
        felt_of_address(address)


@given(st.integers(), st.integers(), st.integers())
def test_a_range_has_its_minimum_and_not_its_limit(number: int, minimum: int, limit: int) -> None:
    if minimum <= number < limit:
        assert check_range("field", number, minimum, limit) == number
    else:
        with pytest.raises(InvalidInput, match="field"):
            check_range("field", number, minimum, limit)


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (FIELD_PRIME, "below the prime of Starknet's field"),
        (ADDRESS_LIMIT, "below 2^251"),
        (2**32, "below 2^32"),
        (1_000_001, "at most 1000000"),
        (16, "at most 15"),
        (0, "at most -1"),
    ],
)
def test_the_error_of_a_large_number_names_the_limit(limit: int, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        check_range("field", limit, -9, limit)
    assert caught.value.message == f"field is too large: it must be {message}"
