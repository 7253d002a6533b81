"""The values that a request gives, by name: of a query or of a JSON body. Every error names its field.

The texts are those that clients of the interface know, where there are any.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from swapcli.api.fields import MAX_AMOUNT, Fields
from swapcli.api.slippage import SlippageRange, parse_slippage_ppm
from swapcli.encoding.strict_json import WrittenFloat
from swapcli.errors import InvalidAddress, InvalidAmount, InvalidDeadline, InvalidInput, InvalidOption, InvalidSlippage
from swapcli.model.network import Kind
from swapcli.model.order import ZERO_ADDRESS
from swapcli.model.swap_terms import DEFAULT_SLIPPAGE_PPM
from swapcli.networks.address import is_native, parse_address

MAX_ENTRIES = 256
MAX_ENTRY_CHARACTERS = 80
MAX_DEADLINE_S = 2**63 - 1

_DIGITS = re.compile(r"[0-9]{1,78}")
_BPS = re.compile(r"[0-9]{1,9}")
_ARRAY_MARK = re.compile(r"\[[0-9]{0,3}\]")
_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_NOUNS = {Kind.EVM: "an Ethereum address", Kind.STARKNET: "a Starknet address"}


class RequestParameters(NamedTuple):
    """`values` are strings, and lists where a name was given more than once; in a body, any JSON value."""

    values: Mapping[str, object]
    kind: Kind
    is_body: bool = False

    @classmethod
    def from_query(cls, query: Sequence[tuple[str, str]], kind: Kind) -> RequestParameters:
        """The parameters of a decoded query. `name[]` and `name[0]` give entries of a list called `name`."""
        values: dict[str, object] = {}
        for written, value in query:
            name = _ARRAY_MARK.sub("", written)
            held = values.get(name)
            if held is None and name == written:
                values[name] = value
            elif isinstance(held, list):
                held.append(value)
            else:
                values[name] = [value] if held is None else [held, value]
        return cls(values, kind)

    @classmethod
    def from_body(cls, document: object, kind: Kind) -> RequestParameters:
        """The fields of a JSON object. Raises `InvalidInput` for anything else."""
        return cls(Fields(document).values, kind, is_body=True)

    def has(self, name: str) -> bool:
        """Is there a value other than null?"""
        return self.values.get(name) is not None

    def amount(self, name: str) -> int:
        """An amount in base units. Raises `InvalidAmount`."""
        if not self.has(name):
            raise InvalidAmount(f"{name} should not be null or undefined", details={"field": name})
        return parse_amount(name, self.values[name])

    def address(self, name: str) -> str:
        """A canonical address as it stands. Raises `InvalidAddress`."""
        return parse_address_parameter(name, self.values.get(name), self.kind)

    def token(self, name: str) -> str:
        """The canonical address of a token, the zero address where it is the native one. Raises `InvalidAddress`."""
        return parse_token_parameter(name, self.values.get(name), self.kind)

    def recipient(self, name: str) -> str:
        """The canonical address of somebody who can hold tokens. Raises `InvalidAddress`."""
        address = self.address(name)
        if is_native(address, self.kind):
            raise InvalidAddress(
                f"{name} must be an Ethereum address that can hold tokens",
                hint="what the zero address receives is lost",
                details={"field": name},
            )
        return address

    def flag(self, name: str) -> bool:
        """A boolean, false where it is missing: in a query a word, in a body a JSON boolean. Raises `InvalidOption`."""
        value = self.values.get(name)
        flag = value if self.is_body else _FLAGS.get(value.lower()) if isinstance(value, str) else None
        if value is None:
            return False
        if not isinstance(flag, bool):
            raise InvalidOption(f"{name} must be true or false", details={"field": name})
        return flag

    def slippage_ppm(self, name: str, accepted: SlippageRange, *, required: bool) -> int:
        """A percentage within the range; the default where it may be missing and is. Raises `InvalidSlippage`."""
        if not required and not self.has(name):
            return DEFAULT_SLIPPAGE_PPM
        try:
            return accepted.check(_percentage(name, self.values.get(name)))
        except InvalidSlippage as error:
            error.details["field"] = name
            raise

    def deadline_s(self, name: str, now_s: int, default_s: int) -> int:
        """A moment in Unix seconds that lies ahead of `now_s`. Raises `InvalidDeadline`."""
        value = self.values.get(name)
        if value is None:
            return now_s + default_s
        if not isinstance(value, int) or isinstance(value, bool) or not now_s < value <= MAX_DEADLINE_S:
            raise InvalidDeadline(
                f"{name} must be a future time in whole Unix seconds", details={"field": name, "now": now_s}
            )
        return value

    def bps(self, name: str) -> int:
        """Basis points, 0 where they are missing or empty. Raises `InvalidOption`."""
        value = self.values.get(name) or "0"
        if not isinstance(value, str) or not _BPS.fullmatch(value):
            raise InvalidOption(f"{name} must be a whole number of basis points", details={"field": name})
        return int(value)

    def string_list(self, name: str, *, may_repeat: bool = True) -> tuple[str, ...]:
        """Entries with commas between them, as a JSON array, or, where `repeated` is allowed, by a name given often."""
        value = self.values.get(name)
        if isinstance(value, list) and not (may_repeat or self.is_body):
            raise InvalidInput(f"{name} must be given once", details={"field": name})
        return _entries(name, value)


def parse_amount(name: str, value: object) -> int:
    """The amount that a decimal integer string gives. Raises `InvalidAmount` that names the field."""
    if not isinstance(value, str) or not _DIGITS.fullmatch(value) or not 1 <= int(value) <= MAX_AMOUNT:
        problem = f"{name} must be a decimal integer string from 1 to 2^256 - 1"
        raise InvalidAmount(problem, hint="give it in the smallest unit of the token", details={"field": name})
    return int(value)


def parse_address_parameter(name: str, value: object, kind: Kind) -> str:
    """The canonical form of an address. Raises `InvalidAddress` that names the field."""
    problem = f"{name} must be {_NOUNS[kind]}"
    if not isinstance(value, str):
        raise InvalidAddress(problem, details={"field": name})
    try:
        return parse_address(value, kind)
    except InvalidAddress as error:
        wrong = ", but its checksum is wrong" if error.has_wrong_checksum else ""
        raise InvalidAddress(problem + wrong, hint=error.message, details={**error.details, "field": name}) from None


def parse_token_parameter(name: str, value: object, kind: Kind) -> str:
    """The canonical address of a token, the zero address where it is the native one. Raises `InvalidAddress`."""
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
    kept = tuple(filter(None, flat))
    if len(kept) > MAX_ENTRIES or any(len(entry) > MAX_ENTRY_CHARACTERS for entry in kept):
        raise InvalidInput(f"{name} has too many or too long entries", details={"field": name})
    return kept


def _json_array(text: str) -> list[object] | None:
    """The entries of a JSON array of plain values; None where the text is not one."""
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
