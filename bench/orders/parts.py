"""Replace parts of the program temporarily, by name, to see their effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from bench.running import BenchmarkFailed


def part(target: str) -> Any:
    """Return the value of `module:name` or `module:class.name`. Raises `BenchmarkFailed` if there is none."""
    owner, name = _owner(target)
    return vars(owner)[name]


@contextmanager
def replaced(parts: Mapping[str, Any]) -> Iterator[None]:
    """Replace parts, given by name, with other values. Raises `BenchmarkFailed` if one no longer exists."""
    before = [(*_owner(target), part(target)) for target in parts]
    try:
        for (owner, name, _), value in zip(before, parts.values(), strict=True):
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _owner(target: str) -> tuple[Any, str]:
    module, _, path = target.partition(":")
    *classes, name = path.split(".")
    try:
        owner: Any = import_module(module)
        for each in classes:
            owner = getattr(owner, each)
        vars(owner)[name]
    except (ImportError, AttributeError, KeyError) as error:
        raise BenchmarkFailed(f"{target} does not exist in the program: {error}") from error
    return owner, name
