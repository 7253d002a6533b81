"""Lock an open file against other processes."""

from __future__ import annotations

from typing import BinaryIO


def try_lock(file: BinaryIO) -> bool:
    """Lock the file until this process ends. Return False if another process has already locked it.

    Processes forked from this one do not hold the lock. On a system without file locks, nothing is locked.
    """
    try:
        import fcntl
    except ModuleNotFoundError:
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
