"""The file to which a long command writes its results. Only one process may write to it at a time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from swapcli import Interrupted, InvalidOption
from swapcli.core.encoding.disk_errors import write_error
from swapcli.faces.cli.files import STDIN
from swapcli.faces.cli.output import OutputFormat
from swapcli.faces.cli.output_file import check_file_name
from swapcli.state.file_lock import try_lock

RESULTS = "--results"


@contextmanager
def open_results_file(name: str, *, resume: bool, hint_without_file: str) -> Iterator[BinaryIO]:
    """Open a results file to append to it, creating it if it is missing, and lock it.

    `hint_without_file` tells the user how to get results without a file. Raises `InvalidOption` if the file is not a
    regular file, is locked by another process, or has results and `resume` is false. Raises `InputOutputError` if it
    cannot be opened, and `Interrupted` instead of `KeyboardInterrupt`.
    """
    if name == STDIN:
        raise InvalidOption("--results needs a file name", hint=hint_without_file)
    check_file_name(RESULTS, name, (OutputFormat.JSON, OutputFormat.CSV))
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o666)
    except (OSError, ValueError) as error:
        raise write_error(name, error) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise InvalidOption(f"{name} is not a regular file", hint=hint_without_file)
    with open(descriptor, "ab+") as file:
        _lock(file, name)
        if file.seek(0, os.SEEK_END) and not resume:
            raise InvalidOption(f"{name} is not empty", hint="add --resume to continue after its results")
        try:
            yield file
        except KeyboardInterrupt:
            raise Interrupted("interrupted", hint="add --resume to continue after the last result") from None


def _lock(file: BinaryIO, name: str) -> None:
    """Lock the file until this process ends. Raises `InvalidOption` if another process has locked it."""
    if not try_lock(file):
        raise InvalidOption(
            f"another process is writing to {name}", hint="wait until it has finished, then use --resume"
        )
