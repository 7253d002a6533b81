"""Text for people: shortened, and without characters that a terminal would interpret."""

from __future__ import annotations

ELLIPSIS = "…"
SHOWN_CHARACTERS = 40
"""Characters of a text that a message quotes from a payload or an option: enough to recognize it."""
SHOWN_INPUT_CHARACTERS = 80
"""Characters of an amount or an address that a message quotes: a uint256 has 78 digits, an address at most 66."""
SHOWN_VALUE_CHARACTERS = 84
"""Characters of a malformed value that a message quotes: a word in hex and some more."""


def truncate(text: str, max_characters: int) -> str:
    """Return the first `max_characters` characters of `text`, followed by an ellipsis if it is longer.

    Example: `truncate("0x0123456789", 6)` is `"0x0123…"`.
    """
    return text if len(text) <= max_characters else text[:max_characters] + ELLIPSIS


def shorten_id(identifier: str) -> str:
    """Return an address or an id of 32 bytes as people recognize it: `0xb2cc…dc59`."""
    return f"{identifier[:6]}{ELLIPSIS}{identifier[-4:]}".lower()


def printable(text: str) -> str:
    """Replace each unprintable character by "?", so that text from markets or services cannot control a terminal.

    These are also the characters that reorder or hide the text around them, such as U+202E.
    """
    return "".join(character if character.isprintable() else "?" for character in text)


def printable_lines(text: str) -> str:
    """Make each line of `text` printable, as `printable`; line ends stay."""
    return "\n".join(map(printable, text.split("\n")))


def single_line(text: str) -> str:
    """Return `text` on one line: runs of whitespace and unprintable characters become one space each."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())
