"""The file of `--output`, which receives the output of a successful command instead of stdout."""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from swapcli import InvalidOption
from swapcli.faces.cli.files import STDIN as STDOUT
from swapcli.faces.cli.files import check_folder, require_file_name, write_text_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Never, TextIO

    from swapcli.faces.cli.output import FormatOptions

_FORMATS: Final = {
    ".json": "json", ".jsonl": "json", ".ndjson": "json", ".csv": "csv",
    ".svg": "svg", ".mmd": "mermaid", ".mermaid": "mermaid",
}  # fmt: skip
"""The formats that file name extensions imply."""
_JSON_FORMATS: Final = frozenset({"json", "safe", "wallet-calls", "web3"})
"""The formats that a .json file can contain."""
_NEVER_WRITTEN: Final = frozenset(
    {
        ".bmp", ".doc", ".docx", ".eps", ".gif", ".gz", ".htm", ".html", ".jpeg", ".jpg", ".ods", ".odt", ".parquet",
        ".pdf", ".png", ".ppt", ".pptx", ".ps", ".rtf", ".tex", ".tif", ".tiff", ".toml", ".tsv", ".webp", ".xls",
        ".xlsx", ".xml", ".yaml", ".yml", ".zip",
    }
)  # fmt: skip
"""Extensions of formats that no command writes."""
_FORMAT_WORDS: Final = frozenset(
    {each[1:] for each in (*_FORMATS, *_NEVER_WRITTEN)} | {"plain", "table", "text", "cast", "web3"}
)
"""Names that mean a format rather than a file, as in `kubectl -o json`."""


class OutputFile(StringIO):
    """A replacement for stdout until the command ends. It is not a terminal, so tables and colors must be requested."""

    def __init__(self, name: str, stdout: TextIO) -> None:
        super().__init__()
        self._name, self._stdout = name, stdout

    def end(self, *, has_succeeded: bool) -> None:
        """Restore stdout, and write the file atomically if the command succeeded. Raises `InputOutputError`."""
        sys.stdout = self._stdout
        if has_succeeded:
            write_text_file(self._name, self.getvalue())


def open_output_file(name: str | None) -> None:
    """Collect output for a file from now on. Raises `InputOutputError` if the file cannot be created in its folder."""
    if name is None or name == STDOUT:
        return
    check_folder("--output", name)
    sys.stdout = OutputFile(name, sys.stdout)


def end_output_file(*, has_succeeded: bool) -> None:
    """Finish the command's output file, if there is one. Raises `InputOutputError`."""
    if isinstance(sys.stdout, OutputFile):
        sys.stdout.end(has_succeeded=has_succeeded)


def format_of_file(
    name: str, requested: FormatOptions, supported: Sequence[str], *, option: str = "--output"
) -> str | None:
    """Return the format that the file name given for `option` implies, if any.

    `supported` are the formats that the command can print. Raises `InvalidOption` if the implied format is not one of
    them, or differs from the `requested` one.
    """
    check_file_name(option, name, supported)
    suffix = _suffix(name)
    found, chosen = _FORMATS.get(suffix), requested.chosen()
    if found is not None and found not in supported:
        raise InvalidOption(f"{option}: this command does not print {found}", hint=_ending(option, supported))
    if found and chosen and chosen != found and not (found == "json" and chosen in _JSON_FORMATS):
        raise InvalidOption(
            f"{option}: a {suffix} file cannot contain {chosen}",
            hint="remove the format, or end the file name in .txt",
            details={"option": option},
        )
    return found


def check_file_name(option: str, name: str, supported: Sequence[str]) -> None:
    """Raise `InvalidOption` if a file name is empty, is the name of a format, or ends like a format that no command
    writes.

    `supported` are the formats that the command can print.
    """
    require_file_name(option, name)
    if name.lower() in _FORMAT_WORDS:
        raise InvalidOption(
            f"{option} takes a file name, but {name} is a format",
            hint=f"give a file name, as in {option} result.{_example(name)}; for a file called {name}, write ./{name}",
            details={"option": option},
        )
    if _suffix(name) in _NEVER_WRITTEN:
        raise InvalidOption(
            f"{option}: swapcli does not write {_suffix(name)} files",
            hint=_ending(option, supported),
            details={"option": option},
        )


def _ending(option: str, supported: Sequence[str]) -> str:
    """Return the hint with the usual extensions of the formats that a command can print."""
    results = option != "--output"  # one result per line, and never plain text
    unusual = {".ndjson", ".mermaid"} | (set() if results else {".jsonl"})
    *first, last = [each for each, name in _FORMATS.items() if name in supported and each not in unusual] + (
        [] if results else [".txt"]
    )
    return f"end the name in {', '.join(first)} or {last}" if first else f"end the name in {last}"


def _example(word: str) -> str:
    """Return the file name extension for a format."""
    suffix = f".{word.lower()}"
    return suffix[1:] if suffix in _FORMATS else "txt"


def refuse_stream(cause: str, hint: str = "end the command line with > FILE") -> Never:
    """Raise `InvalidOption`, because a file takes a single result, and `cause` prints many."""
    raise InvalidOption(f"--output writes a single result to a file, but {cause} prints many", hint=hint)


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()
