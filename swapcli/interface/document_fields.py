"""Look up the fields that documents may have, by the types of `document_types`."""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from swapcli.interface import document_types

if TYPE_CHECKING:
    from swapcli.interface.result import Result

_TRANSPARENT: Final = (Union, UnionType, NotRequired, Required)


def row_fields(result: Result) -> list[str]:
    """Return, in order, the fields of one entry of a document that is a list; empty for documents that are not
    lists."""
    (returned,) = get_args(_returned(result)) or (None,)
    return list(get_type_hints(returned)) if is_typeddict(returned) else []


def may_have_field(result: Result, names: Sequence[str]) -> bool:
    """Return whether the type of a result's document has a field at the path `names`; if it does, a missing field
    counts as empty.

    Always False for documents that keep their empty fields: a field missing there was not requested.
    """
    returned = _returned(result)
    return _alternatives(returned).isdisjoint(_types_with_empty_fields()) and _has(returned, names)


def _types_with_empty_fields() -> frozenset[Any]:
    documents = document_types.DOCUMENTS
    return frozenset(each for name in document_types.KEEPS_EMPTY_FIELDS for each in documents[name])


def _alternatives(type_: Any) -> frozenset[Any]:
    return frozenset(get_args(type_) if get_origin(type_) in _TRANSPARENT else (type_,))


def _returned(result: Result) -> Any:
    return get_type_hints(type(result).document, vars(document_types))["return"]


def _has(type_: Any, names: Sequence[str]) -> bool:
    if not names:
        return True
    arguments = get_args(type_)
    if get_origin(type_) in _TRANSPARENT:
        return any(_has(each, names) for each in arguments if each is not NoneType)
    if is_typeddict(type_):
        fields = get_type_hints(type_)
        return names[0] in fields and _has(fields[names[0]], names[1:])
    if get_origin(type_) is list:
        return names[0].isdecimal() and _has(arguments[0], names[1:])
    return get_origin(type_) is dict and _has(arguments[1], names[1:])
