"""Replacements for characters that a stream cannot encode, for example on an ASCII terminal."""

from __future__ import annotations

SIMILAR = "swapcli-similar"
"""The name of the stream error handler."""

_SIMILAR = str.maketrans("→▶←–—−’‘“”×≈≤≥·•─│├└┌┐┘┤┬┴┼█▏▎▍▌▋▊▉░▒▓", "".join(">><---''\"\"x~<>.*-||`..'|.'+#||||###.::"))
_WORDS = {"…": "..."}


def replace_with_similar(error: UnicodeError) -> tuple[str, int]:
    """Return similar ASCII characters for those that cannot be encoded, and where to continue. Others become "?".

    No token symbol becomes another token's symbol, because no replacement is alphanumeric, except that of the
    multiplication sign.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    similar = (_WORDS.get(character) or character.translate(_SIMILAR) for character in text)
    return "".join(each if each.isascii() else "?" for each in similar), error.end
