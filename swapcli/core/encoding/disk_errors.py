"""Errors of writing a file: whether the disk is at fault, or the path."""

from __future__ import annotations

import errno

from swapcli.core.errors import InputOutputError, InvalidInput, SwapcliError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_PATH_HINTS = {
    errno.ENOENT: "its folder does not exist: create it first",
    errno.ENOTDIR: "a part of its path is a file, not a folder",
    errno.EISDIR: "it is a folder: name a file in it",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}
_DISK = _FULL | {errno.EIO, errno.EFBIG}


def is_disk_full(error: OSError) -> bool:
    """Return whether there is no space left, or none that the user may use."""
    return error.errno in _FULL


def write_error(name: str, error: OSError | ValueError) -> SwapcliError:
    """Return the error of a file that cannot be written: `InputOutputError` if the disk is at fault, not the path."""
    message = f"cannot write {name}: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, OSError) and error.errno in _DISK:
        hint = "free some space, or write elsewhere" if is_disk_full(error) else None
        return InputOutputError(message, hint=hint, details={"file": name})
    hint = _PATH_HINTS.get(error.errno or 0) if isinstance(error, OSError) else None
    return InvalidInput(message, hint=hint, details={"file": name})
