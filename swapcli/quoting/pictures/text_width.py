"""Estimate the width of text in a proportional sans-serif font, and cut text to a width."""

from __future__ import annotations

from unicodedata import combining, east_asian_width

from swapcli.core.encoding.text import ELLIPSIS

_NARROW, _WIDE = frozenset("fijltrI.,:;!'|()[]/ "), frozenset("mwMW@%")
_NARROW_EM, _LOWER_EM, _UPPER_EM, _WIDE_EM, _FULL_EM = 0.38, 0.60, 0.70, 0.92, 1.05
"""Widths in em, rounded up from DejaVu Sans, which is wider than the fonts of common systems."""
BOLD = 1.08  # factor on the width of text


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Return an upper estimate of the width of a text in pixels, in a font of `size` pixels."""
    return sum(map(_em, text)) * size * (BOLD if is_bold else 1)


def fit_text(text: str, width: float, size: float, *, is_bold: bool = False) -> str:
    """Return `text`, cut to what fits into `width` if necessary, with an ellipsis."""
    if text_width(text, size, is_bold=is_bold) <= width:
        return text
    end, room = 0, width - text_width(ELLIPSIS, size, is_bold=is_bold)
    while end < len(text) and (room := room - text_width(text[end], size, is_bold=is_bold)) >= 0:
        end += 1
    return text[:end].rstrip() + ELLIPSIS


def wrap_text(text: str, width: float, size: float, max_lines: int) -> list[str]:
    """Divide `text` at spaces into lines that fit into `width`. An ellipsis replaces the rest if there are too many
    lines."""
    lines: list[str] = []
    for word in text.split() or [""]:
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(joined, size) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    if len(lines) > max_lines:
        lines[max_lines - 1 :] = [" ".join(lines[max_lines - 1 :])]
    return [fit_text(line, width, size) for line in lines]


def _em(character: str) -> float:
    if combining(character):
        return 0.0
    if character in _NARROW:
        return _NARROW_EM
    if character in _WIDE or character == ELLIPSIS:
        return _WIDE_EM
    if east_asian_width(character) in "WF":
        return _FULL_EM
    if character.isascii():
        return _UPPER_EM if character.isupper() else _LOWER_EM
    return _WIDE_EM
