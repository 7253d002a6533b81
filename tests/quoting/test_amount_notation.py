"""Amounts as people write them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.errors import InvalidAmount
from swapcli.core.model.written_amount import AmountUnit, is_balance_part
from swapcli.quoting.amount_notation import parse_notation, scaled_number
from swapcli.quoting.amounts import parse_amount

POWERS = {"": 0, "k": 3, "K": 3, "m": 6, "M": 6, "b": 9, "B": 9}
wholes = st.integers(0, 10**30)
fractions = st.text(alphabet="0123456789", max_size=20)


def value_of(number: str) -> Fraction:
    units, places = scaled_number(number)
    return Fraction(units, 10**places)


@given(wholes, fractions, st.sampled_from(sorted(POWERS)), st.sampled_from(["", ",", "_"]))
def test_separators_and_suffixes_change_nothing_else(whole: int, fraction: str, suffix: str, separator: str) -> None:
    grouped = f"{whole:,}".replace(",", separator)
    text = f"{grouped}.{fraction}{suffix}" if fraction else grouped + suffix
    with localcontext() as context:
        context.prec = 200
        expected = Fraction(Decimal(f"{whole}.{fraction or 0}").scaleb(POWERS[suffix]))
    for written, unit in ((text, AmountUnit.TOKENS), ("$" + text, AmountUnit.USD), (text + "usd", AmountUnit.USD)):
        found = parse_notation(written)
        assert (found.unit, value_of(found.number)) == (unit, expected)
        assert found.is_plain == (written == f"{whole}.{fraction}" or written == str(whole))


@given(st.text(max_size=12) | st.text(alphabet="0123456789,._kmb$%usdal", max_size=12))
@example("9" * 5_000 + "%")
@example("$")
@example("usd")
@example("%")
def test_any_text_is_a_plain_decimal_or_refused(text: str) -> None:
    try:
        found = parse_notation(text)
    except InvalidAmount:
        return
    assert set(found.number) <= set("0123456789.")
    assert any(character.isdigit() for character in found.number)
    assert is_balance_part(text) == (found.unit is AmountUnit.PERCENT)
    if found.unit is AmountUnit.PERCENT:
        assert 0 < value_of(found.number) <= 100


@given(wholes.filter(bool), fractions.filter(lambda each: len(each) <= 6))
def test_plain_decimals_stay_as_they_are(whole: int, fraction: str) -> None:
    text = f"{whole}.{fraction}" if fraction else str(whole)
    assert parse_notation(text).is_plain
    assert parse_amount(parse_notation(text).number, 6, "T") == parse_amount(text, 6, "T")


REFUSED = [
    "1,5", "1,00", "1,0000", "10,00,000", "1.000,5", "1.000.000", "1_0", "1__000", "_1", "1,", ",1", "1.k", "k", "1kk",
    "1 k", "1e18", "0x10", "-1", "+1", "$", "$-1", "usd", "$1usd", "1$", "0%", "101%", "100.01%", "-5%", "%", "all%",
    "1,000_000", "٣", "½", "NaN", "inf", "", " ", "1\n", "1.5.5",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_anything_unclear_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidAmount) as caught:
        parse_notation(text)
    assert caught.value.hint


@pytest.mark.parametrize(("text", "meant"), [("1,5", "1.5"), ("1.000,5", "1000.5"), ("1.000.000", "1000000")])
def test_a_decimal_comma_is_refused_with_its_meaning(text: str, meant: str) -> None:
    with pytest.raises(InvalidAmount) as caught:
        parse_notation(text)
    assert caught.value.hint == f"commas separate thousands, a point separates decimals: write {meant}"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("5uds", "did you mean 5USD?"),
        ("1gwie", "did you mean gwei? Amounts are in whole tokens; --raw takes base units, such as wei"),
        ("7wei", "Amounts are in whole tokens; --raw takes base units, such as wei"),
    ],
)
def test_a_mistyped_unit_is_told(text: str, hint: str) -> None:
    with pytest.raises(InvalidAmount) as caught:
        parse_notation(text)
    assert caught.value.hint == hint
