"""Parse a settings file's YAML into plain values, without the pitfalls of YAML 1.1. Imported only if such a file
exists.

Scalars are `true`, `false`, `null`, decimal numbers or text: `no`, `0x12`, `007` and `12:30` are text, so an address
needs no quotes, and an integer can be read back as written if text is expected. Repeated keys, anchors, aliases and
tags are rejected, so that all readers see the same settings and a small file stays small in memory. This module reads
the parser's events, so depth is limited before any recursion.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from swapcli.core.errors import ConfigError

_MAX_DEPTH = 32  # a bound against hostile input; chosen
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,77}")
_NUMBER = re.compile(r"[-+]?[0-9]{1,78}\.[0-9]{1,78}")
_WORDS: dict[str, object] = {"": None, "~": None, "null": None, "true": True, "false": False}


def parse_yaml(text: str, where: str) -> object:
    """Parse the only document in `text`. Return None if it is empty. Raises `ConfigError`, which begins with
    `where`."""
    try:
        return _Document(yaml.parse(text, Loader=_LOADER), where).read()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{where}:{line}: not YAML: {error.problem}", details={"line": line}) from None
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{where}: not YAML: {error.reason}") from None


def lines_of_yaml(text: str) -> dict[str, int]:
    """Return the line of each key and list entry, by a path such as `tokens[3].symbol`."""
    document = _LinedDocument(yaml.parse(text, Loader=_LOADER), "")
    document.read()
    return document.lines


class _Document:
    """Reads the only document in a stream of events."""

    def __init__(self, events: Iterator[Event], where: str) -> None:
        self._events = events
        self._where = where

    def read(self) -> object:
        value: object = None
        documents = 0
        while not isinstance(event := next(self._events), StreamEndEvent):
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self._refuse(event, "expected one document")
                value = self._value(next(self._events), 0)
        return value

    def _value(self, event: Event, depth: int) -> object:
        self._check(event, depth)
        if isinstance(event, ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        return self._list(depth) if isinstance(event, SequenceStartEvent) else self._mapping(depth)

    def _list(self, depth: int) -> list[object]:
        items: list[object] = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._member(f"[{len(items)}]", event, event, depth))
        return items

    def _member(self, name: str, begin: Event, event: Event, depth: int) -> object:
        """Return the value of a list or mapping member, whose name or value begins with the event `begin`."""
        del name, begin
        return self._value(event, depth + 1)

    def _mapping(self, depth: int) -> dict[str, object]:
        entries: dict[str, object] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if not isinstance(event, ScalarEvent):
                self._refuse(event, "a key must be text")
            self._check(event, depth)
            if event.value in entries:
                self._refuse(event, f'the key "{event.value}" appears twice')
            entries[event.value] = self._member(event.value, event, next(self._events), depth)
        return entries

    def _check(self, event: Event, depth: int) -> None:
        if isinstance(event, AliasEvent) or getattr(event, "anchor", None) is not None:
            self._refuse(event, "anchors and aliases (& and *) are not supported")
        if getattr(event, "tag", None) is not None:
            self._refuse(event, "tags (!) are not supported")
        if depth > _MAX_DEPTH:
            self._refuse(event, "nested too deeply")

    def _refuse(self, event: Event, problem: str) -> NoReturn:
        line = event.start_mark.line + 1 if event.start_mark else 1
        raise ConfigError(f"{self._where}:{line}: {problem}", details={"line": line})


class _LinedDocument(_Document):
    """Reads a document and records the places of its keys and entries."""

    def __init__(self, events: Iterator[Event], where: str) -> None:
        super().__init__(events, where)
        self.lines: dict[str, int] = {}
        self._path = ""

    def _member(self, name: str, begin: Event, event: Event, depth: int) -> object:
        around = self._path
        self._path = f"{around}.{name}" if around and not name.startswith("[") else around + name
        self.lines[self._path] = begin.start_mark.line + 1 if begin.start_mark else 1
        value = super()._member(name, begin, event, depth)
        self._path = around
        return value


def _scalar(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
