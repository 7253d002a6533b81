"""Text is wrapped to the width of the terminal, and loses no word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.faces.cli.terminal import DEFAULT_WIDTH, reflow, terminal_width, wrap_message

words = st.lists(st.text("abcxyz.,", min_size=1, max_size=12), max_size=40).map(" ".join)


@given(words, st.integers(16, 100))
def test_wrapped_messages_fit_and_lose_nothing(text: str, width: int) -> None:
    wrapped = wrap_message(text, width)
    assert wrapped.split() == text.split()
    assert all(len(line) <= width for line in wrapped.splitlines())


@given(words, st.integers(16, 100))
def test_reflowed_pages_fit_and_lose_nothing(text: str, width: int) -> None:
    page = reflow(f"TITLE\n\n{text}\n", width)
    assert page.split() == ["TITLE", *text.split()]
    assert all(len(line) <= width for line in page.splitlines())


@pytest.mark.parametrize(
    ("columns", "width"), [("120", 120), ("0", DEFAULT_WIDTH), ("-5", DEFAULT_WIDTH), ("9" * 30, DEFAULT_WIDTH)]
)
def test_a_width_that_is_none_counts_as_unknown(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_width() == width


def test_a_line_in_capitals_within_a_paragraph_is_no_heading() -> None:
    page = reflow("TITLE\n\nAn entry of the list `warnings` in the\nJSON.\n\nNEXT HEADING\n", 30)
    assert page == "TITLE\n\nAn entry of the list\n`warnings` in the JSON.\n\nNEXT HEADING\n"


def test_the_texts_of_long_codes_are_aligned() -> None:
    page = "CODES\n  SHORT    one\n  LONG_CODE_HERE  two\n           more\n\n  OTHER    three\n"
    aligned = "CODES\n  SHORT           one\n  LONG_CODE_HERE  two\n                  more\n\n  OTHER    three\n"
    assert reflow(page, 80) == aligned
