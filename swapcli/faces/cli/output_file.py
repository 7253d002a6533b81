"""The file of `--output`, which gets what a command would print to stdout, once it has succeeded."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from swapcli.core.errors import InvalidOption
from swapcli.faces.cli.files import STDIN as STDOUT
from swapcli.faces.cli.files import check_folder, write_atomically

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Never, TextIO

_FORMATS: Final = {".json": "json", ".csv": "csv"}
"""The formats that the end of a file's name stands for."""


class OutputFile(StringIO):
    """Takes the place of stdout until the command ends. It is no terminal, so tables and colors must be asked for."""

    def __init__(self, name: str, stdout: TextIO) -> None:
        super().__init__()
        self._name, self._stdout = name, stdout

    def end(self, *, has_succeeded: bool) -> None:
        """Restore stdout, and write the file atomically if the command has succeeded. Raises `InputOutputError`."""
        sys.stdout = self._stdout
        if has_succeeded:
            write_atomically(self._name, self.getvalue())


def open_output_file(name: str | None) -> None:
    """Collect what is printed from now on for a file. Raises `InputOutputError` if its folder cannot have it."""
    if name is None or name == STDOUT:
        return
    check_folder(name)
    sys.stdout = OutputFile(name, sys.stdout)


def end_output_file(*, has_succeeded: bool) -> None:
    """End the file of the command, if there is one. Raises `InputOutputError`."""
    if isinstance(sys.stdout, OutputFile):
        sys.stdout.end(has_succeeded=has_succeeded)


def format_of_file(name: str | None, supported: Sequence[str]) -> str | None:
    """Return the format that a file's name stands for, if any. Raises `InvalidOption` if the command has no such."""
    found = _FORMATS.get(_suffix(name))
    if found is not None and found not in supported:
        raise InvalidOption(f"--output: this command prints no {found}", hint=f"it prints {', '.join(supported)}")
    return found


def picture_of_file(name: str | None) -> str | None:
    """Return "svg" or "mermaid" if a file's name stands for such a picture."""
    return {".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid"}.get(_suffix(name))


def refuse_stream(cause: str, hint: str = "end the command line with > FILE") -> Never:
    """Raise `InvalidOption`, since what `cause` prints has no end."""
    raise InvalidOption(f"--output writes one result to a file, and {cause} prints many", hint=hint)


def _suffix(name: str | None) -> str:
    return "" if name is None else PurePath(name).suffix.lower()
