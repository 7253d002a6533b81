"""Files named on the command line; `-` is stdin. Text may begin with a byte order mark."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from errno import ENOENT
from io import UnsupportedOperation
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from swapcli import InvalidInput, InvalidOption
from swapcli.core.encoding.byte_order_mark import is_utf16, to_plain_utf8
from swapcli.core.encoding.disk_errors import read_error, write_error
from swapcli.core.encoding.text import printable

STDIN = "-"
MAX_LISTED_FILES = 2_000
"""Number of files in a large folder that are compared with a mistyped name."""


def read_file(name: str) -> bytes:
    """Read a whole file. Raises `InvalidInput`."""
    with _read_errors(name):
        content = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    return to_plain_utf8(content)


def read_bounded_file(name: str, max_bytes: int) -> bytes:
    """Read a whole file of at most `max_bytes`. Raises `InvalidInput`."""
    with _read_errors(name):
        if name == STDIN:
            content = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise InvalidInput(f"{name} is larger than {max_bytes // 2**20} MiB", details={"file": name})
    return to_plain_utf8(content)


def read_lines(name: str) -> Iterator[bytes]:
    """Yield the lines of a file as they arrive, so that results for a pipe appear line by line.

    A line ends with LF, CR LF or CR, which is included. Raises `InvalidInput`.
    """
    with _read_errors(name), _open_stdin() if name == STDIN else Path(name).open("rb") as lines:
        first = lines.readline()
        if is_utf16(first):  # its line ends are not single bytes
            yield from to_plain_utf8(first + lines.read()).splitlines(keepends=True)
            return
        yield from to_plain_utf8(first).splitlines(keepends=True)
        for line in lines:
            yield from line.splitlines(keepends=True)


def decode_lines(lines: Iterable[bytes], shown: str) -> Iterator[str]:
    """Yield the lines of a UTF-8 text, decoded. Raises `InvalidInput` with the number of a line in another encoding.
    `shown` is the file's name in messages."""
    for number, line in enumerate(lines, start=1):
        try:
            text = line.decode()
            problem = "contains a NUL character" if "\0" in text else ""
        except UnicodeDecodeError as error:
            text, problem = "", f"is not UTF-8: byte {error.start + 1} is 0x{line[error.start]:02x}"
        if problem:
            raise InvalidInput(
                f"line {number} of {shown} {problem}",
                hint="save the file as UTF-8",
                details={"line": number},
            )
        yield text


def shown_name(name: str) -> str:
    """Return a file's name as shown in messages."""
    return "stdin" if name == STDIN else printable(name)


def _open_stdin() -> BinaryIO:
    """Return stdin as a separate stream. Processes forked while a thread reads it close `sys.stdin`, which would wait
    forever for that thread's lock."""
    try:
        return open(sys.stdin.fileno(), "rb", closefd=False)
    except UnsupportedOperation:
        return sys.stdin.buffer


def is_regular(name: str) -> bool:
    """Return whether a file already has all of its content, unlike a pipe."""
    try:
        return name != STDIN and Path(name).is_file()
    except (OSError, ValueError):
        return False


def write_text_file(name: str, text: str, *, mode: int = 0o666) -> None:
    """Write a file, or the target of a symbolic link. Raises `InvalidInput`, `InputOutputError`."""
    from swapcli.state.file_writing import write_text_file

    write_text_file(name, text, mode=mode)


def check_folder(option: str, name: str) -> None:
    """Raise an error if a file named by an option cannot be created. Call this before any work that could be lost.

    Raises `InvalidOption` for an empty name, `InputOutputError` if the folder is missing.
    """
    require_file_name(option, name)
    try:
        if not Path(name).parent.is_dir():
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
    except (OSError, ValueError) as error:
        raise write_error(name, error) from None


def require_file_name(option: str, name: str) -> None:
    """Raise `InvalidOption` if the file name of an option is empty."""
    if not name:
        raise InvalidOption(f"{option} needs a file name", hint=f"write {option} FILE", details={"option": option})


def is_stdin_terminal() -> bool:
    """Return whether stdin is a terminal, so that reading it would wait for input."""
    return sys.stdin.isatty()


@contextmanager
def _read_errors(name: str) -> Iterator[None]:
    if not name:
        raise InvalidInput("the file name is empty")
    try:
        yield
    except (OSError, ValueError) as error:
        failure = read_error(name, error)
        if isinstance(error, FileNotFoundError):
            failure.hint = _near_files(name) or failure.hint
        raise failure from error


def _near_files(name: str) -> str:
    """Return the question whether a similar file in the same folder is meant; empty if there is none."""
    from swapcli.core.encoding.closest import closest_names, did_you_mean

    folder = os.path.dirname(name)
    try:
        names = [entry.name for entry in islice(os.scandir(folder or "."), MAX_LISTED_FILES)]
    except (OSError, ValueError):
        return ""
    return did_you_mean(printable(os.path.join(folder, each)) for each in closest_names(os.path.basename(name), names))
