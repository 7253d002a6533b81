"""Files named on the command line; `-` is stdin."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from swapcli.errors import InvalidInput

STDIN = "-"


def read_file(name: str) -> bytes:
    """The whole file. Raises `InvalidInput` where it cannot be read."""
    with _read_errors(name):
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()


def read_lines(name: str) -> Iterator[bytes]:
    """The lines of a file as they come, so that a pipe is answered line by line. Raises `InvalidInput`."""
    with _read_errors(name):
        lines = sys.stdin.buffer if name == STDIN else Path(name).open("rb")  # noqa: SIM115 (closed below)
    with lines:
        yield from lines


def write_atomically(name: str, text: str) -> None:
    """Whoever reads the file finds what it held before, or all of `text`. What is no file, such as a pipe, just gets
    the text. Raises `InvalidInput` where it cannot be written."""
    file = Path(name)
    try:
        if file.exists() and not file.is_file():
            file.write_text(text, encoding="utf-8")
            return
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with beside.open("x", encoding="utf-8") as stream:
                stream.write(text)
            os.replace(beside, file)
        finally:
            beside.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"cannot write {name}: {reason}", details={"file": name}) from None


def is_stdin_terminal() -> bool:
    """Would reading stdin wait for somebody to type?"""
    return sys.stdin.isatty()


@contextmanager
def _read_errors(name: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(f"cannot read {name}: {reason}", details={"file": name}) from error
