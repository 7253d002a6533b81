"""Typed access to one mapping of a network's definition, from JSON or YAML, with errors that name the key."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NoReturn

from swapcli.encoding.text import truncate
from swapcli.errors import ConfigError, InvalidAddress
from swapcli.model.network import Kind
from swapcli.networks.address import parse_address

_SHOWN_CHARACTERS = 60
_SHOWN_BITS = 512
_ADDRESS_OF = {Kind.EVM: "an EVM address", Kind.STARKNET: "a Starknet address"}
_DECIMAL = re.compile(r"[0-9]{1,78}")
_HASH = re.compile(r"0x[0-9a-f]{64}")


class Section:
    """A mapping whose keys are all among `known`. `where` is its path: `networks.base`, `base.json: tokens[3]`."""

    __slots__ = ("_values", "where")

    def __init__(self, value: object, where: str, known: Collection[str]) -> None:
        if not isinstance(value, Mapping):
            refuse(where, "a mapping", value)
        self._values: Mapping[object, object] = value
        self.where = where
        for key in value:
            if key not in known:
                raise ConfigError(
                    f"{where}: unknown key {_shown(key)}",
                    hint=f"known keys: {', '.join(known)}",
                    details={"key": f"{where}.{key}"},
                )

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def path(self, key: str) -> str:
        """The path of a member."""
        return f"{self.where}.{key}"

    def given(self, key: str) -> bool:
        """Whether the key is there with a value other than null."""
        return self._values.get(key) is not None

    def value(self, key: str, expected: str) -> object:
        """A member that must be there."""
        if key not in self._values:
            raise ConfigError(
                f"{self.path(key)}: missing, expected {expected}", details={"key": self.path(key), "expected": expected}
            )
        return self._values[key]

    def text(self, key: str, default: str | None = None) -> str:
        """A non-empty text."""
        if default is not None and not self.given(key):
            return default
        return as_text(self.value(key, "a text"), self.path(key))

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._values.get(key, default)
        return value if isinstance(value, bool) else refuse(self.path(key), "true or false", value)

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number from `low` to `high`, as a number or as decimal digits in a text."""
        if default is not None and not self.given(key):
            return default
        expected = f"a whole number from {low} to {high}"
        return as_whole(self.value(key, expected), self.path(key), low, high)

    def number_or_none(self, key: str) -> float | None:
        """A number above zero; None where absent."""
        if not self.given(key):
            return None
        value = self._values[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            refuse(self.path(key), "a number above 0", value)
        return float(value)

    def address(self, key: str, kind: Kind) -> str:
        """An address of the network, canonical."""
        return as_address(self.value(key, _ADDRESS_OF[kind]), self.path(key), kind)

    def address_or_none(self, key: str, kind: Kind) -> str | None:
        """An address of the network; None where absent."""
        return self.address(key, kind) if self.given(key) else None

    def hash_or_none(self, key: str) -> str | None:
        """32 bytes in hex, lower-case; None where absent."""
        if not self.given(key):
            return None
        value = self._values[key]
        if not isinstance(value, str) or not _HASH.fullmatch(value.lower()):
            refuse(self.path(key), "0x and 64 hexadecimal digits", value)
        return value.lower()

    def items(self, key: str) -> Iterator[tuple[object, str]]:
        """The members of a list with their paths; none where the list is absent."""
        value = self._values.get(key)
        if value is None:
            return
        if not isinstance(value, list | tuple):
            refuse(self.path(key), "a list", value)
        for index, item in enumerate(value):
            yield item, f"{self.where}.{key}[{index}]"

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty where absent."""
        return tuple(as_text(item, path) for item, path in self.items(key))

    def entries(self, key: str) -> Iterator[tuple[str, object, str]]:
        """The members of a mapping: key as text, value, path; none where the mapping is absent."""
        value = self._values.get(key)
        if value is None:
            return
        if not isinstance(value, Mapping):
            refuse(self.path(key), "a mapping", value)
        for name, item in value.items():
            yield str(name), item, f"{self.where}.{key}.{name}"


def as_text(value: object, where: str) -> str:
    """`value` as a non-empty text without control characters."""
    if not isinstance(value, str) or not value or not value.isprintable():
        refuse(where, "a text", value)
    return value


def as_whole(value: object, where: str, low: int, high: int) -> int:
    """`value` as a whole number from `low` to `high`."""
    number = int(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else value
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        refuse(where, f"a whole number from {low} to {high}", value)
    return number


def as_address(value: object, where: str, kind: Kind) -> str:
    """`value` as an address of a network of that kind."""
    if not isinstance(value, str):
        # YAML reads 0x... without quotes as a number.
        refuse(where, _ADDRESS_OF[kind] + (" in quotes" if isinstance(value, int) else ""), value)
    try:
        return parse_address(value, kind)
    except InvalidAddress as error:
        raise ConfigError(f"{where}: {error.message}", details={"key": where, "expected": _ADDRESS_OF[kind]}) from None


def refuse(where: str, expected: str, found: object) -> NoReturn:
    """Raise the `ConfigError` for the value at `where`."""
    raise ConfigError(
        f"{where}: expected {expected}, not {_shown(found)}", details={"key": where, "expected": expected}
    )


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return "a huge number"
    written = json.dumps(value, ensure_ascii=False, default=str)
    return truncate(written, _SHOWN_CHARACTERS)
