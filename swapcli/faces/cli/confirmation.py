"""Ask for confirmation on a terminal before a command destroys something."""

from __future__ import annotations

import sys

from swapcli import InvalidOption
from swapcli.faces.cli.files import is_stdin_terminal

_YES = ("y", "yes")


def confirm(question: str, is_confirmed: bool) -> None:
    """Ask `question` on the terminal, unless the option --yes has already answered it.

    Raises `InvalidOption` if the answer is not yes, or if there is no terminal to ask on.
    """
    if is_confirmed:
        return
    if not (is_stdin_terminal() and sys.stderr.isatty()):
        raise InvalidOption("confirmation needs a terminal", hint="add --yes")
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in _YES:
        raise InvalidOption("not confirmed, so nothing was changed", hint="type y, or add --yes")
