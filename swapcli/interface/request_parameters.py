"""Parameters of a request by name, from a query or a JSON body. Every error contains the name of the parameter.

Error messages are those published for the interface, where it has any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from swapcli.core.encoding.strict_json import WrittenFloat
from swapcli.core.errors import (
    InvalidAddress,
    InvalidAmount,
    InvalidDeadline,
    InvalidInput,
    InvalidOption,
    InvalidSlippage,
)
from swapcli.core.model.network import Kind
from swapcli.core.model.order import ZERO_ADDRESS
from swapcli.core.model.swap_terms import DEFAULT_SLIPPAGE_PPM
from swapcli.core.networks.address import is_native, parse_address
from swapcli.core.records import NamedTuple
from swapcli.interface.fields import MAX_AMOUNT, Fields, require_token_holder
from swapcli.interface.interface_by_network import kind_variant
from swapcli.interface.slippage import SlippageRange, parse_slippage_ppm
from swapcli.interface.timestamps import find_unit

MAX_ENTRIES = 256
MAX_ENTRY_CHARACTERS = 80
MAX_DEADLINE_S = 2**63 - 1

_DIGITS = re.compile(r"[0-9]{1,78}")
_BPS = re.compile(r"[0-9]{1,9}")
_ARRAY_MARK = re.compile(r"\[[0-9]{0,3}\]")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}


class RequestParameters(NamedTuple):
    """The parameters of a query (strings, or lists for repeated names) or of a body (any JSON values)."""

    values: Mapping[str, object]
    kind: Kind
    is_body: bool = False

    @classmethod
    def from_query(cls, query: Sequence[tuple[str, str]], kind: Kind) -> RequestParameters:
        """Collect the parameters of a decoded query. `name[]` and `name[0]` are entries of a list called `name`."""
        values: dict[str, object] = {}
        for raw_name, value in query:
            name = _ARRAY_MARK.sub("", raw_name)
            previous = values.get(name)
            if previous is None and name == raw_name:
                values[name] = value
            elif isinstance(previous, list):
                previous.append(value)
            else:
                values[name] = [value] if previous is None else [previous, value]
        return cls(values, kind)

    @classmethod
    def from_body(cls, document: object, kind: Kind) -> RequestParameters:
        """Return the fields of a JSON object. Raises `InvalidInput` for anything else."""
        return cls(Fields(document).values, kind, is_body=True)

    def has(self, name: str) -> bool:
        """Return whether there is a value other than null."""
        return self.values.get(name) is not None

    def amount(self, name: str) -> int:
        """Return an amount in base units. Raises `InvalidAmount`."""
        if not self.has(name):
            raise InvalidAmount(f"{name} should not be null or undefined", details={"field": name})
        return parse_amount(name, self.values[name])

    def address(self, name: str) -> str:
        """Return a canonical address. Raises `InvalidAddress`."""
        return parse_address_parameter(name, self.values.get(name), self.kind)

    def token(self, name: str) -> str:
        """Return the canonical address of a token; the zero address is the native one. Raises `InvalidAddress`."""
        return parse_token_parameter(name, self.values.get(name), self.kind)

    def recipient(self, name: str) -> str:
        """Return the canonical address of a recipient, not the native token's. Raises `InvalidAddress`."""
        return require_token_holder(name, self.address(name), self.kind)

    def flag(self, name: str) -> bool:
        """Return a boolean (a word in a query, JSON in a body), False if it is missing. Raises `InvalidOption`."""
        value = self.values.get(name)
        flag = value if self.is_body else _FLAGS.get(value.lower()) if isinstance(value, str) else None
        if value is None:
            return False
        if not isinstance(flag, bool):
            raise InvalidOption(f"{name} must be true or false", details={"field": name})
        return flag

    def text(self, name: str) -> str | None:
        """Return a string as it is, None if it is missing. Raises `InvalidInput` for anything else."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise InvalidInput(f"{name} must be given once", details={"field": name})
        return value

    def choice(self, name: str, values: Sequence[str], default: str) -> str:
        """Return one of `values`, the default if it is missing. Raises `InvalidOption`."""
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, str) or value not in values:
            raise InvalidOption(f"{name} must be one of {', '.join(values)}", details={"field": name})
        return value

    def slippage_ppm(self, name: str, accepted: SlippageRange, *, required: bool) -> int:
        """Return a slippage within the range, the default if it is optional and missing. Raises `InvalidSlippage`."""
        if not required and not self.has(name):
            return DEFAULT_SLIPPAGE_PPM
        try:
            return accepted.check(_percentage(name, self.values.get(name)))
        except InvalidSlippage as error:
            error.details["field"] = name
            raise

    def deadline_s(self, name: str, now_s: int, default_s: int) -> int:
        """Return a time in Unix seconds after `now_s`. Raises `InvalidDeadline`."""
        value = self.values.get(name)
        if value is None:
            return now_s + default_s
        if isinstance(value, int) and (found := find_unit(value, now_s)):
            unit, seconds = found
            raise InvalidDeadline(
                f"{name} looks like {unit}: it must be a future time in whole Unix seconds",
                hint=f"{value} in seconds is {seconds}",
                details={"field": name, "now": now_s},
            )
        if not isinstance(value, int) or isinstance(value, bool) or not now_s < value <= MAX_DEADLINE_S:
            raise InvalidDeadline(
                f"{name} must be a future time in whole Unix seconds", details={"field": name, "now": now_s}
            )
        return value

    def bps(self, name: str) -> int:
        """Return basis points, 0 if missing or empty. Raises `InvalidOption`."""
        value = self.values.get(name) or "0"
        if not isinstance(value, str) or not _BPS.fullmatch(value):
            raise InvalidOption(f"{name} must be a whole number of basis points", details={"field": name})
        return int(value)

    def string_list(self, name: str, *, may_repeat: bool = True) -> tuple[str, ...]:
        """Return the entries of a list: comma-separated, as a JSON array, or by repeated names if `may_repeat`."""
        value = self.values.get(name)
        if isinstance(value, list) and not (may_repeat or self.is_body):
            raise InvalidInput(f"{name} must be given once", details={"field": name})
        return _entries(name, value)


def parse_amount(name: str, value: object) -> int:
    """Parse an amount from a decimal integer string. Raises `InvalidAmount` with the field."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value) or not 1 <= int(value) <= MAX_AMOUNT:
        problem = f"{name} must be a decimal integer string from 1 to 2^256 - 1"
        raise InvalidAmount(problem, hint="give it in the smallest unit of the token", details={"field": name})
    return int(value)


def parse_address_parameter(name: str, value: object, kind: Kind) -> str:
    """Parse an address into its canonical form. Raises `InvalidAddress` with the field."""
    problem = f"{name} must be {kind_variant(kind).address_noun}"
    if not isinstance(value, str):
        raise InvalidAddress(problem, details={"field": name})
    try:
        return parse_address(value, kind)
    except InvalidAddress as error:
        wrong = ", but its checksum is wrong" if error.has_wrong_checksum else ""
        hint = f"{error.message}; {error.hint}" if error.hint else error.message
        raise InvalidAddress(problem + wrong, hint=hint, details={**error.details, "field": name}) from None


def parse_token_parameter(name: str, value: object, kind: Kind) -> str:
    """Parse the canonical address of a token; the zero address is the native one. Raises `InvalidAddress`."""
    native = isinstance(value, str) and is_native(value, kind)
    return ZERO_ADDRESS if native else parse_address_parameter(name, value, kind)


def _percentage(name: str, value: object) -> int:
    text = _number_as_written(value)
    try:
        return parse_slippage_ppm("" if text is None else text)
    except InvalidSlippage as error:
        raise InvalidSlippage(
            f"{name} must be a number conforming to the specified constraints",
            hint=None if text is None else f"{error.message}; {error.hint}",
        ) from None


def _number_as_written(value: object) -> str | None:
    if isinstance(value, WrittenFloat):
        return value.text
    if isinstance(value, str):
        return value
    return repr(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _entries(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        array = _json_array(value)
        value = value.split(",") if array is None else array
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidInput(f"{name} must be an array", details={"field": name})
    entries = tuple(_entry(name, entry) for entry in value)
    flat = tuple(part.strip() for entry in entries for part in entry.split(","))
    parts = tuple(filter(None, flat))
    if len(parts) > MAX_ENTRIES or any(len(part) > MAX_ENTRY_CHARACTERS for part in parts):
        raise InvalidInput(f"{name} has too many or too long entries", details={"field": name})
    return parts


def _json_array(text: str) -> list[object] | None:
    """Parse a JSON array of plain values; return None for any other text."""
    if not text.startswith("["):
        return None
    try:
        array = json.loads(text) if text.count("[") == 1 and "{" not in text else None
    except ValueError:
        return None
    return array if isinstance(array, list) else None


def _entry(name: str, entry: object) -> str:
    if not isinstance(entry, str | int) or isinstance(entry, bool):
        raise InvalidInput(f"each entry of {name} must be a string", details={"field": name})
    return str(entry)
