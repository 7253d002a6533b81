"""Read the fields of a market file. Errors are `MarketError`s that name the field by its path."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

from swapcli.core.encoding.strict_json import InvalidJson, parse_json_file
from swapcli.core.errors import InvalidAddress, MarketError
from swapcli.core.model.network import Kind
from swapcli.core.networks.definition_fields import DefinitionFields
from swapcli.core.validation.values import MISSING, InvalidValue, describe, parse_line
from swapcli.state.markets.address_field import read_address


class MarketFields(DefinitionFields):
    """An object in a market file. Unknown keys are ignored, texts may be empty, and addresses need no checksum.

    Example: `MarketFields(document).nested("network").text("name")`.
    """

    __slots__ = ()

    @classmethod
    def of_keys(cls, value: object, path: str, known: Collection[str]) -> Self:
        """Return the fields of an object. Keys that are not in `known` are ignored, not rejected."""
        del known
        return cls(value, path)

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> Exception:
        """Return the `MarketError` for the value at `path`."""
        return cls.failure(path, invalid.problem)

    @classmethod
    def failure(cls, path: str, problem: str, *, hint: str | None = None) -> Exception:
        """Return the `MarketError` for a value at `path` that has the right type and range, but another problem."""
        return MarketError(f"{path}: {problem}", hint=hint, details={"field": path})

    def text(self, key: str, default: str | None = None) -> str:
        """Read a string without line breaks. It may be empty."""
        return default if default is not None and not self.has(key) else self.read(key, parse_line)

    @classmethod
    def parse_address(cls, path: str, value: object, kind: Kind) -> str:
        """Return the canonical form of an address found at `path`."""
        try:
            return read_address(None if value is MISSING else value, kind)
        except InvalidAddress as error:
            raise cls.failure(path, error.message) from None


def parse_document(document: bytes | str) -> MarketFields:
    """Parse the JSON object in a market file. Raises `MarketError` with the line and column of a syntax error."""
    try:
        value = parse_json_file(document)
    except InvalidJson as error:
        details = {} if error.line is None else {"line": error.line, "column": error.column}
        raise MarketError(f"not a market file: it {error.problem}", details=details) from None
    if not isinstance(value, dict):
        raise MarketError(f"not a market file: expected a JSON object, not {describe(value)}")
    return MarketFields(value)
