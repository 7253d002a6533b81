"""Amounts in whole tokens and in base units."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAmount
from swapcli.core.model.order import Order
from swapcli.core.model.token import Token, whole_tokens
from swapcli.quoting.amount_notation import parse_notation
from swapcli.quoting.amounts import parse_amount, parse_raw_amount, read_amount, resolve_amount
from swapcli.quoting.config import Settings
from swapcli.quoting.quote_options import resolve_options
from tests.support.markets import embedded_source

amounts = st.integers(1, 2**256 - 1)
decimals = st.integers(0, 77)


@given(amounts, decimals)
def test_an_amount_survives_being_shown_and_read(amount: int, places: int) -> None:
    shown = whole_tokens(amount, places).replace(",", "")
    assert parse_amount(shown, places, "T") == amount


@given(amounts)
def test_a_raw_amount_is_read_as_it_stands(amount: int) -> None:
    assert parse_raw_amount(str(amount)) == amount
    assert parse_raw_amount("00" + str(amount)) == amount


@pytest.mark.parametrize(
    ("text", "expected"), [("1.5", 1_500_000), (".000001", 1), ("0001", 10**6), ("1.500000", 1_500_000)]
)
def test_whole_tokens_are_read_in_base_units(text: str, expected: int) -> None:
    assert parse_amount(text, 6, "USDC") == expected


ETH, COIN = Token("0x" + "0" * 40, "ETH", "Ether", 18), Token("0x" + "12" * 20, "COIN", "Coin", 6)


@pytest.mark.parametrize(
    ("token", "text", "meant"),
    [
        (ETH, "1500000000000000000", "1.5 ETH"),
        (ETH, "100000000000000000", "0.1 ETH"),
        (ETH, "99999999999999999", None),
        (ETH, "15000000000000000.5", None),
        (COIN, "1500000", None),  # a million and a half is an ordinary order
        (COIN, "100000000000", "100,000 COIN"),
    ],
)
def test_an_amount_that_was_meant_in_base_units_gets_a_note(token: Token, text: str, meant: str | None) -> None:
    source = embedded_source("base")
    order = Order(token, source.token("USDC"), 0)
    options = resolve_options(Settings(), source.network, lambda: None)
    found = resolve_amount(read_amount(text), order, options, source)
    assert found.amount == Fraction(text) * 10**token.decimals
    assert found.note == (f"{text} looks like an amount in base units: with --raw, it is {meant}" if meant else "")
    assert resolve_amount(read_amount(text.partition(".")[0], raw=True), order, options, source).note == ""


INVALID_AMOUNTS = [
    "",
    " ",
    ".",
    "1.",
    "-1",
    "+1",
    "1e18",
    "1_0",
    "1,000",
    "0x10",
    "NaN",
    "inf",
    "1 ",
    "٣",
    "½",
    "1.5.5",
    "\n",
    "1\n",
]


@pytest.mark.parametrize("text", INVALID_AMOUNTS)
def test_invalid_text_is_not_an_amount(text: str) -> None:
    with pytest.raises(InvalidAmount, match=r"is not an amount|without a sign"):
        parse_amount(text, 6, "USDC")
    with pytest.raises(InvalidAmount, match=r"is not an amount|without a sign"):
        parse_raw_amount(text)


@pytest.mark.parametrize("text", ["0", "0.0", "000", "0.000000"])
def test_nothing_is_not_an_amount(text: str) -> None:
    with pytest.raises(InvalidAmount, match="above zero"):
        parse_amount(text, 6, "USDC")


def test_too_many_decimals_name_the_token() -> None:
    with pytest.raises(InvalidAmount, match="has 7 decimals, but USDC has 6"):
        parse_amount("1.0000001", 6, "USDC")


@pytest.mark.parametrize("text", [str(2**256), "9" * 78, "1" * 5_000])
def test_two_to_the_256_and_more_is_out_of_range(text: str) -> None:
    with pytest.raises(InvalidAmount, match=r"2\^256") as caught:
        parse_raw_amount(text)
    assert len(caught.value.message) < 150


def test_the_limit_is_in_base_units() -> None:
    assert parse_raw_amount(str(2**256 - 1)) == 2**256 - 1
    with pytest.raises(InvalidAmount, match=r"2\^256"):
        parse_amount(str(2**256 // 10**18 + 1), 18, "ETH")


@given(st.text(), decimals)
def test_any_text_is_an_amount_in_range_or_refused(text: str, places: int) -> None:
    try:
        amount = parse_amount(text, places, "T")
    except InvalidAmount:
        return
    assert 1 <= amount < 2**256


@pytest.mark.parametrize("text", ["-1", "-0.5", "-2k"])
def test_a_sign_is_named_as_the_mistake(text: str) -> None:
    for parse in (lambda: parse_notation(text), lambda: parse_amount(text, 18, "ETH"), lambda: parse_raw_amount(text)):
        with pytest.raises(InvalidAmount, match=r"^write amounts without a sign$"):
            parse()
