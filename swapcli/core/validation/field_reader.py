"""Read the fields of a JSON-like object, with errors that name the field by its path."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from swapcli.core.annotations import Concatenate, ParamSpec, Self, TypeVar
from swapcli.core.validation.values import (
    MAX_UINT256,
    MISSING,
    InvalidValue,
    parse_boolean,
    parse_choice,
    parse_integer,
    parse_list,
    parse_object,
    parse_text,
)

P = ParamSpec("P")
T = TypeVar("T")


class FieldReader:
    """An object and its path, such as `route[0].swaps`; the path of a document is empty.

    Each package derives a class that determines which errors to raise. Example of a class that raises
    `MarketError`: `MarketFields(document).nested("network").integer("chain_id", minimum=1)`.
    """

    __slots__ = ("path", "values")

    def __init__(self, value: object, path: str = "") -> None:
        # Testing only the type is for speed: a market has thousands of objects.
        self.values: Mapping[str, object] = value if type(value) is dict else self.parse(path, value, parse_object)
        self.path = path

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> Exception:
        """Return the error for the value at `path`."""
        return ValueError(f"{path}: {invalid.problem}")

    @classmethod
    def parse(
        cls, path: str, value: object, parser: Callable[Concatenate[object, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of `parser` for a value found at `path`."""
        try:
            return parser(value, *args, **kwargs)
        except InvalidValue as invalid:
            raise cls.error(path + invalid.suffix, invalid) from None

    def path_of(self, key: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Return whether a field is present and not null."""
        return self.values.get(key) is not None

    def read(self, key: str, parser: Callable[Concatenate[object, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of `parser` for a field; an absent field is passed as `MISSING`."""
        try:
            return parser(self.values.get(key, MISSING), *args, **kwargs)
        except InvalidValue as invalid:
            raise self.error(self.path_of(key) + invalid.suffix, invalid) from None

    def read_optional(
        self, key: str, parser: Callable[Concatenate[object, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Return the result of `parser` for a field; None if the field is absent or null."""
        return None if self.values.get(key) is None else self.read(key, parser, *args, **kwargs)

    def integer(self, key: str, minimum: int = 0, maximum: int = MAX_UINT256) -> int:
        """Read a JSON integer or a decimal string."""
        try:
            return parse_integer(self.values.get(key, MISSING), minimum, maximum)
        except InvalidValue as invalid:  # like `read`, but inlined because most fields of a market are integers
            raise self.error(self.path_of(key), invalid) from None

    def integers(self, key: str, count: int, minimum: int = 0, maximum: int = MAX_UINT256) -> tuple[int, ...]:
        """Read a list of exactly `count` integers or decimal strings."""
        return self.read(key, _parse_integer_list, count, minimum, maximum)

    def text(self, key: str) -> str:
        """Read a string."""
        return self.read(key, parse_text)

    def boolean(self, key: str, default: bool = False) -> bool:
        """Read a boolean, or return `default` if the field is absent."""
        return self.read(key, parse_boolean) if key in self.values else default

    def choice(self, key: str, choices: Collection[str], default: str | None = None) -> str:
        """Read a string that must be one of `choices`; return `default`, if there is one, for a field that is absent or
        null."""
        return default if default is not None and not self.has(key) else self.read(key, parse_choice, choices)

    def nested(self, key: str) -> Self:
        """Read an object."""
        return type(self)(self.values.get(key, MISSING), self.path_of(key))

    def items(self, key: str, min_entries: int = 0, max_entries: int | None = None) -> Iterator[tuple[str, object]]:
        """Yield the path and value of each entry of a list."""
        entries, path = self.read(key, parse_list, min_entries, max_entries), self.path_of(key)
        return ((f"{path}[{index}]", entry) for index, entry in enumerate(entries))

    def objects(self, key: str) -> Iterator[Self]:
        """Yield each object of a list of objects."""
        return (type(self)(entry, path) for path, entry in self.items(key))


def _parse_integer_list(value: object, count: int, minimum: int, maximum: int) -> tuple[int, ...]:
    entries = parse_list(value)
    if len(entries) != count:
        raise InvalidValue(f"{count} entries", len(entries))
    try:
        return tuple([parse_integer(entry, minimum, maximum) for entry in entries])
    except InvalidValue as invalid:
        index = next(index for index, entry in enumerate(entries) if entry is invalid.value)
        raise InvalidValue(invalid.expected, invalid.value, f"[{index}]") from None
