"""Read one mapping of a network's definition, from JSON or YAML, with errors that name the key."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import NoReturn, Self

from swapcli.core.errors import ConfigError, InvalidAddress
from swapcli.core.model.network import Kind
from swapcli.core.networks.address import parse_address
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import (
    MISSING,
    InvalidValue,
    describe,
    parse_hex,
    parse_list,
    parse_number,
    parse_object,
    parse_printable,
)

_WEB_URL = re.compile(r"https?://[A-Za-z0-9][!-~]*")


class DefinitionFields(FieldReader):
    """A mapping whose keys must all be in `known`. The path of the mapping is like `networks.NAME` or `base.json:
    tokens[3]`.

    An optional key that is null counts as absent. Errors are `ConfigError`s with the key in their details.
    """

    __slots__ = ()

    @classmethod
    def of_keys(cls, value: object, path: str, known: Collection[str]) -> Self:
        """Return the fields of a mapping. Raises `ConfigError` for a key that is not in `known`."""
        fields = cls(value, path)
        for key in fields.values:
            if key not in known:
                raise fields.unknown(path, "key", key, known, f"{path}.{key}")
        return fields

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> Exception:
        """Return the `ConfigError` for the value at `path`."""
        is_missing = invalid.value is MISSING
        problem = f"missing; expected {invalid.expected}" if is_missing else invalid.problem
        return _config_error(path, problem, {"key": path, "expected": invalid.expected})

    @classmethod
    def failure(cls, path: str, problem: str) -> Exception:
        """Return the error for a value at `path` whose problem is not its type or range."""
        return _config_error(path, problem, {"key": path})

    @classmethod
    def refuse(cls, path: str, expected: str, value: object) -> NoReturn:
        """Raise the error for an unexpected value at `path`."""
        raise cls.error(path, InvalidValue(expected, value))

    @classmethod
    def unknown(cls, path: str, kind: str, name: object, known: Collection[str], key: str | None = None) -> Exception:
        """Return the error for a name at `path`, such as a key, that is not in `known`; the hint has the closest
        names."""
        from swapcli.core.encoding.closest import closest_names, did_you_mean

        kinds = f"{kind[:-1]}ies" if kind.endswith("y") and kind != "key" else f"{kind}s"
        hint = did_you_mean(closest_names(str(name), known)) or f"known {kinds}: {', '.join(known)}"
        return _config_error(path, f"unknown {kind} {describe(name)}", {"key": key or path}, hint)

    def text(self, key: str, default: str | None = None) -> str:
        """Read a non-empty text, or return `default` if the key is absent and there is a default."""
        return default if default is not None and not self.has(key) else self.read(key, parse_printable)

    def optional_text(self, key: str) -> str | None:
        """Read a non-empty text, or return None if the key is absent."""
        return self.read_optional(key, parse_printable)

    def optional_web_url(self, key: str) -> str | None:
        """Read the http or https URL of a web page, or return None if the key is absent."""
        return self.read_optional(key, _parse_web_url)

    def whole(self, key: str, minimum: int, maximum: int, default: int | None = None) -> int:
        """Read an integer, or return `default` if the key is absent and there is a default."""
        return default if default is not None and not self.has(key) else self.integer(key, minimum, maximum)

    def optional_positive_number(self, key: str) -> float | None:
        """Read a number above zero, or return None if the key is absent."""
        return self.read_optional(key, parse_number, "a number above 0", lambda number: number > 0)

    def address(self, key: str, kind: Kind) -> str:
        """Read an address on the network, in its canonical form."""
        return self.parse_address(self.path_of(key), self.values.get(key, MISSING), kind)

    def optional_address(self, key: str, kind: Kind) -> str | None:
        """Read an address on the network, or return None if the key is absent."""
        return self.address(key, kind) if self.has(key) else None

    def optional_hash(self, key: str) -> str | None:
        """Read 32 bytes in hex, in lower case, or return None if the key is absent."""
        return self.read_optional(key, parse_hex, 32)

    def optional_items(self, key: str) -> Iterator[tuple[str, object]]:
        """Yield the path and value of each entry in a list, or nothing if the key is absent."""
        entries, path = self.read_optional(key, parse_list) or (), self.path_of(key)
        return ((f"{path}[{index}]", entry) for index, entry in enumerate(entries))

    def texts(self, key: str) -> tuple[str, ...]:
        """Read a list of texts. It is empty if the key is absent."""
        return tuple(self.parse(path, entry, parse_printable) for path, entry in self.optional_items(key))

    def addresses(self, key: str, kind: Kind) -> tuple[str, ...]:
        """Read a list of addresses on the network. It is empty if the key is absent."""
        return tuple(self.parse_address(path, entry, kind) for path, entry in self.optional_items(key))

    def members(self, key: str) -> Iterator[tuple[str, str, object]]:
        """Yield the name, path and value of each member of a mapping, or nothing if the key is absent."""
        members: Mapping[str, object] = self.read_optional(key, parse_object) or {}
        return ((str(name), f"{self.path_of(key)}.{name}", value) for name, value in members.items())

    @classmethod
    def parse_address(cls, path: str, value: object, kind: Kind) -> str:
        """Return the canonical form of an address found at `path`."""
        if not isinstance(value, str):
            # YAML reads 0x... without quotes as a number.
            cls.refuse(path, kind.traits.address_noun + (" in quotes" if isinstance(value, int) else ""), value)
        try:
            return parse_address(value, kind)
        except InvalidAddress as error:
            details = {"key": path, "expected": kind.traits.address_noun}
            raise _config_error(path, error.message, details, error.hint) from None


def _config_error(path: str, problem: str, details: Mapping[str, object], hint: str | None = None) -> ConfigError:
    error = ConfigError(problem, hint=hint, details=details)
    error.place = path
    return error


def _parse_web_url(value: object) -> str:
    """Parse a URL in ASCII, because it will be part of terminal escape sequences."""
    if not isinstance(value, str) or not _WEB_URL.fullmatch(value):
        raise InvalidValue("an http or https URL", value)
    return value
