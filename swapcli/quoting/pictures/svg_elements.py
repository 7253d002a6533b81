"""The parts shared by all SVG pictures: colors for light and dark mode, the font, text and lengths."""

from __future__ import annotations

from html import escape

from swapcli.core.encoding.text import printable_lines

NOTE_SIZE = 11.0
"""The smallest text size that reads well on a phone."""
TITLE_SIZE = 15.0
SURFACE, TEXT, MUTED, BAR = (
    ("#ffffff", "#131a24"),
    ("#18202b", "#eef2f7"),
    ("#4a5565", "#b4bfcc"),
    ("#18202b", "#eef2f7"),
)
"""Colors in light and in dark mode."""
HUES = (
    ("#2a6df0", "#6ea1ff"), ("#0d9488", "#3ccfbb"), ("#b7791f", "#f0b357"), ("#c0418d", "#f08cc6"),
    ("#7450d6", "#ac8fff"), ("#4d8f27", "#8bd06a"), ("#cf4a3f", "#ff9186"), ("#1583b0", "#5cc4ee"),
)  # fmt: skip
"""One color for each protocol, in the order in which protocols appear."""
FONT = 'font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif'
"""The font of all text, as a CSS declaration."""


def text_element(name: str, x: float, y: float, anchor: str, text: str) -> str:
    """Return a line of text with the CSS class `name`, or an empty text if `text` is empty."""
    return (
        f'<text class="{name}" x="{px(x)}" y="{px(y)}" text-anchor="{anchor}">{escape_text(text)}</text>'
        if text
        else ""
    )


def px(number: float) -> str:
    """Format a length with at most two decimals."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def escape_text(text: str) -> str:
    """Escape text for XML in ASCII, so that any stream can encode it.

    Characters that XML does not allow are unprintable, and have already been replaced.
    """
    escaped = escape(printable_lines(text), quote=True)
    return escaped.encode("ascii", "xmlcharrefreplace").decode()
