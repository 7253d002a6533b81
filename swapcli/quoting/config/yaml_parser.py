"""Parse the YAML of a settings file into plain values, without the traps of YAML 1.1. Imported only if there is one.

Scalars are `true`, `false`, `null`, decimal numbers or text: `no`, `0x12`, `007` and `12:30` are text, so an address
needs no quotes, and a whole number can be read back as it was written where text is expected. Repeated keys, anchors,
aliases and tags are refused: two readers must see the same settings, and a small file must stay small. Works on the
parser's events, so that depth is bounded before anything recurses.
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
    """Parse the one document in `text`; None if it is empty. Raises `ConfigError` beginning with `where`."""
    try:
        return _Document(yaml.parse(text, Loader=_LOADER), where).read()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{where}, line {line}: not YAML: {error.problem}", details={"line": line}) from None
    except yaml.reader.ReaderError as error:
        raise ConfigError(f"{where}: not YAML: {error.reason}") from None


class _Document:
    """Reads the only document of a stream of events."""

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
        items = []
        while not isinstance(event := next(self._events), SequenceEndEvent):
            items.append(self._value(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, object]:
        entries: dict[str, object] = {}
        while not isinstance(event := next(self._events), MappingEndEvent):
            if not isinstance(event, ScalarEvent):
                self._refuse(event, "a key must be text")
            self._check(event, depth)
            if event.value in entries:
                self._refuse(event, f'the key "{event.value}" stands there twice')
            entries[event.value] = self._value(next(self._events), depth + 1)
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
        raise ConfigError(f"{self._where}, line {line}: {problem}", details={"line": line})


def _scalar(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
