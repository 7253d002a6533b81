"""What a stream prints in place of the characters that it cannot encode, such as on a terminal with ASCII only."""

from __future__ import annotations

SIMILAR = "swapcli-similar"
"""The name of the error handler of a stream."""

_SIMILAR = str.maketrans("→▶←–—−’‘“”×≈≤≥·•─│├└┌┐┘┤┬┴┼█▏▎▍▌▋▊▉░▒▓", "".join(">><---''\"\"x~<>.*-||`..'|.'+#||||###.::"))
_WORDS = {"…": "..."}


def replace_with_similar(error: UnicodeError) -> tuple[str, int]:
    """Return similar ASCII characters, and where to continue. All others become "?".

    No symbol of a token becomes that of another one: none of these is alphanumeric, except the sign of a product.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    similar = (_WORDS.get(character) or character.translate(_SIMILAR) for character in text)
    return "".join(each if each.isascii() else "?" for each in similar), error.end
