"""Write complete files, atomically if possible. If the name is a link, write the file that it points to.

An existing file keeps its mode and owner. It is replaced atomically, so that readers see the old or the new content. If
replacing would lose something (a hard link, an owner that only root can set, a file that is a mount point, a file in a
read-only folder), the content is written in place instead.
"""

from __future__ import annotations

import os
from stat import S_IMODE, S_ISREG

from swapcli.core.encoding.disk_errors import write_error
from swapcli.core.errors import InvalidInput

TYPE_CHECKING = False  # importing it from `typing` would take milliseconds
if TYPE_CHECKING:
    from typing import Final

_NEW_FILE: Final = 0o666  # less the umask, as `open` does
OWNER_ONLY: Final = 0o600


def write_file(name: str, content: bytes, *, mode: int = _NEW_FILE, durable: bool = False) -> None:
    """Write a file. If it is `durable`, it has reached the disk when the function returns.

    A new file gets the permissions `mode`, reduced by the umask. Pipes and devices are written directly. A link to a
    missing file creates that file. If writing fails before the file is replaced, its old content stays. Raises
    `OSError`, and `ValueError` for a name that no file can have.
    """
    try:
        existing = os.stat(name)
    except FileNotFoundError:
        existing = None
    if existing is not None and not S_ISREG(existing.st_mode):
        _write_in_place(name, content, mode, durable=False)
        return
    target = os.path.realpath(name)
    if (existing is not None and not _is_replaceable(target, existing)) or not _replace(
        target, content, mode, existing, durable=durable
    ):
        _write_in_place(name, content, mode, durable=durable)


def write_text_file(name: str, text: str, *, mode: int = _NEW_FILE) -> None:
    """Write a text file as `write_file` does, following a link. Raises `InvalidInput` and `InputOutputError`."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise write_error(name, error) from None
    write_user_file(name, content, mode=mode)


def write_user_file(name: str, content: bytes, *, mode: int = _NEW_FILE) -> None:
    """Write a file that the user has named, as `write_file` does. Raises `InvalidInput` and `InputOutputError`."""
    if not name:
        raise InvalidInput("the file name is empty")
    try:
        write_file(name, content, mode=mode)
    except (OSError, ValueError) as error:
        raise write_error(name, error) from None


def _is_replaceable(target: str, existing: os.stat_result) -> bool:
    """Return whether a file has only one name. A link in /proc may have a target without a usable name."""
    try:
        found = os.stat(target)
    except OSError:
        return False
    return existing.st_nlink == 1 and os.path.samestat(found, existing)


def _replace(target: str, content: bytes, mode: int, existing: os.stat_result | None, *, durable: bool) -> bool:
    """Replace a file with a new one that keeps its mode and owner. Return False if the folder or the owner prevents
    that."""
    folder, base = os.path.split(target)
    temporary = os.path.join(folder, f".{base}.{os.urandom(4).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(temporary, flags, mode if existing is None else OWNER_ONLY)
    except OSError:
        return False
    try:
        with open(descriptor, "wb") as stream:
            if existing is not None and not _copy_access(existing, descriptor):
                return False
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        try:
            os.replace(temporary, target)
        except OSError:  # the file is a mount point, or only owners may replace files in the folder
            return False
    finally:
        _remove(temporary)
    if durable:
        _sync_folder(folder)
    return True


def _copy_access(existing: os.stat_result, descriptor: int) -> bool:
    """Give a new file the owner and mode of an existing one. Return False if this user cannot."""
    if not hasattr(os, "fchown"):
        return True
    new = os.fstat(descriptor)
    try:
        if (new.st_uid, new.st_gid) != (existing.st_uid, existing.st_gid):
            os.fchown(descriptor, existing.st_uid, existing.st_gid)
        os.fchmod(descriptor, S_IMODE(existing.st_mode))
    except OSError:
        return False
    return True


def _write_in_place(name: str, content: bytes, mode: int, *, durable: bool) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)
    with open(os.open(name, flags, mode), "wb") as stream:
        stream.write(content)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def _remove(temporary: str) -> None:
    try:
        os.unlink(temporary)
    except OSError:
        return


def _sync_folder(folder: str) -> None:
    """Make the renaming durable on systems that can open folders."""
    try:
        descriptor = os.open(folder or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
