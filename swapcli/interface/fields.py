"""Read the API's JSON field by field; every error is an `InvalidInput` that names the field by its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from swapcli.core.encoding.text import single_line, truncate
from swapcli.core.errors import InvalidAddress, InvalidInput
from swapcli.core.model.network import Kind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.networks.address import check_account, is_native, parse_address
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import (
    MAX_FELT,
    MAX_UINT256,
    MISSING,
    InvalidValue,
    parse_boolean,
    parse_decimal_string,
    parse_hex,
    parse_json_integer,
    parse_list,
    parse_number,
    parse_text,
)

MAX_AMOUNT = MAX_UINT256
MAX_TEXT = 400
"""Characters of a name or a number; more than any float needs when written out."""

_MAX_HEX = 2**21  # a bound against hostile input; chosen
_MAX_SHOWN_CHARACTERS = 300  # characters of a service's text in a message; chosen


class Fields(FieldReader):
    """A JSON object in the API. A null field counts as missing.

    Example: `Fields(body).amount("inputAmount")`.
    """

    __slots__ = ()

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> InvalidInput:
        """Return the `InvalidInput` for the value at `path`."""
        is_missing = invalid.value is MISSING or (invalid.value is None and path)
        return invalid_field(path or "document", "is missing" if is_missing else f"must be {invalid.expected}")

    def required(self, key: str) -> object:
        """Return a value that must not be missing or null."""
        if not self.has(key):
            raise invalid_field(self.path_of(key), "is missing")
        return self.values[key]

    def text(self, key: str) -> str:
        """Read a string of at most 400 characters."""
        return self.read(key, parse_text, MAX_TEXT)

    def text_or(self, key: str, default: str) -> str:
        """Read a string, or return `default` if the field is missing."""
        return self.text(key) if self.has(key) else default

    def address(self, key: str, kind: Kind) -> str:
        """Read an address, in its canonical form. Raises `InvalidAddress`."""
        try:
            return parse_address(self.text(key), kind)
        except InvalidAddress as error:
            error.details["field"] = self.path_of(key)
            raise

    def token_address(self, key: str, kind: Kind) -> str:
        """Read a token's address; every way to write the native token gives the zero address."""
        return ZERO_ADDRESS if is_native(self.text(key), kind) else self.address(key, kind)

    def boolean(self, key: str, default: bool = False) -> bool:
        """Read a boolean, or return `default` if the field is missing."""
        return self.read(key, parse_boolean) if self.has(key) else default

    def hex_bytes(self, key: str) -> bytes:
        """Read bytes in hex. The result is empty if the field is missing."""
        return bytes.fromhex(self.read(key, parse_hex, None, _MAX_HEX)[2:]) if self.has(key) else b""

    def json_integer(self, key: str, minimum: int, maximum: int) -> int:
        """Read a JSON integer; decimal strings are rejected."""
        return self.read(key, parse_json_integer, minimum, maximum)

    def whole_number(self, key: str, minimum: int, maximum: int) -> int:
        """Read a JSON integer that may be written with decimals, such as 18.0, because some clients have only floats as
        numbers."""
        return self.read(key, _parse_whole_number, minimum, maximum)

    def number(self, key: str) -> float:
        """Read a non-negative number, which may also be a decimal string."""
        return self.read(key, _parse_number)

    def amount(self, key: str, minimum: int = 1) -> int:
        """Read an amount in base units: a decimal integer string from `minimum` to 2^256 - 1."""
        return self.decimal_string(key, minimum, MAX_AMOUNT)

    def decimal_string(self, key: str, minimum: int, maximum: int) -> int:
        """Read a decimal integer string; JSON integers are rejected."""
        return self.read(key, parse_decimal_string, minimum, maximum)


def _parse_whole_number(value: object, minimum: int, maximum: int) -> int:
    is_whole = isinstance(value, float) and value.is_integer()
    return parse_json_integer(int(value) if is_whole else value, minimum, maximum)  # type: ignore[call-overload]


def _parse_number(value: object) -> float:
    if isinstance(value, str):
        parse_text(value, MAX_TEXT)
    return parse_number(value, "a number that is not negative", lambda number: number >= 0, allow_text=True)


def require_text(value: object, path: str) -> str:
    """Return `value` if it is a string of at most 400 characters that UTF-8 can encode."""
    return Fields.parse(path, value, parse_text, MAX_TEXT)


def require_decimal_string(value: object, path: str, minimum: int = 0, maximum: int = MAX_AMOUNT) -> int:
    """Return the integer in the decimal string `value`."""
    return Fields.parse(path, value, parse_decimal_string, minimum, maximum)


def require_entries(value: object, path: str, max_entries: int) -> Iterator[tuple[str, object]]:
    """Yield the path and value of each entry of an array of 1 to `max_entries` entries."""
    array = Fields.parse(path, value, parse_list, 1, max_entries)
    return ((f"{path}[{i}]", entry) for i, entry in enumerate(array))


def require_token_holder(name: str, address: str, kind: Kind) -> str:
    """Return an address that can hold tokens. Raises `InvalidAddress` with the field `name`.

    It must not be the native token's address and, on Starknet, not an Ethereum address.
    """
    if is_native(address, kind):
        raise InvalidAddress(
            f"{name} must be an Ethereum address that can hold tokens",
            hint="funds sent to the zero address are lost",
            details={"field": name},
        )
    try:
        check_account(address, kind)
    except InvalidAddress as error:
        problem = f"{name} must be {kind.traits.address_noun} that can hold tokens"
        hint = f"{error.message}: {error.hint}"
        raise InvalidAddress(problem, hint=hint, details={**error.details, "field": name}) from None
    return address


def invalid_field(path: str, problem: str) -> InvalidInput:
    """Return the error that describes one invalid field."""
    return InvalidInput(f"{path} {problem}", details={"field": path, "problem": problem})


def plain(value: object) -> str:
    """Return untrusted text for people: one printable line of at most 300 characters.

    The entries of an array are joined; a value that is neither a text nor an array of texts becomes an empty text.
    """
    if isinstance(value, list):
        return plain("; ".join(entry for entry in value[:_MAX_SHOWN_CHARACTERS] if isinstance(entry, str)))
    if not isinstance(value, str):
        return ""
    return truncate(single_line(value[: 4 * _MAX_SHOWN_CHARACTERS]), _MAX_SHOWN_CHARACTERS - 1)


MAX_FELTS = 20_000  # a bound against hostile input; chosen


def render_felts(felts: Iterable[int]) -> list[str]:
    """Render the arguments of a Starknet call: field elements as decimal strings."""
    return [str(felt) for felt in felts]


def parse_felts(document: object, path: str = "document") -> tuple[int, ...]:
    """Parse the arguments of a Starknet call. Raises `InvalidInput` with the path of the invalid entry."""
    return tuple(
        require_decimal_string(felt, at, 0, MAX_FELT) for at, felt in require_entries(document, path, MAX_FELTS)
    )
