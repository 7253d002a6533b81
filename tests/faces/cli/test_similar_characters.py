"""A terminal without Unicode gets similar characters, and no symbol becomes another one."""

from __future__ import annotations

import codecs

from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.similar_characters import SIMILAR, replace_with_similar

codecs.register_error(f"{SIMILAR}-test", replace_with_similar)


@given(st.text())
def test_any_text_is_encoded(text: str) -> None:
    encoded = text.encode("ascii", f"{SIMILAR}-test").decode()
    assert "".join(each for each in text if each.isascii()) == encoded or not text.isascii()


def test_arrows_and_lines_have_similar_ones_and_letters_have_not() -> None:
    assert "a — b…".encode("ascii", f"{SIMILAR}-test") == b"a - b..."
    assert "USD₮ еth".encode("ascii", f"{SIMILAR}-test") == b"USD? ?th"
