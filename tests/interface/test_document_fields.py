"""A field that a document lacks is empty, unless the document keeps its empty fields."""

from __future__ import annotations

from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from swapcli.interface.document_fields import may_have_field
from swapcli.interface.document_types import DOCUMENTS, KEEPS_EMPTY_FIELDS


def result_of(types: tuple[Any, ...]) -> Any:
    """Return a result whose document has one of these types."""

    def document(self: object) -> object:
        raise NotImplementedError(self)

    document.__annotations__["return"] = Union[types]  # noqa: UP007
    return type("Result", (), {"document": document})()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_missing_field_is_empty_if_the_document_leaves_empty_fields_out(name: str) -> None:
    for each in DOCUMENTS[name]:
        is_list = get_origin(each) is list
        entry = get_args(each)[0] if is_list else each
        assert is_typeddict(entry)
        path = ["0"] * is_list + [next(iter(get_type_hints(entry)))]
        result = result_of(DOCUMENTS[name])
        assert may_have_field(result, path) is (name not in KEEPS_EMPTY_FIELDS), each
        assert not may_have_field(result, [*path[:-1], "noSuchField"])
