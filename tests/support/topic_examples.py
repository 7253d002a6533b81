"""The examples in help topics, such as files to copy."""

from __future__ import annotations

import re
from textwrap import dedent

from swapcli.faces.cli.help_topics import topic_text

_BLOCK = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


def topic_example(topic: str, first_line: str) -> str:
    """Return the indented example in a topic that begins with `first_line`."""
    blocks = [dedent(block).strip() for block in _BLOCK.findall(topic_text(topic))]
    (found,) = [block for block in blocks if block.startswith(first_line)]
    return found + "\n"
