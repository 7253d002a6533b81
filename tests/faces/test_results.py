"""Commands print results of the library, and `swapcli schema` describes the document of each."""

from __future__ import annotations

import re
from typing import NamedTuple, get_args

import pytest

import swapcli
from swapcli.faces.cli.output import Output, OutputFormat
from swapcli.interface import document_types
from swapcli.interface.document_types import DOCUMENTS, TOOL_DOCUMENTS

SELF_DESCRIBING = {"JsonSchema", "NetworkDefinition"}
"""A schema is described by its own standard, and a network file by the schema of its own."""


def results() -> list[str]:
    """Return the public names whose values have documents."""
    return [name for name in swapcli.__all__ if hasattr(getattr(swapcli, name), "document")]


def described_types() -> set[str]:
    """Return the names of the types with a schema, and of the elements of lists with one."""
    types = {each for documents in (DOCUMENTS, TOOL_DOCUMENTS) for variants in documents.values() for each in variants}
    elements = {element for each in types for element in get_args(each)}
    return {each.__name__ for each in types | elements if isinstance(each, type)}


def returned_types(annotation: str) -> set[str]:
    """Return the names of the document types in an annotation, with those of which a union consists."""
    names = re.findall(r"\w+Json\b", annotation)
    unions = {name: get_args(getattr(document_types, name, None)) for name in names}
    return {each for name in names for each in [variant.__name__ for variant in unions[name]] or [name]}


@pytest.mark.parametrize("name", results())
def test_the_document_of_each_result_has_a_schema(name: str) -> None:
    returned = getattr(swapcli, name).document.__annotations__["return"]
    names = returned_types(returned)
    assert name in SELF_DESCRIBING or (names and names <= described_types()), (
        f"{name}.document() returns {returned}: annotate it with a type of interface/document_types, and add that"
        " type to DOCUMENTS there"
    )


class Plain(NamedTuple):
    """A record without a document."""

    value: int


def test_a_record_without_a_document_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output(OutputFormat.JSON, "auto", [])
    for print_it in (output.print_document, output.print_line):
        with pytest.raises(TypeError, match=r"^give Plain a method document\(\) that returns a type of interface/"):
            print_it(Plain(1))  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""
