"""JSON of untrusted clients: strict and bounded."""

from __future__ import annotations

import json
import sys
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from swapcli.core.encoding.strict_json import MAX_DEPTH, MAX_DIGITS, WrittenFloat, parse_json
from swapcli.core.errors import InvalidInput

documents = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**256), 2**256) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab[]{}\"\\é", max_size=4), inner, max_size=4),
    max_leaves=30,
)  # fmt: skip


@given(documents, st.booleans())
def test_whatever_is_json_is_read_as_it_was_written(document: object, ascii_only: bool) -> None:
    assert parse_json(json.dumps(document, ensure_ascii=ascii_only).encode()) == document


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_remembers_how_it_was_written(number: float) -> None:
    read = parse_json(json.dumps([number]).encode())
    assert isinstance(read, list)
    assert isinstance(read[0], WrittenFloat)
    assert (read[0], read[0].text) == (number, repr(number))
    assert json.dumps(read) == json.dumps([number])


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "is empty"),
        (b" \r\n", "is empty"),
        (b'{"a":1,"a":1}', "twice in one object"),
        (b'{"x":{"a":1,"b":2,"\\u0061":3}}', "twice in one object"),
        (b"NaN", "NaN is not a number"),
        (b"[-Infinity]", "-Infinity is not a number"),
        (b"[1e999]", "out of range"),
        (b"[-1e999]", "out of range"),
        (b"1" * (MAX_DIGITS + 1), "out of range"),
        (b"0." + b"1" * MAX_DIGITS, "out of range"),
        (b"1" * 1_000_000, "out of range"),
        (b'["\\ud800"]', "UTF-8"),
        (b'{"\\udfff":1}', "UTF-8"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "not valid JSON"),
        ('{"a":1}'.encode("utf-16"), "UTF-8"),
        (b"{'a':1}", "not valid JSON"),
        (b"[1,]", "not valid JSON"),
        (b"[1] x", "not valid JSON"),
        (b"01", "not valid JSON"),
        (b'"\t"', "not valid JSON"),
        (b"[" * 65 + b"]" * 65, "nested deeper"),
        (b'{"a":' * 65 + b"1" + b"}" * 65, "nested deeper"),
        (b"[" * 2**20, "nested deeper"),
        (b'[{"a":' * 100_000, "nested deeper"),
        (b"]" * 2**20, "not valid JSON"),
        (b'"' + b'\\"' * 2**19, "not valid JSON"),
        (b'"' * 2**20, "not valid JSON"),
    ],
    ids=lambda value: repr(value[:24]),
)  # fmt: skip
def test_what_is_not_strict_json_is_refused(body: bytes, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        parse_json(body)
    assert caught.value.details["field"] == "body"
    assert len(caught.value.message) < 200


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_json(b"\xef\xbb\xbf" + b'{"a": "\xef\xbb\xbf"}') == {"a": "\ufeff"}


def test_a_whole_surrogate_pair_is_text() -> None:
    assert parse_json(b'["\\ud83d\\ude00", "\\\\ud800"]') == ["😀", "\\ud800"]


def test_brackets_inside_strings_nest_nothing() -> None:
    text = "[{" * 1000 + '\\"'
    assert parse_json(json.dumps([text, text]).encode()) == [text, text]


def test_the_deepest_nesting_that_is_allowed_is_read() -> None:
    body = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert str(parse_json(body)).encode() == body


@given(st.integers(0, 150))
@example(MAX_DEPTH)
@example(MAX_DEPTH + 1)
def test_depth_is_counted_wherever_it_lies(depth: int) -> None:
    flat = b"[" + b"[]," * 100
    body = flat + b'"[[[",' + b'{"a":[' * (depth // 2) + b"{}" + b"]}" * (depth // 2) + b"]"
    deep = 2 + 2 * (depth // 2) > MAX_DEPTH
    if deep:
        with pytest.raises(InvalidInput, match="nested deeper"):
            parse_json(body)
    else:
        assert parse_json(body)


def test_a_caller_deep_in_the_stack_meets_no_recursion_error() -> None:
    body = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH

    def descend(levels: int) -> None:
        if levels:
            return descend(levels - 1)
        if sys.version_info >= (3, 12):  # functions in C no longer count
            assert parse_json(body) is not None
            return None
        with pytest.raises(InvalidInput, match="nested too deeply"):
            parse_json(body)
        return None

    deepest = 0
    frame = sys._getframe()
    while frame.f_back:
        deepest, frame = deepest + 1, frame.f_back
    descend(sys.getrecursionlimit() - deepest - 45)


@given(st.binary(max_size=60) | st.text('[]{}",:\\ue1.d8-', max_size=60).map(str.encode))
def test_no_bytes_break_the_parser(body: bytes) -> None:
    document: object = InvalidInput
    with suppress(InvalidInput):
        document = parse_json(body)
    assert document is InvalidInput or document == json.loads(body)
