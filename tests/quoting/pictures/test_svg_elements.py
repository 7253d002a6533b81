"""Elements of pictures are well-formed XML in ASCII, whatever their text is."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.text import printable
from swapcli.quoting.pictures.svg_elements import px, text_element


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_text_is_read_back(text: str) -> None:
    element = text_element("note", 1.0, 2.5, "end", text)
    assert element.isascii()
    assert ElementTree.fromstring(element).text == "\n".join(map(printable, text.split("\n")))


def test_an_empty_text_has_no_element() -> None:
    assert text_element("note", 1.0, 2.0, "end", "") == ""


def test_lengths_have_at_most_two_decimals() -> None:
    assert [px(each) for each in (1.0, 2.5, 1 / 3, 100.0)] == ["1", "2.5", "0.33", "100"]
