"""Find space for temporary files, even if one disk is full."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

_MEMORY_FOLDER = "/dev/shm"
_PREFIX = "swapcli-stores-"
_MIN_AGE_S = 60.0
"""A younger folder may not be locked yet."""


def memory_folder() -> str:
    """Return a folder in memory, or the folder for temporary files if the system has none in memory."""
    return _MEMORY_FOLDER if os.access(_MEMORY_FOLDER, os.W_OK | os.X_OK) else gettempdir()


def temporary_folder() -> str:
    """Return the folder with the most space for temporary files. Its files may be in memory."""
    folders = [memory_folder()]
    with suppress(OSError):  # all disks are full
        folders.append(gettempdir())
    return max(folders, key=lambda folder: shutil.disk_usage(folder).free)


@contextmanager
def store_folder(parent: str) -> Iterator[Path]:
    """Create a folder in `parent` for the stores of this process and its forks. Remove it when the context ends.

    Folders left by killed processes are removed, too. Raises `OSError`.
    """
    if sys.platform == "win32":
        with TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as name:
            yield Path(name)
        return
    import fcntl

    for left in Path(parent).glob(f"{_PREFIX}*"):
        with suppress(OSError), _opened(left) as folder:
            if time.time() - os.fstat(folder).st_mtime > _MIN_AGE_S:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
    with (
        TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as name,
        _opened(Path(name)) as folder,
    ):
        # The system releases the lock when the last of the processes ends.
        fcntl.flock(folder, fcntl.LOCK_SH)
        yield Path(name)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
