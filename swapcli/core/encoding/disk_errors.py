"""Errors from reading or writing files. They show whether the disk or the path is at fault, and the remedy."""

from __future__ import annotations

import errno
import os

from swapcli.core.encoding.text import printable
from swapcli.core.errors import InputOutputError, InvalidInput, SwapcliError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PATH_HINTS = {
    errno.ENOENT: "its folder does not exist: create it first",
    errno.ENOTDIR: "part of its path is a file, not a folder",
    errno.EISDIR: "it is a folder: give a file in it",
    errno.EACCES: "choose a folder that you can write to",
    errno.EPERM: "choose a folder that you can write to",
    errno.EROFS: "choose a folder that you can write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}
_READING_HINTS = {
    errno.ENOENT: "check its name and its folder; - is stdin",
    errno.ENOTDIR: "part of its path is a file, not a folder",
    errno.EISDIR: "it is a folder: give a file in it",
    errno.EACCES: "you are not allowed to read it",
    errno.EPERM: "you are not allowed to read it",
    errno.ENAMETOOLONG: "that is not a file name",
    errno.ELOOP: "it is a link to itself",
}
_BELOW_A_DEVICE = os.devnull + os.sep
"""The paths of all files of a user without a home folder begin with this."""
_DISK = _FULL | {errno.EIO, errno.EFBIG}


def is_disk_full(error: OSError) -> bool:
    """Return whether the disk is full, or its free space is not available to the user."""
    return error.errno in _FULL


def write_error(name: str, error: OSError | ValueError) -> SwapcliError:
    """Return the error for a file that cannot be written: `InputOutputError` if the disk is at fault rather than the
    path."""
    message = f"cannot write {name}: {getattr(error, 'strerror', None) or error}"
    hint: str | None
    if isinstance(error, OSError) and error.errno in _DISK:
        hint = "free some space, or write elsewhere" if is_disk_full(error) else None
        return InputOutputError(message, hint=hint, details={"file": name})
    if name.startswith(_BELOW_A_DEVICE):
        hint = "your home folder is unknown: set HOME to an absolute path, or give the file's path"
    else:
        hint = _PATH_HINTS.get(error.errno or 0) if isinstance(error, OSError) else None
    return InvalidInput(message, hint=hint, details={"file": name})


def read_error(name: str, error: OSError | ValueError) -> InvalidInput:
    """Return the error for a file that cannot be read, with a remedy."""
    reason = getattr(error, "strerror", None) or str(error)
    hint = _READING_HINTS.get(error.errno or 0) if isinstance(error, OSError) else None
    return InvalidInput(f"cannot read {printable(name)}: {reason}", hint=hint, details={"file": name})
