"""Convert text with a byte order mark, as Windows editors and shells write it, to plain UTF-8."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

_UTF16_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)


def is_utf16(content: bytes) -> bool:
    """Return whether a text begins with a UTF-16 byte order mark."""
    return content.startswith(_UTF16_MARKS)


def to_plain_utf8(content: bytes) -> bytes:
    """Return a text as UTF-8 bytes without a byte order mark.

    UTF-16 text with a byte order mark, as written by `>` in Windows PowerShell, is converted. Any other bytes are
    returned unchanged, and their parser reports the problem.
    """
    if is_utf16(content):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError:
            return content
    return content.removeprefix(BOM_UTF8)
