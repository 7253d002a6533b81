"""Read ABI arguments at their offsets, as contracts do: in any order, with anything between and after them."""

from __future__ import annotations

from collections.abc import Iterator

from swapcli.core.encoding.abi import WORD, invalid_field, to_address, to_signed

_MAX_ENTRIES = 4_096
"""The maximum number of entries: more than fit a transaction of 128 KiB in the smallest encoding of an action."""


class Arguments:
    """The words of a tuple. Offsets count from its start. Raises `InvalidInput`, which names the field, for missing
    data.

    Example: `Arguments(bytes(31) + b"\\1").uint(0, "v")` is 1.
    """

    def __init__(self, raw: bytes) -> None:
        self._raw, self._start, self._ends = raw, 0, [0]

    @property
    def end(self) -> int:
        """The offset after the last byte that was read, in this tuple and in nested ones."""
        return self._ends[0]

    def uint(self, index: int, field: str, bits: int = 256) -> int:
        """Return a word as an unsigned number below 2^bits."""
        value = int.from_bytes(self._take(self._start + index * WORD, WORD, field))
        if value >> bits:
            raise invalid_field(field, f"does not fit uint{bits}")
        return value

    def signed(self, index: int, field: str) -> int:
        """Return a word as a number in two's complement."""
        return to_signed(self.uint(index, field))

    def address(self, index: int, field: str) -> str:
        """Return a word as an address in canonical form."""
        return to_address(self.uint(index, field), field)

    def content(self, index: int, field: str) -> bytes:
        """Return the `bytes` at the offset in a word."""
        return self._content_at(self._start + self.uint(index, f"{field} offset"), field)

    def nested(self, index: int, field: str) -> Arguments:
        """Return the tuple at the offset in a word."""
        return self._at(self._start + self.uint(index, f"{field} offset"))

    def contents(self, index: int, field: str) -> Iterator[bytes]:
        """Yield the entries of an array of `bytes`."""
        for entry in self._entries(index, field):
            yield self._content_at(entry, field)

    def tuples(self, index: int, field: str) -> Iterator[Arguments]:
        """Yield the entries of an array of tuples of variable size."""
        for entry in self._entries(index, field):
            yield self._at(entry)

    def addresses(self, index: int, field: str) -> list[str]:
        """Return the entries of an array of addresses."""
        array = self.nested(index, field)
        return [array.address(1 + k, field) for k in range(self._count(array, field))]

    def skip_list(self, index: int) -> None:
        """Skip an array of words that may be absent."""
        if self._start + (index + 1) * WORD <= len(self._raw) and self.uint(index, "list offset") < len(self._raw):
            array = self.nested(index, "list")
            count = self._count(array, "list")
            self._take(array._start, WORD * (1 + count), "list")

    def _entries(self, index: int, field: str) -> list[int]:
        """Return the positions at which the entries of an array begin; their offsets count from after the length."""
        array = self.nested(index, field)
        count = self._count(array, field)
        first = array._start + WORD
        return [first + array.uint(1 + k, f"{field} offset") for k in range(count)]

    @staticmethod
    def _count(array: Arguments, field: str) -> int:
        count = array.uint(0, f"{field} length")
        if count > _MAX_ENTRIES:
            raise invalid_field(f"{field} length", f"more than {_MAX_ENTRIES} entries")
        return count

    def _at(self, start: int) -> Arguments:
        nested = Arguments(self._raw)
        nested._start, nested._ends = start, self._ends
        return nested

    def _content_at(self, start: int, field: str) -> bytes:
        length = int.from_bytes(self._take(start, WORD, f"{field} length"))
        return self._take(start + WORD, length + -length % WORD, field)[:length]

    def _take(self, start: int, count: int, field: str) -> bytes:
        if start + count > len(self._raw):
            raise invalid_field(field, "the data ends before it")
        self._ends[0] = max(self._ends[0], start + count)
        return self._raw[start : start + count]
