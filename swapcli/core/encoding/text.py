"""Text for people: shortened, and free of characters that a terminal would interpret."""

from __future__ import annotations

ELLIPSIS = "…"
SHOWN_CHARACTERS = 40
"""The number of characters that a message quotes from a payload or an option: enough to recognize it."""
SHOWN_INPUT_CHARACTERS = 80
"""The number of characters that a message quotes from an amount or address: a uint256 has 78 digits."""
SHOWN_VALUE_CHARACTERS = 84
"""The number of characters that a message quotes from a malformed value: slightly more than a word in hex."""


def truncate(text: str, max_characters: int) -> str:
    """Return the first `max_characters` characters of `text`, followed by an ellipsis if it is longer.

    Example: `truncate("0x0123456789", 6)` is `"0x0123…"`.
    """
    return text if len(text) <= max_characters else text[:max_characters] + ELLIPSIS


def shorten_id(identifier: str) -> str:
    """Return an address or a 32-byte ID in the short form that people recognize: `0xb2cc…dc59`."""
    return f"{identifier[:6]}{ELLIPSIS}{identifier[-4:]}".lower()


def printable(text: str) -> str:
    """Replace each unprintable character with "?", so that text from markets or services cannot control a terminal.

    Unprintable characters include those that reorder or hide the text around them, such as U+202E.
    """
    return "".join(character if character.isprintable() else "?" for character in text)


def printable_lines(text: str) -> str:
    """Make each line of `text` printable, as `printable` does, and keep the line ends."""
    return "\n".join(map(printable, text.split("\n")))


def single_line(text: str) -> str:
    """Return `text` on one line, with one space for each run of whitespace and unprintable characters."""
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, which is plural unless the count is 1: "1 pool", "2,000 pools"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
