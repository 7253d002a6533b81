"""Help topics, which are plain text for a terminal, in Markdown."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import dedent

from tests.generate.site.markdown import escape, with_references

_HEADING = re.compile(r"[A-Z][A-Z0-9 ,'&()/-]*[A-Z)]")


def topic_page(text: str) -> str:
    """Return a topic as a page: its title is the first line, headings are lines of capitals, code is indented."""
    title, _, rest = text.partition("\n")
    return "\n\n".join([f"# {escape(title)}", *_blocks(rest)]) + "\n"


def _blocks(text: str) -> Iterator[str]:
    for is_indented, lines in groupby(_kinds(text), key=lambda line: line[0]):
        block = "\n".join(line for _, line in lines).strip("\n")
        if not block.strip():
            continue
        if is_indented:
            code = dedent(block)
            yield f"````{_language(code)}\n{code}\n````"
        else:
            yield from _prose(block)


def _kinds(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each line with whether it is indented; an empty line is if the line before and the next one are."""
    lines = text.splitlines()
    following, is_next_indented = [], False
    for line in reversed(lines):
        is_next_indented = line.startswith("  ") if line else is_next_indented
        following.append(is_next_indented)
    is_indented = False
    for line, is_next in zip(lines, reversed(following), strict=True):
        is_indented = line.startswith("  ") if line else is_indented and is_next
        yield is_indented, line


def _prose(block: str) -> Iterator[str]:
    paragraph: list[str] = []
    for line in [*block.splitlines(), ""]:
        is_heading = _HEADING.fullmatch(line) is not None
        if paragraph and (is_heading or not line):
            yield with_references(escape("\n".join(paragraph)))
            paragraph = []
        if is_heading:
            yield f"## {_title(line)}"
        elif line:
            paragraph.append(line)


_NAMES = ("API", "HTTP", "JSON", "USD", "ENS", "RPC", "EVM", "CSV", "SDK", "URL")


def _title(line: str) -> str:
    """Return a heading of capitals as a title: `API KEYS` as `API keys`."""
    words = [word if word.strip(",()") in _NAMES else word.lower() for word in line.split()]
    title = " ".join(words)
    return escape(title[0].upper() + title[1:])


def _language(code: str) -> str:
    if re.match(r"\$ ", code):
        return "console"
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return "text"
    is_program = any(isinstance(node, ast.Import | ast.ImportFrom | ast.Call) for node in ast.walk(tree))
    return "python" if is_program else "text"
