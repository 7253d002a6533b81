"""Text in UTF-8 loses its byte order mark, and text in UTF-16 becomes UTF-8; other bytes stay as they are."""

from __future__ import annotations

from codecs import BOM_UTF16_LE

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.byte_order_mark import to_plain_utf8

MARKS = ("\ufeff",)


@given(st.text(), st.sampled_from(["utf-8-sig", "utf-16"]))
def test_a_marked_text_is_the_same_text(text: str, encoding: str) -> None:
    assert to_plain_utf8(text.encode(encoding)).decode() == text


@given(st.text().filter(lambda text: not text.startswith(MARKS)))
def test_text_without_a_mark_stays_as_it_is(text: str) -> None:
    assert to_plain_utf8(text.encode()) == text.encode()


@pytest.mark.parametrize("content", [BOM_UTF16_LE + b"a", BOM_UTF16_LE + b"\x00\xd8", b"\xff", b"\x00a", b""])
def test_what_is_no_text_stays_as_it_is(content: bytes) -> None:
    assert to_plain_utf8(content) == content
