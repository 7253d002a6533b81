"""Find the lines of keys in JSON files, for the places in errors. Because only errors need lines, the file is read
again for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import TYPE_CHECKING

from swapcli.core.records import NamedTuple

if TYPE_CHECKING:
    from swapcli.core.errors import ConfigError

_DECODER = JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_LAST_PART = re.compile(r"(\.[^.\[\]]*|\[[0-9]+\])$")


class KeyLine(NamedTuple):
    """The line of a key or list entry, counted from 1. `path` is written as in errors, such as `tokens[3].symbol`."""

    path: str
    line: int


class RepeatedKey(Exception):
    """A key that occurs twice in an object of a JSON text."""

    def __init__(self, key: str, line: int) -> None:
        super().__init__(key)
        self.key, self.line = key, line


def json_lines(text: str) -> Iterator[KeyLine]:
    """Yield the lines of all keys and entries of a valid JSON text. Raises `RepeatedKey`."""
    return _JsonLines(text).value("")


def find_line(lines: Mapping[str, int], path: str) -> int:
    """Return the line of the value at `path`, otherwise of the closest value that contains it, otherwise 1."""
    while path and path not in lines:
        shorter = _LAST_PART.sub("", path)
        path = shorter if shorter != path else ""
    return lines.get(path, 1)


def place_error(error: ConfigError, file: str, lines: Mapping[str, int], root: str = "") -> None:
    """Prefix an error about a key below `root` with `FILE:LINE: KEY`. The keys of `lines` are paths below `root`."""
    place = error.place or ""
    key = str(error.details.get("key") or place)
    at = key if key.startswith(root) else place
    line = find_line(lines, at.removeprefix(root).lstrip("."))
    shown = place.removeprefix(root).lstrip(".")
    error.place = f"{file}:{line}: {shown}" if shown else f"{file}:{line}"
    error.details = {**error.details, "file": file, "line": line}


class _JsonLines:
    """A reader of valid JSON text that only notes where its keys and entries are."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line, self._counted = 1, 0

    def value(self, path: str) -> Iterator[KeyLine]:
        """Yield the lines below the value that begins at the current position, and move past it."""
        self._skip_blanks()
        start = self._text[self._at : self._at + 1]
        if start == "{":
            yield from self._members(path)
        elif start == "[":
            yield from self._entries(path)
        elif start == '"':
            _, self._at = _DECODER.raw_decode(self._text, self._at)
        else:
            scalar = _SCALAR.match(self._text, self._at)
            self._at = scalar.end() if scalar else len(self._text)

    def _members(self, path: str) -> Iterator[KeyLine]:
        seen = set()
        while self._has_next("}"):
            line = self._present_line()
            key, self._at = _DECODER.raw_decode(self._text, self._at)
            if key in seen:
                raise RepeatedKey(key, line)
            seen.add(key)
            below = f"{path}.{key}" if path else key
            yield KeyLine(below, line)
            self._skip_blanks()
            self._at += 1  # the colon
            yield from self.value(below)

    def _entries(self, path: str) -> Iterator[KeyLine]:
        number = 0
        while self._has_next("]"):
            below = f"{path}[{number}]"
            yield KeyLine(below, self._present_line())
            yield from self.value(below)
            number += 1

    def _has_next(self, end: str) -> bool:
        """Move past the bracket or comma here, to the next member. If there is none, move past `end` and return
        False."""
        self._skip_blanks()
        is_end = self._text[self._at] == end
        self._at += 1
        self._skip_blanks()
        if not is_end and self._text[self._at] == end:  # an empty object or list
            is_end = True
            self._at += 1
        return not is_end

    def _skip_blanks(self) -> None:
        blank = _BLANK.match(self._text, self._at)
        assert blank is not None
        self._at = blank.end()

    def _present_line(self) -> int:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._line
