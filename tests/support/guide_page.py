"""A page of `docs` whose commands the tests run: the commands, the output shown below them, and files to write.

A `console` block has commands after `$ `, each followed by its output, in which `...` stands for any text and a line
`...` for any lines. The commands of a block run in the background if the text before it ends with "second terminal:".
Any other block is a file if the text before it ends with its name, as in "Write `orders.csv`:".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(r"(?P<before>[^\n]*)\n+```(?P<kind>\w+)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE_NAME = re.compile(r"`([\w./-]+)`:$")
_VARYING = {
    r"0x[0-9a-fA-F]{64,}": "BYTES",
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|Z)?": "TIME",
    r"\b\d[\d.]* ?(ms|s|seconds?|minutes?|min|h)\b": "AGE",
    r"\$0?\.\d+|[\d.,]+ ETH at [\d.]+ gwei": "FEE",
    r"\bblock \d[\d,]*": "block N",
    r"[ \t]+": " ",
}
"""Text that differs from run to run, and its placeholder in comparisons."""


@dataclass(frozen=True)
class Step:
    """A command of a page with the output shown; or the text of a file, whose name is then `file`."""

    text: str
    shown: str = ""
    file: str = ""
    in_background: bool = False

    @property
    def must_fail(self) -> bool:
        """Whether the page shows an error, a danger or a rejection."""
        return re.search(r"^(error: |DANGER|Rejected: )", self.shown, re.MULTILINE) is not None


def read_steps(page: Path) -> list[Step]:
    """Return the steps of a page, in their order."""
    steps: list[Step] = []
    for block in _BLOCK.finditer(page.read_text()):
        if block["kind"] == "console":
            steps += _commands(block["body"], in_background=block["before"].endswith("second terminal:"))
        elif name := _FILE_NAME.search(block["before"]):
            steps.append(Step(block["body"], file=name[1]))
    return steps


def _commands(body: str, *, in_background: bool) -> Iterator[Step]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        length = next(number for number, line in enumerate(lines, 1) if not line.endswith("\\\n"))
        yield Step("".join(lines[:length]), "".join(lines[length:]), in_background=in_background)


def is_shown(step: Step, printed: str) -> bool:
    """Return whether a page's output matches the command's, except for ages, times, blocks, hashes and fees.

    A command in the background may print more.
    """
    shown = [*normal(step.shown).splitlines(), *(["..."] if step.in_background else [])]
    pattern = "".join(map(_pattern, shown))
    return re.fullmatch(pattern, normal(printed) + "\n") is not None


def _pattern(line: str) -> str:
    return "(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n"


def normal(text: str) -> str:
    """Return a text without the parts that differ from run to run, and without surrounding blanks."""
    for pattern, word in _VARYING.items():
        text = re.sub(pattern, word, text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
