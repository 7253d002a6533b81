"""Text is shortened and put on one line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapcli.core.encoding.text import counted, printable, printable_lines, single_line, truncate


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("abc", "abc"), ("abcd", "abc…"), ("abcdefgh", "abc…")])
def test_only_longer_text_is_truncated(text: str, shown: str) -> None:
    assert truncate(text, 3) == shown


@given(st.text(max_size=50))
def test_a_single_line_is_printable_and_keeps_printable_words(text: str) -> None:
    line = single_line(text)
    assert line.isprintable()
    assert line == single_line(line)
    assert line.split() == "".join(c if c.isprintable() else " " for c in text).split()


def test_control_characters_separate_words() -> None:
    assert single_line(" one\ttwo\n\x1b[31mthree ") == "one two [31mthree"


@given(st.text())
def test_cleaned_text_cannot_steer_a_terminal(text: str) -> None:
    cleaned = printable(text)
    assert cleaned.isprintable()
    assert len(cleaned) == len(text)
    lines = printable_lines(text).split("\n")
    assert lines == [printable(line) for line in text.split("\n")]


BIDI_CONTROLS = [*map(chr, (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))]
"""All characters with the Unicode property Bidi_Control."""


@pytest.mark.parametrize("character", BIDI_CONTROLS)
def test_no_name_reorders_the_text_around_it(character: str) -> None:
    assert printable(f"a{character}b") == "a?b"
    assert single_line(f"a{character}b") == "a b"


@pytest.mark.parametrize(("count", "text"), [(0, "0 pools"), (1, "1 pool"), (2, "2 pools"), (2000, "2,000 pools")])
def test_a_count_agrees_with_its_noun(count: int, text: str) -> None:
    assert counted(count, "pool") == text
