"""The width of a picture in pixels."""

from __future__ import annotations

from swapcli.core.errors import InvalidOption

MIN_WIDTH, DEFAULT_WIDTH, MAX_WIDTH = 320, 720, 1_600
"""The width of the narrowest phone, of a column of text, and the width beyond which lines are too long to follow."""


def parse_width(name: str, text: str | None) -> int:
    """Parse the width of a picture in pixels. None gives the default. Raises `InvalidOption` for the option `name`."""
    if text is None:
        return DEFAULT_WIDTH
    width = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MAX_WIDTH)) else 0
    if not MIN_WIDTH <= width <= MAX_WIDTH:
        raise InvalidOption(
            f"{name} must be a whole number from {MIN_WIDTH} to {MAX_WIDTH}", details={"field": name.lstrip("-")}
        )
    return width
