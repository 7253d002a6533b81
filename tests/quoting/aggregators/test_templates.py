"""Templates keep the types of whole values, encode the rest, and name the field that an answer lacks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.strict_json import parse_json
from swapcli.core.validation.values import MISSING
from swapcli.quoting.aggregators.templates import MissingField, fill, fill_text, find, placeholders, text_of

NAMES = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
DOCUMENTS = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3))


def paths_of(document: Any, path: str = "") -> list[tuple[str, Any]]:
    """Return every value of a document with its path."""
    inner = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    found = [(path, document)] if path else []
    for name, value in inner:
        found += paths_of(value, f"{path}.{name}" if path else str(name))
    return found


@given(DOCUMENTS)
def test_every_value_is_found_by_its_path_and_kept(document: Any) -> None:
    for path, value in paths_of(document):
        assert find(document, path) == value
        assert fill(f"{{first.{path}}}", {"first": document}) == value
        assert find(document, f"{path}.absent.0") is MISSING


@given(DOCUMENTS)
def test_a_template_without_placeholders_stays_as_it_is(document: Any) -> None:
    assume_none = [each for _, each in paths_of(document) if isinstance(each, str) and "{" in each]
    if not assume_none and not (isinstance(document, str) and "{" in document):
        assert fill(document, {}) == document
        assert list(placeholders(document)) == []


@given(st.text(), st.integers(min_value=0))
def test_values_in_the_middle_of_a_text_are_encoded(text: str, number: int) -> None:
    filled = fill_text("/{a}/{b}", {"a": text, "b": number}, encode=lambda each: f"<{each}>")
    assert filled == f"/<{text}>/<{number}>"


@pytest.mark.parametrize(
    ("template", "missing"),
    [("{unknown}", "unknown"), ("x{first.b}", "first.b"), ("{first.a.0}", "first.a.0"), ("x{first.c}", "first.c")],
)
def test_a_missing_field_is_named(template: str, missing: str) -> None:
    with pytest.raises(MissingField) as caught:
        fill(template, {"first": {"a": "text", "c": {}}})
    assert str(caught.value) == missing


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (0.5, "0.5"),
        (1.0, "1"),
        (0.000001, "0.000001"),
        (12, "12"),
        ("a", "a"),
        (None, None),
        ([], None),
    ],
)
def test_numbers_are_written_without_exponents(value: object, text: str | None) -> None:
    assert text_of(value) == text


def test_a_number_of_an_answer_is_written_as_it_came() -> None:
    document = parse_json(b'{"a": 1.50, "b": 1e3}')
    assert fill_text("{first.a} {first.b}", {"first": document}) == "1.50 1e3"


def test_the_placeholders_of_a_body_are_found_at_any_depth() -> None:
    body = {"a": ["{token_in}", {"b": "x{first.c.d}y{amount_in}"}], "n": 1}
    assert list(placeholders(body)) == ["token_in", "first.c.d", "amount_in"]
