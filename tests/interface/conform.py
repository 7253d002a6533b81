"""Check that a document matches a `TypedDict`: exactly its fields, each of its type."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict


def conforms(document: object, form: Any) -> bool:
    """Whether the JSON value `document` is of the type `form`."""
    if is_typeddict(form):
        return isinstance(document, dict) and _fits(document, get_type_hints(form, include_extras=True))
    origin, inner = get_origin(form), get_args(form)
    if form is Any:
        return True
    if origin in (Union, UnionType):
        return any(conforms(document, one) for one in inner)
    if origin is list:
        return isinstance(document, list) and all(conforms(entry, inner[0]) for entry in document)
    if origin is dict:
        return isinstance(document, dict) and all(conforms(value, inner[1]) for value in document.values())
    if form is NoneType:
        return document is None
    if isinstance(document, bool):
        return form is bool
    return isinstance(document, (int, float) if form is float else form)


def _fits(document: dict[str, object], fields: dict[str, Any]) -> bool:
    optional = {key for key, form in fields.items() if get_origin(form) is NotRequired}
    bare = {key: get_args(form)[0] if key in optional else form for key, form in fields.items()}
    return fields.keys() - optional <= document.keys() <= fields.keys() and all(
        conforms(value, bare[key]) for key, value in document.items()
    )
