"""Defects injected into the code of one pool, such as a family or a reader may have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

from swapcli.core.model.pool import Pool, guard_swap
from swapcli.families.reading.lockstep_reads import BatchRead
from swapcli.families.reading.pool_readers import pool_reader
from swapcli.families.reading.pool_ref import PoolRef

DEFECT = "an injected defect"


class DefectError(Exception):
    """An exception that no code raises on purpose."""


ERRORS = (ValueError, ZeroDivisionError, OverflowError, KeyError, TypeError, RecursionError, DefectError)
READER_STAGES = ("call", "first step", "after the first round")


def break_reader(
    monkeypatch: pytest.MonkeyPatch, kind: str, key: str, stage: str, error: type[Exception] = ValueError
) -> None:
    """Make the reader of a kind raise for one pool: when called, at its first step, or after its first round."""
    reader = pool_reader(kind)
    sound = reader.load

    def failing(ref: PoolRef) -> BatchRead[Pool]:
        if stage == "after the first round":
            yield next(sound(ref))
        raise error(DEFECT)

    def load(ref: PoolRef) -> BatchRead[Pool]:
        if ref.key != key:
            return sound(ref)
        if stage == "call":
            raise error(DEFECT)
        return failing(ref)

    monkeypatch.setattr(reader, "load", load)


def break_method(
    monkeypatch: pytest.MonkeyPatch, family: type[Pool], key: str, name: str, error: type[Exception] = ValueError
) -> None:
    """Make a method of a family raise for one pool."""
    sound: Callable[..., Any] = getattr(family, name)

    def method(self: Pool, *arguments: Any) -> Any:
        if self.key == key:
            raise error(DEFECT)
        return sound(self, *arguments)

    monkeypatch.setattr(family, name, guard_swap(method) if name == "swap" else method)


def with_broken_method(pool: Pool, name: str, error: type[Exception] = ValueError) -> Pool:
    """Return a pool of the same family in the same state, with one method that raises."""

    def method(self: Pool, *arguments: Any) -> Any:
        del self, arguments
        raise error(DEFECT)

    broken = type(f"Broken{type(pool).__name__}", (type(pool),), {"__slots__": (), name: method})
    copy: Pool = object.__new__(broken)
    for field in fields(pool):
        object.__setattr__(copy, field.name, getattr(pool, field.name))
    return copy
