"""Reading state fields: what is a number, and what an error names."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.errors import InvalidPoolState
from swapcli.pools import state_fields

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
def test_a_number_reads_alike_as_integer_and_as_text(number: int) -> None:
    assert state_fields.read_uint({"n": number}, "n", 112) == number
    assert state_fields.read_uint({"n": str(number)}, "n", 112) == number
    assert state_fields.read_optional_uint({"n": str(number)}, "n") == number


@given(no_numbers)
def test_anything_else_is_no_number(value: object) -> None:
    for read in (state_fields.read_uint, lambda state, name: state_fields.read_int(state, name, 0, 9)):
        assert problem(read, {"n": value}, "n").field == "n"
    assert problem(state_fields.read_uints, {"n": [1, value]}, "n", 2).field == "n[1]"
    with pytest.raises(InvalidPoolState) as caught:
        state_fields.parse_ints("n", ["1", value])
    assert caught.value.field == "n[1]"


@given(st.integers(1, 256), st.integers())
def test_a_uint_fits_its_bits(bits: int, number: int) -> None:
    if 0 <= number < 2**bits:
        assert state_fields.read_uint({"n": number}, "n", bits) == number
    else:
        assert str(number)[:60] in problem(state_fields.read_uint, {"n": number}, "n", bits).problem


def test_a_number_too_long_to_print_still_gives_a_plain_error() -> None:
    assert "bits" in problem(state_fields.read_uint, {"n": 10**6_000}, "n").problem


@given(st.integers(), st.integers(-9, 9))
def test_an_int_keeps_to_its_range(number: int, low: int) -> None:
    if low <= number <= 10:
        assert state_fields.read_int({"n": number}, "n", low, 10) == number
    else:
        assert f"from {low} to 10" in problem(state_fields.read_int, {"n": number}, "n", low, 10).problem


@given(st.lists(st.integers(), max_size=5))
def test_lists_of_numbers_read_alike_whatever_their_form(numbers: list[int]) -> None:
    texts = [str(number) for number in numbers]
    mixed = [text if i % 2 else number for i, (number, text) in enumerate(zip(numbers, texts, strict=True))]
    for values in (numbers, texts, mixed):
        assert state_fields.parse_ints("n", values) == tuple(numbers)


def test_a_missing_field_is_said_to_be_missing() -> None:
    for read in (state_fields.read_uint, state_fields.read_list):
        assert problem(read, {}, "n").problem == "missing"
    assert problem(state_fields.read_uints, {}, "n", 2).problem == "missing"
    assert state_fields.read_optional_uint({}, "n") is None
    assert state_fields.read_optional_hex({"n": None}, "n", 1) is None


def test_a_list_has_the_wanted_length() -> None:
    assert state_fields.read_uints({"n": [1, "2"]}, "n", 2) == (1, 2)
    assert problem(state_fields.read_uints, {"n": [1]}, "n", 2).problem == "expected 2 entries, not 1"
    assert problem(state_fields.read_uints, {"n": "12"}, "n", 2).field == "n"


def test_a_choice_is_the_first_unless_told() -> None:
    assert state_fields.read_choice({}, "n", ("a", "b")) == "a"
    assert state_fields.read_choice({"n": "b"}, "n", ("a", "b")) == "b"
    for value in ("c", 1, ["a"]):
        assert problem(state_fields.read_choice, {"n": value}, "n", ("a", "b")).field == "n"


def test_a_flag_is_a_boolean() -> None:
    assert state_fields.read_flag({"n": True}, "n")
    assert not state_fields.read_flag({}, "n")
    for value in (0, 1, "true"):
        assert problem(state_fields.read_flag, {"n": value}, "n").field == "n"


def test_hex_has_its_length_and_comes_out_in_lower_case() -> None:
    assert state_fields.read_optional_hex({"n": "0xAB"}, "n", 1) == "0xab"
    for value in ("ab", "0xa", "0xabc", "0xag", 5, "0xab\n"):
        assert problem(state_fields.read_optional_hex, {"n": value}, "n", 1).field == "n"


def test_a_long_value_is_cut_in_the_error() -> None:
    assert len(problem(state_fields.read_uint, {"n": "x" * 9_999}, "n").problem) < 140


def problem(read: Callable[..., object], state: Mapping[str, object], *arguments: object) -> InvalidPoolState:
    with pytest.raises(InvalidPoolState) as caught:
        read(state, *arguments)
    return caught.value
