"""Lock an open file for one process."""

from __future__ import annotations

from typing import BinaryIO


def try_lock(file: BinaryIO) -> bool:
    """Lock the file until this process ends, and return whether no other process has it.

    The processes that this one forks do not hold the lock. A system without such locks locks nothing.
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
