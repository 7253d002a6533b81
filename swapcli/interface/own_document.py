"""Omit empty fields from swapcli's own documents, which are all documents without fields of the published API."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

D = TypeVar("D")
P = ParamSpec("P")

_EMPTY: Final[tuple[object, ...]] = (None, "", [], {})
_NAMES: Final = frozenset({"name", "symbol"})
"""Fields that are kept even if empty: a contract may give its token an empty name."""


def own_document(render: Callable[P, D]) -> Callable[P, D]:
    """Decorate a function that returns one of swapcli's own documents, so that no object in it has an empty field.

    Example: `@own_document` before `def document(self) -> PricesJson`.
    """

    @wraps(render)
    def rendered(*args: P.args, **kwargs: P.kwargs) -> D:
        return without_empty_fields(render(*args, **kwargs))

    return rendered


def without_empty_fields(document: D) -> D:
    """Return a JSON value without the fields of its objects that are null, "", [] or {}. Names may be "".

    Entries of lists are kept.
    """
    return cast("D", _shorten(document))


def _shorten(value: Any) -> Any:
    if isinstance(value, dict):
        shortened = ((name, _shorten(each)) for name, each in value.items())
        return {name: each for name, each in shortened if each not in _EMPTY or (each == "" and name in _NAMES)}
    if isinstance(value, list | tuple):
        return [_shorten(each) for each in value]
    return value
