"""A disk that rejects all writes, for this process."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

_WRITABLE_BYTES = 4_096
"""Bytes per file: less than a block of a store, and enough for the output of tests."""


@contextmanager
def full_disk() -> Iterator[None]:
    """Let the system reject this process's writes beyond the first bytes of a file; files in memory are exempt."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_WRITABLE_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
