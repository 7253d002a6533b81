"""Markdown of the pages: escaped text and tables."""

from __future__ import annotations

import re
from collections.abc import Iterable

from swapcli.faces.cli.help_topics import ORDER

_CODE = re.compile(r"(`[^`]+`)")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|$~])")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*\w")
_REFERENCE = re.compile(rf"swapcli\s+help\s+({'|'.join(map(re.escape, ORDER))})\b")


def escape(text: str) -> str:
    """Return plain text as Markdown that shows it. Code in backticks stays code, and options become it."""
    return "".join(part if _CODE.fullmatch(part) else _escape(part) for part in _CODE.split(text))


def _escape(text: str) -> str:
    return _OPTION.sub(r"`\g<0>`", _SPECIAL.sub(r"\\\1", text))


def with_references(text: str, folder: str = "") -> str:
    """Let each `swapcli help TOPIC` lead to the page of the topic, in that folder."""
    return _REFERENCE.sub(lambda found: f"[{' '.join(found[0].split())}]({folder}{found[1]}.md)", text)


def table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table; cells are Markdown."""
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))
