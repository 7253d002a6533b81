"""Syntax trees of source files, for tests of rules about the code."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

_EMPTY = ast.Module(body=[], type_ignores=[])


@cache
def parsed(file: Path) -> ast.Module:
    """Return the tree of a file."""
    return ast.parse(file.read_text())


def parsed_with(file: Path, pattern: str) -> ast.Module:
    """Return the tree of a file whose text has a match of a pattern, else an empty tree: to parse all takes seconds."""
    return parsed(file) if re.search(pattern, file.read_text()) else _EMPTY
