"""State fields: what an integer is, and what an error names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidPoolState
from swapcli.core.validation.values import MAX_UINT256, InvalidValue, parse_integers, parse_number_text
from swapcli.families.state_fields import StateFields

no_numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.lists(st.integers()),
    st.dictionaries(st.text(), st.integers()),
    st.sampled_from(
        ["", "-", "+1", " 1", "1 ", "1_0", "1.0", "1e3", "0x10", "--1", "1-2", "½", "٣", "9" * 81, "9" * 5_000]
    ),
)


@given(st.integers(0, 2**112 - 1))
def test_a_number_reads_the_same_as_integer_and_as_text(number: int) -> None:
    assert StateFields({"n": number}).uint("n", 112) == number
    assert StateFields({"n": str(number)}).uint("n", 112) == number
    assert StateFields({"n": str(number)}).optional_uint("n") == number


@given(no_numbers)
def test_other_values_are_not_integers(value: object) -> None:
    fields = StateFields({"n": value, "list": [1, value]})
    assert error_of(fields.uint, "n").field == "n"
    assert error_of(fields.integer, "n", 0, 9).field == "n"
    assert error_of(fields.uints, "list", 2).field == "list[1]"
    with pytest.raises(InvalidValue) as caught:
        parse_integers(["1", value])
    assert caught.value.suffix == "[1]"


@given(st.integers(1, 256), st.integers())
def test_a_uint_fits_its_bits(bits: int, number: int) -> None:
    fields = StateFields({"n": number})
    if 0 <= number < 2**bits:
        assert fields.uint("n", bits) == number
    else:
        assert str(number)[:60] in error_of(fields.uint, "n", bits).problem


def test_an_error_describes_a_number_too_long_to_print() -> None:
    assert "-bit number" in error_of(StateFields({"n": 10**6_000}).uint, "n").problem


@given(st.integers(), st.integers(-9, 9))
def test_an_integer_is_within_its_range(number: int, low: int) -> None:
    fields = StateFields({"n": number})
    if low <= number <= 10:
        assert fields.integer("n", low, 10) == number
    else:
        assert f"from {low} to 10" in error_of(fields.integer, "n", low, 10).problem


@given(st.lists(st.integers(), max_size=5))
def test_lists_of_numbers_read_the_same_in_every_form(numbers: list[int]) -> None:
    texts = [str(number) for number in numbers]
    mixed = [text if i % 2 else number for i, (number, text) in enumerate(zip(numbers, texts, strict=True))]
    for values in (numbers, texts, mixed):
        assert parse_integers(values) == tuple(numbers)


def test_an_absent_field_is_reported_as_missing() -> None:
    fields = StateFields({})
    assert error_of(fields.uint, "n").problem == "missing"
    assert error_of(fields.uints, "n", 2).problem == "missing"
    assert fields.optional_uint("n") is None
    assert StateFields({"n": None}).optional_hex("n", 1) is None


def test_a_list_has_the_expected_length() -> None:
    assert StateFields({"n": [1, "2"]}).uints("n", 2) == (1, 2)
    assert error_of(StateFields({"n": [1]}).uints, "n", 2).problem == "expected 2 entries, not 1"
    assert error_of(StateFields({"n": "12"}).uints, "n", 2).field == "n"


def test_a_choice_has_a_default() -> None:
    assert StateFields({}).choice("n", ("a", "b"), default="a") == "a"
    assert StateFields({"n": "b"}).choice("n", ("a", "b"), default="a") == "b"
    for value in ("c", 1, ["a"]):
        assert error_of(StateFields({"n": value}).choice, "n", ("a", "b")).field == "n"


def test_a_boolean_is_a_json_boolean() -> None:
    assert StateFields({"n": True}).boolean("n")
    assert not StateFields({}).boolean("n")
    for value in (0, 1, "true"):
        assert error_of(StateFields({"n": value}).boolean, "n").field == "n"


def test_hex_has_its_length_and_becomes_lower_case() -> None:
    assert StateFields({"n": "0xAB"}).optional_hex("n", 1) == "0xab"
    for value in ("ab", "0xa", "0xabc", "0xag", 5, "0xab\n"):
        assert error_of(StateFields({"n": value}).optional_hex, "n", 1).field == "n"


def test_a_long_value_is_truncated_in_the_error() -> None:
    assert len(error_of(StateFields({"n": "x" * 9_999}).uint, "n").problem) < 140


def error_of(read: Callable[..., object], *arguments: object) -> InvalidPoolState:
    with pytest.raises(InvalidPoolState) as caught:
        read(*arguments)
    return caught.value


@given(st.integers(0, MAX_UINT256))
def test_a_text_is_a_number_in_decimal_or_hex(number: int) -> None:
    assert parse_number_text(str(number)) == parse_number_text(hex(number)) == number


@pytest.mark.parametrize("value", ["", "0x", "-1", "1.0", "ff", 5, None, str(MAX_UINT256 + 1), "0x1" + "0" * 64])
def test_other_values_are_no_text_of_a_number(value: object) -> None:
    with pytest.raises(InvalidValue):
        parse_number_text(value)
