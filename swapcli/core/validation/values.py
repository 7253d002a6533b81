"""Parse single JSON-like values. Every parser raises `InvalidValue`, which has no path and no error class."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from math import isfinite

from swapcli.core.annotations import Final, cast
from swapcli.core.encoding.text import SHOWN_VALUE_CHARACTERS, truncate

MAX_UINT256: Final = 2**256 - 1
MAX_FELT: Final = 2**251 + 17 * 2**192
"""The largest element of Starknet's prime field."""
MISSING: Final = object()
"""The value of an absent field, as opposed to null."""

_MAX_DIGITS = 80  # a number of 256 bits has 78
_MAX_SHOWN_BITS = 512  # printing larger integers could exceed Python's limit on digits
_MAX_UNSIGNED_DIGITS = 78
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
"""The number of seconds in each unit of duration."""
UNIT_NAMES: Final = tuple(_UNITS_S)
"""The units of duration."""

_DURATION: Final = r"([0-9]{1,12})(?:\.([0-9]{1,9}))? ?([smhd])"


class InvalidValue(ValueError):
    """An unexpected value. `suffix` is the wrong place inside the value, such as `[3]`.

    `expected` completes the sentence "expected ...", as in `InvalidValue("true or false", 1)`.
    """

    def __init__(self, expected: str, value: object, suffix: str = "") -> None:
        super().__init__(expected)
        self.expected, self.value, self.suffix = expected, value, suffix

    @property
    def problem(self) -> str:
        """Return the complete problem: `missing`, or `expected true or false, not 1`."""
        return "missing" if self.value is MISSING else f"expected {self.expected}, not {describe(self.value)}"


def describe(value: object) -> str:
    """Return `value` as errors show it: as JSON on one line, truncated; objects and lists by their type only."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > _MAX_SHOWN_BITS:
        return f"a {value.bit_length()}-bit number"
    import json  # only errors need it

    text = json.dumps(value, default=repr, ensure_ascii=False)
    return truncate(text if text.isprintable() else json.dumps(value, default=repr), SHOWN_VALUE_CHARACTERS)


def parse_object(value: object) -> Mapping[str, object]:
    """Parse a JSON object."""
    if type(value) is dict or isinstance(value, Mapping):
        return cast(Mapping[str, object], value)
    raise InvalidValue("an object", value)


def parse_list(value: object, min_entries: int = 0, max_entries: int | None = None) -> Sequence[object]:
    """Parse a list (or tuple) whose length is within the bounds. The entries are not checked."""
    if not isinstance(value, list | tuple):
        raise InvalidValue("a list", value)
    if len(value) < min_entries:
        raise InvalidValue("a non-empty list" if min_entries == 1 else f"at least {min_entries} entries", value)
    if max_entries is not None and len(value) > max_entries:
        raise InvalidValue(f"a list of at most {max_entries} entries", value)
    return value


def parse_integer(value: object, minimum: int, maximum: int) -> int:
    """Parse a JSON integer or a decimal string (`-?[0-9]+`) in a range; booleans and floats are rejected."""
    if type(value) is int:
        number = value
    elif type(value) is str and _is_integer_text(value):
        number = int(value)
    else:
        raise InvalidValue(_integer_range(minimum, maximum), value)
    if not minimum <= number <= maximum:
        raise InvalidValue(_integer_range(minimum, maximum), value)
    return number


def parse_json_integer(value: object, minimum: int, maximum: int) -> int:
    """Parse a JSON integer in a range; decimal strings are rejected."""
    if type(value) is not int or not minimum <= value <= maximum:
        raise InvalidValue(_integer_range(minimum, maximum), value)
    return value


def parse_decimal_string(value: object, minimum: int, maximum: int) -> int:
    """Parse an unsigned decimal string in a range; JSON integers are rejected."""
    if type(value) is not str or not _is_unsigned_text(value) or not minimum <= int(value) <= maximum:
        expected = _integer_range(minimum, maximum).replace("an integer", "a decimal integer string")
        raise InvalidValue(expected, value)
    return int(value)


def parse_integers(values: Sequence[object]) -> tuple[int, ...]:
    """Parse JSON integers and decimal strings of any sign. The error's `suffix` is the index of the invalid one."""
    types = set(map(type, values))
    if types == {int}:
        return tuple(cast(Sequence[int], values))
    if types == {str}:
        texts = cast(Sequence[str], values)
        # One check for all of them instead of one for each: lists of ticks are most of a market file.
        if _is_decimal("".join(texts).replace("-", "")) and max(map(len, texts)) <= _MAX_DIGITS:
            with suppress(ValueError):
                return tuple(map(int, texts))
    return tuple(_parse_any_integer(value, index) for index, value in enumerate(values))


def parse_number(value: object, expected: str, is_valid: Callable[[float], bool], *, allow_text: bool = False) -> float:
    """Parse a finite JSON number (with `allow_text` also a decimal string) that `is_valid` accepts."""
    types = (int, float, str) if allow_text else (int, float)
    if isinstance(value, bool) or not isinstance(value, types):
        raise InvalidValue(expected, value)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise InvalidValue(expected, value) from None
    if not (isfinite(number) and is_valid(number)):
        raise InvalidValue(expected, value)
    return number


def parse_duration_s(text: str) -> float | None:
    """Return the seconds in a number with a unit, such as "1.5h"; None for any other text.

    A duration of whole seconds is exact. Text without a unit is not a duration: its caller decides what a plain number
    means.
    """
    import re  # only options need it

    match = re.fullmatch(_DURATION, text, re.IGNORECASE)
    if match is None:
        return None
    unit_s, fraction = _UNITS_S[match[3].lower()], match[2] or ""
    seconds: int
    seconds, rest = divmod(int(match[1] + fraction) * unit_s, 10 ** len(fraction))
    return seconds + rest / 10 ** len(fraction) if rest else seconds


def parse_boolean(value: object) -> bool:
    """Parse a JSON boolean."""
    if not isinstance(value, bool):
        raise InvalidValue("true or false", value)
    return value


def parse_text(value: object, max_characters: int | None = None) -> str:
    """Parse a string without unpaired surrogates, which UTF-8 cannot encode."""
    if not isinstance(value, str):
        raise InvalidValue("a string", value)
    if max_characters is not None and len(value) > max_characters:
        raise InvalidValue(f"a string of at most {max_characters} characters", value)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue("a string without unpaired surrogates", value) from None
    return value


def parse_line(value: object) -> str:
    """Parse a string, possibly empty, without control characters or unpaired surrogates."""
    if not isinstance(value, str):
        raise InvalidValue("a string", value)
    if not value.isprintable() and any(_is_control(character) for character in value):
        raise InvalidValue("a string without control characters", value)
    return value


def parse_printable(value: object) -> str:
    """Parse a non-empty string of printable characters."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise InvalidValue("a non-empty text", value)
    return value


def parse_choice(value: object, choices: Collection[str]) -> str:
    """Parse a string that must be one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise InvalidValue(f"one of {', '.join(choices)}", value)
    return value


def parse_hex(value: object, byte_count: int | None = None, max_characters: int | None = None) -> str:
    """Parse `0x` and pairs of hex digits, of `byte_count` bytes if given; the result is in lower case."""
    digits = "an even number of" if byte_count is None else 2 * byte_count
    if (
        not isinstance(value, str)
        or len(value) % 2
        or (byte_count is not None and len(value) != 2 + 2 * byte_count)
        or (max_characters is not None and len(value) > max_characters)
        or not _is_hex_text(value)
    ):
        raise InvalidValue(f"0x and {digits} hexadecimal digits", value)
    return value.lower()


def parse_number_text(value: object) -> int:
    """Parse the text of a number below 2^256: decimal digits, or hex with 0x."""
    number = MAX_UINT256 + 1
    if isinstance(value, str):
        if _is_unsigned_text(value):
            number = int(value)
        elif _is_hex_text(value) and 2 < len(value) <= 66:
            number = int(value, 16)
    if number > MAX_UINT256:
        raise InvalidValue("a number as text, decimal or hex with 0x", value)
    return number


def _is_decimal(text: str) -> bool:
    return text.isdigit() and text.isascii()


def _is_integer_text(text: str) -> bool:
    digits = text.removeprefix("-")
    return _is_decimal(digits) and len(digits) <= _MAX_DIGITS


def _is_unsigned_text(text: str) -> bool:
    return _is_decimal(text) and len(text) <= _MAX_UNSIGNED_DIGITS


def _is_hex_text(text: str) -> bool:
    return text.startswith("0x") and _HEX_DIGITS.issuperset(text[2:])


def _parse_any_integer(value: object, index: int) -> int:
    if type(value) is int:
        return value
    if type(value) is str and _is_integer_text(value):
        return int(value)
    raise InvalidValue("an integer", value, f"[{index}]")


def _integer_range(minimum: int, maximum: int) -> str:
    power = (maximum + 1).bit_length() - 1
    is_power = maximum >= 2**63 - 1 and maximum + 1 == 1 << power
    return f"an integer from {minimum} to {f'2^{power} - 1' if is_power else maximum}"


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff"
