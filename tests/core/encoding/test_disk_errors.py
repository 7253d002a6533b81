"""A file that cannot be written: the disk is told from the path."""

from __future__ import annotations

import errno
import os

import pytest

from swapcli.core.encoding.disk_errors import is_disk_full, write_error
from swapcli.core.errors import InputOutputError, InvalidInput


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG])
def test_the_disk_is_at_fault(number: int) -> None:
    error = OSError(number, os.strerror(number))
    told = write_error("out.json", error)
    assert isinstance(told, InputOutputError)
    assert os.strerror(number) in told.message
    assert (told.hint is not None) == is_disk_full(error) == (number in (errno.ENOSPC, errno.EDQUOT))


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "Permission denied"), ValueError("embedded null byte")])
def test_the_path_is_at_fault(error: OSError | ValueError) -> None:
    told = write_error("out.json", error)
    assert isinstance(told, InvalidInput)
    assert told.message.startswith("cannot write out.json: ")
    assert (told.hint is not None) == isinstance(error, OSError)
