"""Text that begins with a byte order mark, as editors and shells of Windows write it."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE

_UTF16_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)


def is_utf16(content: bytes) -> bool:
    """Return whether a text begins with the byte order mark of UTF-16."""
    return content.startswith(_UTF16_MARKS)


def to_plain_utf8(content: bytes) -> bytes:
    """Return the bytes of a text in UTF-8 without its byte order mark.

    Text in UTF-16 with such a mark, which `>` of Windows PowerShell writes, is converted. Anything else is returned as
    it is: its parser shows what is wrong with it.
    """
    if is_utf16(content):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError:
            return content
    return content.removeprefix(BOM_UTF8)
