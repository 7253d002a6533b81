"""A picture is as wide as a telephone or a screen."""

from __future__ import annotations

import pytest

from swapcli.core.errors import InvalidOption
from swapcli.quoting.pictures.picture_width import DEFAULT_WIDTH, MAX_WIDTH, MIN_WIDTH, parse_width


def test_widths_within_the_limits_are_taken() -> None:
    assert parse_width("--width", None) == DEFAULT_WIDTH
    for width in (MIN_WIDTH, 1_000, MAX_WIDTH):
        assert parse_width("--width", str(width)) == width


@pytest.mark.parametrize("text", ["", "319", "1601", "-720", "720.0", "٧٢٠", "9" * 5_000, "wide"])
def test_other_widths_are_refused(text: str) -> None:
    with pytest.raises(InvalidOption, match=r"^--width must be a whole number from 320 to 1600$"):
        parse_width("--width", text)
