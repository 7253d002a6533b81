"""Read the fields of a pool's state in a market file. Errors are `InvalidPoolState`s that name the field.

The caller that knows the pool adds its name to the error.
"""

from __future__ import annotations

from swapcli.core.errors import InvalidPoolState
from swapcli.core.validation.field_reader import FieldReader
from swapcli.core.validation.values import InvalidValue, parse_hex, parse_integer


class StateFields(FieldReader):
    """The state of a pool. Integers are JSON integers or decimal strings.

    Example: `StateFields({"liquidity": "5"}).uint("liquidity", bits=128)` is 5.
    """

    __slots__ = ()

    @classmethod
    def error(cls, path: str, invalid: InvalidValue) -> InvalidPoolState:
        """Return the `InvalidPoolState` for the value at `path`."""
        return InvalidPoolState(path, invalid.problem)

    def uint(self, key: str, bits: int = 256) -> int:
        """Read an integer from 0 to 2^bits - 1."""
        return self.integer(key, 0, (1 << bits) - 1)

    def optional_uint(self, key: str, bits: int = 256) -> int | None:
        """Read an integer from 0 to 2^bits - 1, or return None if the field is absent or null."""
        return self.read_optional(key, parse_integer, 0, (1 << bits) - 1)

    def uints(self, key: str, count: int, bits: int = 256) -> tuple[int, ...]:
        """Read a list of `count` integers from 0 to 2^bits - 1. Errors name `key[index]`."""
        return self.integers(key, count, 0, (1 << bits) - 1)

    def optional_hex(self, key: str, byte_count: int) -> str | None:
        """Read `0x` and hex digits of `byte_count` bytes, in lower case, or return None if the field is absent or
        null."""
        return self.read_optional(key, parse_hex, byte_count)
