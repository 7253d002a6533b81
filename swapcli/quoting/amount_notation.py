"""Parse amounts as users write them: `2.5k`, `1,000.5`, `$1000`, `50%`, `all`. All parsing is exact, without floats."""

from __future__ import annotations

import re

from swapcli.core.encoding.text import SHOWN_INPUT_CHARACTERS, truncate
from swapcli.core.errors import InvalidAmount
from swapcli.core.model.written_amount import AmountUnit, WrittenAmount, is_balance_part

_EXPONENTS = {"": 0, "k": 3, "m": 6, "b": 9}
_NUMBER = r"(?P<whole>[0-9]*|[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:_[0-9]{3})+)(?:\.(?P<fraction>[0-9]+))?"
_SCALED = re.compile(_NUMBER + r"(?P<suffix>[kmb]?)", re.IGNORECASE)
_CONTINENTAL = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})*,[0-9]+|[0-9]{1,3}(?:\.[0-9]{3}){2,}")
_WITH_UNIT = re.compile(r"([0-9][0-9.,_]{0,40})([A-Za-z]{2,10})")
_UNITS, _SMALL_UNITS = ("USD", "k", "m", "b"), ("wei", "gwei")
_FORMS = "amounts look like 1.5, 1,000.5, 2k, $1000, 50% or all; see swapcli help amounts"


def parse_notation(text: str) -> WrittenAmount:
    """Parse an amount as a user writes it. The number is not yet checked against the token's decimals.

    Raises `InvalidAmount` for any other text. For `1,5` and `1.000,5`, the hint gives the likely meaning.
    """
    lowered = text.lower()
    if lowered == "all":
        return WrittenAmount(text, AmountUnit.PERCENT, "100")
    if is_balance_part(text):
        return _in_percent(text)
    if is_in_dollars(text):
        inner = text[1:] if text.startswith("$") else text[:-3]
        return WrittenAmount(text, AmountUnit.USD, _read_number(inner, text))
    number = _read_number(text, text)
    return WrittenAmount(text, AmountUnit.TOKENS, number, is_plain=number == text)


def is_in_dollars(text: str) -> bool:
    """Return whether an amount is written in dollars, such as $1000 or 1000usd."""
    return text.startswith("$") or text.lower().endswith("usd")


def scaled_number(number: str) -> tuple[int, int]:
    """Return a plain decimal as an integer and the number of its decimal places: "2.50" is (250, 2)."""
    whole, _, fraction = number.partition(".")
    return int(whole + fraction or "0"), len(fraction)


def _in_percent(text: str) -> WrittenAmount:
    number = _read_number(text[:-1], text)
    units, places = scaled_number(number) if len(number) <= SHOWN_INPUT_CHARACTERS else (0, 0)
    if not 0 < units <= 100 * 10**places:
        raise InvalidAmount(
            f'"{truncate(text, SHOWN_INPUT_CHARACTERS)}" is not a valid share of a balance',
            hint="write a percentage above 0% and up to 100%, or all",
        )
    return WrittenAmount(text, AmountUnit.PERCENT, number)


def _read_number(written: str, text: str) -> str:
    """Return a number with separators and a suffix as a plain decimal. Raises `InvalidAmount`, which quotes `text`."""
    match = _SCALED.fullmatch(written)
    if written.startswith("-"):
        raise InvalidAmount("write amounts without a sign", hint='for example "1.5"')
    if match is None or not (match["whole"] or match["fraction"]):
        raise InvalidAmount(f'"{truncate(text, SHOWN_INPUT_CHARACTERS)}" is not an amount', hint=_hint(written))
    whole, fraction = re.sub("[,_]", "", match["whole"]), match["fraction"] or ""
    exponent = _EXPONENTS[match["suffix"].lower()]
    if exponent:
        whole, fraction = whole + fraction[:exponent].ljust(exponent, "0"), fraction[exponent:]
    return f"{whole}.{fraction}" if fraction else whole


def _hint(written: str) -> str:
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    with_unit = _WITH_UNIT.fullmatch(written)
    small_units = closest_names(with_unit[2], _SMALL_UNITS) if with_unit else []
    if with_unit and small_units:
        meant = "" if with_unit[2].lower() in _SMALL_UNITS else f"{did_you_mean(small_units)} "
        return f"{meant}Amounts are in whole tokens; --raw takes base units, such as wei"
    closest = did_you_mean(f"{with_unit[1]}{unit}" for unit in closest_names(with_unit[2], _UNITS)) if with_unit else ""
    if closest:
        return closest
    if _CONTINENTAL.fullmatch(written) and len(written) <= SHOWN_INPUT_CHARACTERS:
        meant = written.replace(".", "").replace(",", ".")
        return f"commas separate thousands, a point separates decimals: write {meant}"
    return _FORMS
